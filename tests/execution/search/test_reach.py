"""What a search may see: what a gate refuses shows up nowhere, and nothing is left behind."""

import os
from pathlib import Path

import anyio
import pytest
from tool_kit import UNRECORDED, result

from holdfast import tool
from holdfast.app.holdfast import Holdfast
from holdfast.app.settings import Surroundings
from holdfast.contract.search import FileSearch, FoundLines, FoundPaths, LineQuery, PathQuery

pytestmark = pytest.mark.anyio

EMPTY: dict[str, object] = {}
WANTED = f"(x+x+)+y{os.getpid()}"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    for path in ("src/a.py", "src/b.txt", "src/deep/c.py", "other/d.py"):
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_text("hit\n")
    return made


@tool(requires={"fs": {"read": ["src", "src/*.py"]}})
async def narrow_lines(search: FileSearch) -> FoundLines:
    """Search lines where little may be read."""
    return await search.lines(LineQuery(pattern="hit", path="src"))


@tool(requires={"fs": {"read": ["src", "src/*.py"]}})
async def narrow_paths(search: FileSearch) -> FoundPaths:
    """Search paths where little may be read."""
    return await search.paths(PathQuery(pattern="**", path="src"))


@tool(requires={"fs": {"read": ["src", "src/*.py"]}})
async def few_paths(search: FileSearch, pattern: str, limit: int) -> FoundPaths:
    """Search a few paths where little may be read."""
    return await search.paths(PathQuery(pattern=pattern, path="src", kind="file", limit=limit))


@tool(requires={"fs": {"read": ["**"]}}, interrupt_behavior="cancel")
async def endless(search: FileSearch) -> FoundLines:
    """Search for something that takes long."""
    return await search.lines(LineQuery(pattern=WANTED, path="."))


def session(workspace: Path, *tools: object) -> Holdfast:
    home = workspace.parent / "home"
    return Holdfast(
        tools=tools,
        profile="bare",
        workspace=workspace,
        settings=UNRECORDED,
        surroundings=Surroundings(data_home=home / "data", state_home=home / "state"),
    )


async def test_what_the_gate_refuses_is_counted_and_not_shown(workspace: Path) -> None:
    """The kernel is told `src`, and the gate says which files of it."""
    async with session(workspace, narrow_lines, narrow_paths) as hf:
        lines = await result(hf, "narrow_lines")
        assert [one["path"] for one in lines["matches"]] == ["src/a.py"]
        assert lines["left_out"] == {"refused": 2}
        paths = await result(hf, "narrow_paths")
        assert [one["path"] for one in paths["entries"]] == ["src/a.py"]


async def test_what_is_refused_fills_no_limit(workspace: Path) -> None:
    for number in range(200):
        (workspace / "src" / f"{number}.key").touch()
    for name in "xyz":
        (workspace / "src" / f"{name}.py").touch()
    async with session(workspace, few_paths) as hf:
        found = await result(hf, "few_paths", pattern="**", limit=4)
    assert [one["path"] for one in found["entries"]] == [f"src/{name}.py" for name in "axyz"]


async def test_a_refused_directory_in_a_pattern_is_counted(workspace: Path) -> None:
    assert (workspace / "src" / "deep").is_dir()
    async with session(workspace, few_paths) as hf:
        found = await result(hf, "few_paths", pattern="deep/**", limit=4)
        assert (found["entries"], found["left_out"]) == ([], {"refused": 1})


def searching() -> list[str]:
    """The numbers of ripgrep's processes that search for what only this test searches for."""
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and WANTED.encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except OSError:
            continue
    return found


async def test_an_abandoned_search_leaves_no_process(workspace: Path) -> None:
    for number in range(300):
        (workspace / f"{number}").write_text(("x" * 400 + "\n") * 2000)
    async with session(workspace, endless) as hf:
        async with anyio.create_task_group() as group:
            group.start_soon(hf.settle, "endless", EMPTY)
            with anyio.fail_after(15):
                while not searching():
                    await anyio.sleep(0.001)
            group.cancel_scope.cancel()
        with anyio.fail_after(15):
            while searching():
                await anyio.sleep(0.01)
