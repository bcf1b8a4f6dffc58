"""`lsp` and the files of a workspace: shown as they are, closed when they are gone, bounded."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from tool_kit import failure, result
from tools.code.lsp_kit import hover, noted, with_server

from holdfast import Runtime, tool
from holdfast.app.holdfast import Holdfast
from holdfast.contract.errors import Cancelled
from holdfast.contract.failure import FailureKind
from holdfast.contract.language_servers import LanguageServers
from holdfast.execution.language_servers.call_files import LARGEST_DOCUMENT
from holdfast.runtime.abort import Abort

pytestmark = pytest.mark.anyio


async def test_a_document_that_was_deleted_is_closed_and_opened_anew(workspace: Path) -> None:
    (workspace / "b.odd").write_text("b\n", encoding="utf-8")
    async with with_server(workspace, "plain") as hf:
        await hover(hf, path="b.odd")
        (workspace / "b.odd").unlink()
        await hover(hf)
        await noted(hf, f"closed {(workspace / 'b.odd').as_uri()}")
        (workspace / "b.odd").write_text("other\n", encoding="utf-8")
        assert "version 1" in await hover(hf, path="b.odd")


async def test_one_that_cannot_be_read_any_more_stays_as_it_was_shown(workspace: Path) -> None:
    (workspace / "b.odd").write_text("b\n", encoding="utf-8")
    async with with_server(workspace, "plain") as hf:
        await hover(hf, path="b.odd")
        (workspace / "b.odd").unlink()
        (workspace / "b.odd").mkdir()
        assert "version 1" in await hover(hf)
        (workspace / "b.odd").rmdir()
        (workspace / "b.odd").write_text("other\n", encoding="utf-8")
        assert "version 2" in await hover(hf, path="b.odd")


async def test_a_file_that_is_too_large_is_shown_to_no_server(workspace: Path) -> None:
    async with with_server(workspace, "plain") as hf:
        (workspace / "a.odd").write_bytes(b"x" * (LARGEST_DOCUMENT + 1))
        refused = await failure(hf, "lsp", action="hover", path="a.odd", line=1, column=1)
        assert refused.kind == FailureKind.EXECUTION_ERROR
        assert "grep" in refused.message
        assert hf.commands.all() == ()
        (workspace / "a.odd").write_bytes(b"x" * LARGEST_DOCUMENT)
        assert "0:0" in await hover(hf)


async def test_a_place_in_a_file_that_is_too_large_has_no_text(workspace: Path) -> None:
    large, small = workspace / "large.odd", workspace / "small.odd"
    large.write_bytes(b"x" * (LARGEST_DOCUMENT + 1))
    small.write_text("small\n", encoding="utf-8")
    async with with_server(workspace, "plain", targets=(large, small)) as hf:
        found = await result(hf, "lsp", action="references", path="a.odd", line=1, column=1)
        shown = [(one["path"], one["column"], one.get("text")) for one in found["results"]]
        assert shown == [("large.odd", 2, None), ("small.odd", 2, "small")]


async def test_so_many_files_are_opened_to_show_their_lines_and_no_more(workspace: Path) -> None:
    files = [workspace / f"{number}.odd" for number in range(105)]
    for file in files:
        file.write_text(f"{file.stem}!\n", encoding="utf-8")
    async with with_server(workspace, "plain", targets=(*files, files[0])) as hf:
        found = await result(hf, "lsp", action="references", path="a.odd", line=1, column=1)
        texts = [one.get("text") for one in found["results"]]
        # The one that was asked about is one of the hundred.
        assert texts == [f"{number}!" if number < 99 else None for number in range(105)]


async def test_a_server_that_is_to_be_asked_what_is_wrong_is_asked(workspace: Path) -> None:
    async with with_server(workspace, "pull") as hf:
        for text in ("first", "second"):
            (workspace / "a.odd").write_text(f"{text}\n", encoding="utf-8")
            found = await result(hf, "lsp", action="diagnostics", path="a.odd")
            assert [one["message"] for one in found["results"]] == [f"asked: {text}"]


async def test_one_that_still_reads_the_workspace_is_asked_for_names_again(workspace: Path) -> None:
    async with with_server(workspace, "plain", targets=(workspace / "a.odd",)) as hf:
        found = await result(hf, "lsp", action="symbols", query="found")
        assert [(one["name"], one["path"]) for one in found["results"]] == [("found", "a.odd")]


async def test_a_file_outside_of_the_workspace_is_named_as_it_lies(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside").resolve() / "c.odd"
    outside.write_text("outside\n", encoding="utf-8")

    @tool(requires={"fs": {"read": ["**", f"{outside.parent}/**"]}, "shell": [{"cmd": "*"}]})
    def wrong(rt: Runtime, path: str) -> list[str]:
        """What is wrong with a file."""
        found = rt.port(LanguageServers).diagnostics(path)
        return [f"{one.spot.path}: {one.message}" for one in found.items]

    async with with_server(workspace, "pull", tools=[wrong]) as hf:
        envelope = await hf.settle("wrong", {"path": str(outside)})
        assert envelope.failure is None, envelope.failure
        assert envelope.result_json == f'["{outside}: asked: outside"]'.encode()


async def test_without_a_workspace_no_server_is_asked() -> None:
    @tool
    def find(rt: Runtime) -> int:
        """Look for a name."""
        return rt.port(LanguageServers).workspace_symbols("x", None).total

    async with Holdfast(tools=[find]) as hf:
        refused = await failure(hf, "find")
        assert refused.kind == FailureKind.UNAVAILABLE
        assert "no workspace" in refused.message
        assert hf.commands.all() == ()


async def test_a_call_that_is_not_wanted_any_more_looks_at_nothing(workspace: Path) -> None:
    abort, begun, raised = Abort(), threading.Event(), list[Cancelled]()

    @tool(requires={"fs": {"read": ["**"]}, "shell": [{"cmd": "*"}]})
    def find(rt: Runtime) -> int:
        """Look for a name, too late."""
        begun.set()
        while not rt.abort.aborted:
            time.sleep(0.01)
        try:
            return rt.port(LanguageServers).workspace_symbols("x", None).total
        except Cancelled as problem:
            raised.append(problem)
            raise

    async with with_server(workspace, "plain", tools=[find]) as hf:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: hf.settle("find", {}, abort=abort))
            await until(begun.is_set)
            abort.set()
        await until(lambda: bool(raised))
        assert hf.commands.all() == ()


async def until(true: Callable[[], bool]) -> None:
    with anyio.fail_after(5):
        while not true():  # noqa: ASYNC110 - a thread goes on
            await anyio.sleep(0.01)
