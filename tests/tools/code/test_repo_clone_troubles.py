"""`repo_clone` where it goes wrong, or only just right."""

from collections.abc import Generator
from importlib import import_module
from pathlib import Path

import pytest
from git_server import GitHost, git, git_host
from interrupts import Running, interrupted
from tool_kit import failure, result
from tools.code.test_repo_clone import session

from holdfast.contract.failure import FailureKind
from holdfast.contract.gates import Refusal
from holdfast.contract.runtime import Progress
from holdfast.contract.shell import CommandReport, KilledBy, Printed

pytestmark = [pytest.mark.anyio, pytest.mark.system("git")]
CLONE = import_module("holdfast.tools.code.repo_clone")  # the tool bears its name


@pytest.fixture
def host(tmp_path: Path) -> Generator[GitHost]:
    with git_host(tmp_path / "served") as found:
        found.repository()
        yield found


async def test_a_directory_that_looks_like_an_option_is_a_directory(
    workspace: Path, host: GitHost
) -> None:
    async with session(workspace) as hf:
        url = host.url("project.git")
        cloned = await result(hf, "repo_clone", url=url, directory="--bare")
    assert cloned["path"] == "./--bare"
    assert (workspace / "--bare" / "file.txt").read_text() == "two"


async def test_an_empty_repository_has_neither_branch_nor_commit(
    workspace: Path, host: GitHost
) -> None:
    git(host.folder, "init", "-q", "--bare", "empty.git")
    async with session(workspace) as hf:
        cloned = await result(hf, "repo_clone", url=host.url("empty.git"))
    assert (cloned["path"], cloned["branch"], cloned["commit"]) == ("empty", None, None)
    assert (workspace / "empty" / ".git").is_dir()


@pytest.mark.parametrize("path", ["", "..", ".git", "-x.git", "a%20b"])
async def test_a_url_that_names_nothing_needs_a_directory(
    workspace: Path, host: GitHost, path: str
) -> None:
    async with session(workspace) as hf:
        failed = await failure(hf, "repo_clone", url=host.url(path))
    assert (failed.kind, failed.field) == (FailureKind.INVALID_ARGS, "directory")
    assert host.asked == []


async def test_a_repository_that_is_damaged_is_told_with_the_words_of_git(
    workspace: Path, host: GitHost
) -> None:
    host.repository("torn.git")
    for kept in (host.folder / "torn.git" / "objects").rglob("*"):
        if kept.is_file():
            kept.unlink()
    async with session(workspace) as hf:
        failed = await failure(hf, "repo_clone", url=host.url("torn.git"))
    assert failed.kind == FailureKind.EXECUTION_ERROR
    assert failed.message.startswith("git could not clone it: ")
    assert "fatal: " in failed.message
    assert not list(workspace.iterdir())


async def test_what_takes_too_long_is_ended_and_leaves_nothing(
    workspace: Path, host: GitHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CLONE, "SECONDS", 0.5)
    host.holding.set()
    async with session(workspace) as hf:
        failed = await failure(hf, "repo_clone", url=host.url("project.git"))
    assert failed.kind == FailureKind.TIMEOUT
    assert "longer than 0.5 seconds; ask for less with depth" in failed.message
    assert not list(workspace.iterdir())


async def test_a_long_clone_says_that_it_goes_on(workspace: Path, host: GitHost) -> None:
    host.holding.set()
    heard: list[Progress] = []

    def told_twice() -> bool:
        return heard[-1].message == "Cloning for 2 s" if heard else False

    url = host.url("project.git")
    async with session(workspace, heard) as hf:
        await interrupted(hf, "repo_clone", Running({"url": url}, told_twice))
    assert [one.message for one in heard[:3]] == [
        f"Cloning {url}",
        "Cloning for 1 s",
        "Cloning for 2 s",
    ]


def report(
    killed_by: KilledBy | None = None,
    unstarted: str | None = None,
    refusals: tuple[Refusal, ...] = (),
) -> CommandReport:
    said = b"fatal: repository 'x' not found\n"
    return CommandReport(
        exit_code=None if killed_by or unstarted else 128,
        killed_by=killed_by,
        unstarted=unstarted,
        stdout=Printed(b"", b"", 0),
        stderr=Printed(said, b"", len(said)),
        refusals=refusals,
        confinement="namespaces",
    )


REFUSED = Refusal(target="x.example", reason="no such host here.")


@pytest.mark.parametrize(
    ("ended", "kind", "words"),
    [
        (report(killed_by="lost"), FailureKind.UNAVAILABLE, "The sandbox went away"),
        (report(killed_by="abort"), FailureKind.EXECUTION_ERROR, "was cancelled"),
        (report(killed_by="user"), FailureKind.EXECUTION_ERROR, "was cancelled"),
        (report(unstarted="no git"), FailureKind.UNAVAILABLE, "could not be started here: no git."),
        (report(refusals=(REFUSED,)), FailureKind.REJECTED, "no such host here."),
        (report(), FailureKind.NOT_FOUND, "There is no repository at "),
    ],
)
async def test_why_it_ended_counts_before_what_git_said(
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    ended: CommandReport,
    kind: FailureKind,
    words: str,
) -> None:
    async def runs(*_: object) -> CommandReport:
        return ended

    monkeypatch.setattr(CLONE, "_run", runs)
    async with session(workspace) as hf:
        failed = await failure(hf, "repo_clone", url="http://127.0.0.1:9/project.git")
    assert (failed.kind, words in failed.message) == (kind, True), failed
