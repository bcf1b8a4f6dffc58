"""What doctor says of the programs and packages that built-in tools use."""

import shutil

import pytest
from command import Cli

from holdfast.contract.errors import Unavailable
from holdfast.surfaces.cli import builtin_checks
from holdfast.surfaces.cli.builtin_checks import check_extra, check_git, check_ripgrep


def test_doctor_looks_at_them(cli: Cli) -> None:
    said = cli("doctor").out
    for name in (
        "grep and glob",
        "repo_clone",
        "holdfast[web]",
        "holdfast[images]",
        "holdfast[vectors]",
    ):
        assert f" {name}: " in said


def test_without_ripgrep_it_fails_and_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise Unavailable("Searching needs ripgrep: run `pip install ripgrep`.")

    assert check_ripgrep().status == "OK"
    monkeypatch.setattr(builtin_checks, "ripgrep", missing)
    found = check_ripgrep()
    assert (found.status, found.detail) == ("FAIL", "Searching needs ripgrep")
    assert found.next_step == "run `pip install ripgrep`."


def test_without_git_it_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert shutil.which("git") is None
    found = check_git()
    assert (found.status, found.next_step) == ("WARN", "install the package git")


def test_an_extra_that_is_missing_is_named_with_what_it_brings() -> None:
    assert check_extra("web", ("json",), "nothing").status == "OK"
    found = check_extra("web", ("json", "no_such_module_at_all"), "pages are plain")
    assert (found.status, found.detail) == ("WARN", "not installed: pages are plain")
    assert found.next_step == "run: pip install 'holdfast[web]'"
