"""A ripgrep that fails, or no sandbox: never an answer that nothing was found."""

import uuid
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest
from interrupts import Running, interrupted, until
from tool_kit import failure, opened, result

from holdfast import tool
from holdfast.contract.failure import FailureKind
from holdfast.contract.search import FileSearch, FoundLines, LineQuery
from holdfast.execution.search import program

pytestmark = pytest.mark.anyio


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    (made / "a.txt").write_text("hit\n")
    return made


@pytest.fixture
def broken(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A ripgrep to be written."""
    real = program.ripgrep()
    script = workspace / "rg"
    script.write_text(f'#!/bin/sh\nexec {real} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setattr(program, "_candidates", lambda: [str(script)])
    program.ripgrep.cache_clear()
    program.ripgrep()
    yield script
    program.ripgrep.cache_clear()


async def test_what_ripgrep_says_of_its_failure_is_told(workspace: Path, broken: Path) -> None:
    broken.write_text("#!/bin/sh\necho 'rg: out of memory' >&2\nexit 2\n", "utf-8")
    async with opened(workspace, "locked") as hf:
        failed = await failure(hf, "grep", pattern="hit")
        assert failed.kind == FailureKind.EXECUTION_ERROR
        assert failed.message == "The search failed: out of memory"


each_search = pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("grep", {"pattern": "hit"}),
        ("grep", {"pattern": "hit", "glob": "*.txt"}),
        ("glob", {"pattern": "**"}),
    ],
)


@each_search
async def test_an_interrupt_ends_a_search_and_its_program(
    workspace: Path, broken: Path, name: str, arguments: dict[str, object]
) -> None:
    seconds = f"61.{uuid.uuid4().int}"  # nobody else sleeps for so long
    broken.write_text(f"#!/bin/sh\nexec sleep {seconds}\n", "utf-8")

    def runs() -> bool:
        return _runs("sleep", seconds)

    async with opened(workspace, "locked") as hf:
        await interrupted(hf, name, Running(arguments, runs))
        with anyio.fail_after(10):
            await until(lambda: not runs())


def _runs(*argv: str) -> bool:
    wanted = b"".join(f"{word}\0".encode() for word in argv)
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cmdline").read_bytes() == wanted:
                return True
        except OSError:
            continue  # it has ended
    return False


@each_search
async def test_a_search_that_is_killed_is_a_failure(
    workspace: Path, broken: Path, name: str, arguments: dict[str, object]
) -> None:
    broken.write_text("#!/bin/sh\nkill -KILL $$\n", "utf-8")
    async with opened(workspace, "locked") as hf:
        failed = await failure(hf, name, **arguments)
        assert failed.kind == FailureKind.UNAVAILABLE
        assert "did not come to its end" in failed.message


async def test_so_is_one_of_which_only_the_counting_is_killed(
    workspace: Path, broken: Path
) -> None:
    works = broken.read_text("utf-8").partition("\n")[2]
    broken.write_text(f'#!/bin/sh\ncase "$*" in *--files*) kill -KILL $$;; esac\n{works}', "utf-8")
    async with opened(workspace, "locked") as hf:
        assert len((await result(hf, "grep", pattern="hit", path="a.txt"))["matches"]) == 1
        failed = await failure(hf, "grep", pattern="hit", glob="*.txt")
        assert failed.kind == FailureKind.UNAVAILABLE
        assert "did not come to its end" in failed.message


async def test_without_a_sandbox_nothing_is_searched(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> str:
        return "not here"

    async with opened(workspace, "locked") as hf:
        monkeypatch.setattr("holdfast.execution.processes.tiers._missing", missing)
        failed = await failure(hf, "grep", pattern="hit")
        assert failed.kind == FailureKind.UNAVAILABLE
        assert "There is no sandbox to search in: namespaces: not here" in failed.message
        monkeypatch.undo()
        assert len((await result(hf, "grep", pattern="hit"))["matches"]) == 1


@tool(requires={"fs": {"read": ["first/**", "later/**"]}})
async def of_two(search: FileSearch, path: str) -> FoundLines:
    """Search one of two directories."""
    return await search.lines(LineQuery(pattern="hit", path=path))


async def test_a_directory_that_comes_later_is_searched_too(workspace: Path) -> None:
    async with opened(workspace, "bare", tools=[of_two]) as hf:
        for name in ("first", "later"):
            (workspace / name).mkdir()
            (workspace / name / "x").write_text("hit\n")
            told = await result(hf, "of_two", path=name)
            assert [one["path"] for one in told["matches"]] == [f"{name}/x"]
