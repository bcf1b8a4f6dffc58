"""`repo_clone`: from a real git server on loopback, confined, and nothing left where it fails."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from git_server import GitHost, git, git_host
from interrupts import Running, ends_at_once
from tool_kit import answer, failure, opened, result

from holdfast import Rule, tool
from holdfast.app.holdfast import Holdfast
from holdfast.contract.call import Ask
from holdfast.contract.failure import FailureKind
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Action
from holdfast.contract.runtime import Progress

pytestmark = [pytest.mark.anyio, pytest.mark.system("git")]


@pytest.fixture
def host(tmp_path: Path) -> Generator[GitHost]:
    with git_host(tmp_path / "served") as found:
        found.repository()
        yield found


@tool(requires={"net": {"hosts": ["127.0.0.1"]}})
def reaches_loopback() -> None:
    """Loopback is reached only where a tool names it."""


async def yes(_ask: Ask) -> Answer:
    return Answer(allowed=True, by="test")


@asynccontextmanager
async def session(
    workspace: Path, heard: list[Progress] | None = None, *, loopback: bool = True
) -> AsyncGenerator[Holdfast]:
    tools = (reaches_loopback,) if loopback else ()
    sink = (heard if heard is not None else []).append
    async with opened(workspace, "code", tools=tools, approver=yes, progress=sink) as hf:
        yield hf


@pytest.mark.req("SPEC-EXT-01")
async def test_a_repository_is_put_into_the_workspace(workspace: Path, host: GitHost) -> None:
    heard: list[Progress] = []
    async with session(workspace, heard) as hf:
        cloned = await result(hf, "repo_clone", url=host.url("project.git"))
        commit = git(host.folder / "work-project.git", "rev-parse", "HEAD")
        assert cloned == {
            "path": "project",
            "url": host.url("project.git"),
            "branch": "main",
            "commit": commit,
        }
        assert (workspace / "project" / "file.txt").read_text() == "two"
        assert git(workspace / "project", "rev-list", "--count", "HEAD") == "2"
        assert heard[0].message == f"Cloning {host.url('project.git')}"


async def test_branch_depth_and_directory_are_the_callers(workspace: Path, host: GitHost) -> None:
    async with session(workspace) as hf:
        cloned = await result(
            hf,
            "repo_clone",
            url=host.url("project.git"),
            directory="deep/copy",
            branch="side",
            depth=1,
        )
        assert (cloned["path"], cloned["branch"]) == ("deep/copy", "side")
        assert (workspace / "deep" / "copy" / "file.txt").read_text() == "one"


async def test_the_directory_that_the_url_names_is_judged_as_a_named_one(
    workspace: Path, host: GitHost
) -> None:
    host.repository("vault.git")
    asked: list[list[tuple[str | None, str]]] = []

    async def heard(ask: Ask) -> Answer:
        asked.append([(use.capability, use.target) for use in ask.uses])
        return Answer(allowed=True, by="test")

    def about(pattern: str, action: Action) -> Rule:
        return Rule(
            permission="fs.write", pattern=pattern, action=action, scope="session", source="a test"
        )

    made = opened(
        workspace,
        "code",
        tools=[reaches_loopback],
        approver=heard,
        rules=[about("vault", "deny"), about("project", "ask")],
    )
    async with made as hf:
        for sent in (
            {"url": host.url("project.git"), "directory": "vault"},
            {"url": host.url("vault.git")},
            {"url": host.url("vault.git") + "/"},
            {"url": host.url("vault")},
        ):
            refused = await failure(hf, "repo_clone", **sent)
            assert refused.kind is FailureKind.REJECTED, sent
            assert "'vault'" in refused.message
        assert list(workspace.iterdir()) == []
        assert asked == []
        await result(hf, "repo_clone", url=host.url("project.git"))
        assert ("fs.write", "project") in asked[0]


async def test_to_allow_its_host_is_enough(workspace: Path, host: GitHost) -> None:
    """Nobody is there to be asked: without the rule it is refused."""

    def about(pattern: str) -> Rule:
        return Rule(
            permission="repo_clone",
            pattern=pattern,
            action="allow",
            scope="project",
            source="a test",
        )

    for pattern, clones in (("127.0.0.1", True), ("other.example", False)):
        made = opened(workspace, "code", tools=[reaches_loopback], rules=[about(pattern)])
        async with made as hf:
            settled = await answer(hf, "repo_clone", url=host.url("project.git"), directory=pattern)
        assert settled.ok is clones, settled
        assert (workspace / pattern).exists() is clones


async def test_nothing_that_the_repository_brings_is_run(workspace: Path, host: GitHost) -> None:
    work = host.repository("evil.git")
    (work / ".gitattributes").write_text("*.txt filter=evil\n")
    (work / ".gitmodules").write_text(
        f'[submodule "x"]\n\tpath = x\n\turl = {host.url("project.git")}\n'
    )
    (work / "hooks").mkdir()
    (work / "hooks" / "post-checkout").write_text("#!/bin/sh\ntouch ran\n")
    (work / "hooks" / "post-checkout").chmod(0o755)
    git(work, "update-index", "--add", "--cacheinfo", f"160000,{git(work, 'rev-parse', 'HEAD')},x")
    git(work, "add", ".gitattributes", ".gitmodules", "hooks")
    git(work, "commit", "-q", "-m", "evil")
    git(work, "push", "-q", str(host.folder / "evil.git"), "main")
    async with session(workspace) as hf:
        await result(hf, "repo_clone", url=host.url("evil.git"))
        clone = workspace / "evil"
        assert (clone / "hooks" / "post-checkout").exists()
        assert not list(workspace.rglob("ran"))
        assert not list((clone / "x").iterdir())
        assert not (clone / ".git" / "hooks").exists()
        assert not any("project.git" in path for path in host.asked)


@pytest.mark.parametrize(
    ("arguments", "kind", "field"),
    [
        ({"url": "nothing.git"}, FailureKind.NOT_FOUND, "url"),
        ({"url": "locked.git"}, FailureKind.NOT_FOUND, "url"),
        ({"url": "moved.git"}, FailureKind.INVALID_ARGS, "url"),
        ({"url": "project.git", "branch": "nowhere"}, FailureKind.INVALID_ARGS, "branch"),
        ({"url": "project.git", "directory": "taken"}, FailureKind.INVALID_ARGS, "directory"),
        ({"url": "project.git", "branch": "--upload-pack=x"}, FailureKind.INVALID_ARGS, "branch"),
    ],
)
async def test_what_fails_says_why_and_leaves_nothing(
    workspace: Path, host: GitHost, arguments: dict[str, str], kind: FailureKind, field: str
) -> None:
    (workspace / "taken").mkdir()
    sent = {**arguments, "url": host.url(arguments["url"])}
    async with session(workspace) as hf:
        failed = await failure(hf, "repo_clone", **sent)
        assert (failed.kind, failed.field) == (kind, field), failed
        assert [path.name for path in workspace.iterdir()] == ["taken"]


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("file:///etc", FailureKind.INVALID_ARGS),
        ("../elsewhere", FailureKind.INVALID_ARGS),
        ("ssh://git@example.org/x.git", FailureKind.INVALID_ARGS),
        ("git@example.org:x.git", FailureKind.INVALID_ARGS),
        ("ext::sh -c true", FailureKind.INVALID_ARGS),
        ("http://me:secret@example.org/x.git", FailureKind.INVALID_ARGS),
        ("http:///x.git", FailureKind.REJECTED),
    ],
)
async def test_only_plain_web_addresses_are_cloned(
    workspace: Path, url: str, kind: FailureKind
) -> None:
    async with session(workspace) as hf:
        assert (await failure(hf, "repo_clone", url=url)).kind == kind
        assert not list(workspace.iterdir())


async def test_a_host_out_of_reach_is_refused(workspace: Path, host: GitHost) -> None:
    async with session(workspace, loopback=False) as hf:
        failed = await failure(hf, "repo_clone", url=host.url("project.git"))
        assert failed.kind == FailureKind.REJECTED, failed
        assert host.asked == []
        assert not list(workspace.iterdir())


async def test_an_interrupt_ends_it_and_leaves_nothing(workspace: Path, host: GitHost) -> None:
    host.holding.set()

    def fetches() -> bool:
        return (workspace / "project").exists() and len(host.asked) > 1

    async with session(workspace) as hf:

        async def begun(_turn: int) -> Running:
            assert not list(workspace.iterdir())
            host.asked.clear()
            return Running({"url": host.url("project.git")}, fetches)

        await ends_at_once(hf, "repo_clone", begun)
        assert not list(workspace.iterdir())


@pytest.mark.system("curl")
async def test_any_host_is_for_this_tool_alone(workspace: Path) -> None:
    async with session(workspace) as hf:
        refused = await failure(hf, "bash", command="curl -fsS --max-time 5 http://example.org/")
        assert refused.kind == FailureKind.REJECTED
        assert "example.org" in refused.message
