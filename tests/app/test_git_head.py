"""Which branch a workspace stands on, without a process."""

import os
import subprocess
from pathlib import Path

import pytest

from holdfast.app.git_head import branch_in


def _git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=ada", "-c", "user.email=ada@example.com")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    _git(folder, "init", "-b", "feature/tea")
    _git(folder, "commit", "--allow-empty", "-m", "begin")
    return folder


def test_the_branch_of_a_repository_is_told_from_anywhere_in_it(repository: Path) -> None:
    below = repository / "src" / "deep"
    below.mkdir(parents=True)
    assert branch_in(repository) == branch_in(below) == "feature/tea"


def test_a_worktree_has_a_branch_of_its_own(repository: Path, tmp_path: Path) -> None:
    _git(repository, "worktree", "add", "-b", "other", str(tmp_path / "beside"))
    assert branch_in(tmp_path / "beside") == "other"
    assert branch_in(repository) == "feature/tea"


def test_who_stands_on_no_branch_has_none(repository: Path, tmp_path: Path) -> None:
    assert branch_in(tmp_path) is None
    _git(repository, "checkout", "--detach")
    assert branch_in(repository) is None


@pytest.mark.parametrize(
    "head",
    ["", "nonsense", "ref: refs/heads/", "ref: refs/heads/a b", "ref: refs/heads/" + "x" * 999],
)
def test_what_is_no_name_of_a_branch_is_none(tmp_path: Path, head: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(head, "utf-8")
    assert branch_in(tmp_path) is None


def test_files_that_lead_nowhere_are_none(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / ".git").write_text("gitdir: ../nowhere\n", "utf-8")
    assert branch_in(tmp_path / "one") is None
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / ".git").write_text("nonsense", "utf-8")
    assert branch_in(tmp_path / "two") is None
    (tmp_path / "three" / ".git").mkdir(parents=True)
    os.mkfifo(tmp_path / "three" / ".git" / "HEAD")
    assert branch_in(tmp_path / "three") is None
