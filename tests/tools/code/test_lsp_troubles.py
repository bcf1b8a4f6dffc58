"""`lsp` with servers that misbehave: they crash, keep silent, print rubbish, count otherwise."""

from pathlib import Path

import anyio
import pytest
from tool_kit import UNRECORDED, answer, failure, opened, result
from tools.code.lsp_kit import hover, noted, with_server

from holdfast.app.settings import LanguageServerSettings, Settings, StoreSettings
from holdfast.contract.failure import FailureKind
from holdfast.execution.language_servers import server as servers
from holdfast.runtime.abort import Abort

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("mode", "units"),
    [("plain", [0, 1, 3, 4, 6]), ("utf8", [0, 1, 5, 6, 10]), ("utf32", [*range(5)])],
)
async def test_columns_are_sent_as_the_server_counts(
    workspace: Path, mode: str, units: list[int]
) -> None:
    async with with_server(workspace, mode) as hf:
        said = [await hover(hf, column) for column in range(1, 6)]
        assert [text.split()[0] for text in said] == [f"0:{number}" for number in units]


async def test_a_server_that_counts_in_what_nobody_offered_is_not_believed(workspace: Path) -> None:
    async with with_server(workspace, "odd") as hf:
        refused = await failure(hf, "lsp", action="hover", path="a.odd", line=1, column=1)
        assert refused.kind == FailureKind.UNAVAILABLE
        assert "utf-7" in refused.message


async def test_the_current_content_is_shown_with_each_question(workspace: Path) -> None:
    async with with_server(workspace, "plain") as hf:
        assert "version 1" in await hover(hf)
        assert "version 1" in await hover(hf)
        (workspace / "a.odd").write_text("changed\n", encoding="utf-8")
        assert "version 2" in await hover(hf)


async def test_rubbish_and_a_message_far_too_long_are_passed_over(workspace: Path) -> None:
    async with with_server(workspace, "garbage") as hf:
        assert "0:0" in await hover(hf)


async def test_a_server_that_crashed_is_started_again_and_that_is_said(workspace: Path) -> None:
    async with with_server(workspace, "crash") as hf:
        crashed = await failure(hf, "lsp", action="hover", path="a.odd", line=1, column=1)
        assert (crashed.kind, crashed.retryable) == (FailureKind.UNAVAILABLE, True)
        assert "exit status 3" in crashed.message
        assert "it is all over" in crashed.message
        envelope = await answer(hf, "lsp", action="references", path="a.odd", line=1, column=1)
        assert envelope.failure is None
        (said,) = envelope.warnings
        assert "exit status 3" in said
        assert "started again" in said
        assert (
            await answer(hf, "lsp", action="references", path="a.odd", line=1, column=1)
        ).warnings == ()


async def test_one_that_cannot_begin_says_why(workspace: Path) -> None:
    async with with_server(workspace, "stillborn") as hf:
        refused = await failure(hf, "lsp", action="hover", path="a.odd", line=1, column=1)
        assert refused.kind == FailureKind.UNAVAILABLE
        assert "cannot read its configuration" in refused.message


async def test_one_that_is_not_there_is_told_with_what_to_do(workspace: Path) -> None:
    async with with_server(workspace, "", "no-such-language-server") as hf:
        refused = await failure(hf, "lsp", action="hover", path="a.odd", line=1, column=1)
        assert refused.kind == FailureKind.UNAVAILABLE
        assert "no-such-language-server" in refused.message
        assert "lsp.odd.command" in refused.message


async def test_a_silent_one_meets_the_deadline_and_answers_the_next_question(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "ANSWER_SECONDS", 0.3)
    async with with_server(workspace, "silent") as hf:
        late = await failure(hf, "lsp", action="hover", path="a.odd", line=1, column=1)
        assert late.kind == FailureKind.TIMEOUT, late.message
        monkeypatch.setattr(servers, "ANSWER_SECONDS", 20.0)
        assert (await result(hf, "lsp", action="references", path="a.odd", line=1, column=1))[
            "count"
        ]
        await noted(hf, "cancelled")


async def test_an_interrupted_question_is_taken_back_and_the_server_goes_on(
    workspace: Path,
) -> None:
    async with with_server(workspace, "silent") as hf, anyio.create_task_group() as tasks:
        abort = Abort()

        async def ask() -> None:
            place = {"action": "hover", "path": "a.odd", "line": 1, "column": 1}
            envelope = await hf.settle("lsp", place, abort=abort)
            assert envelope.failure is not None

        tasks.start_soon(ask)
        await noted(hf, "asked")
        with anyio.fail_after(5):
            abort.set()
            await noted(hf, "cancelled")
        envelope = await answer(hf, "lsp", action="references", path="a.odd", line=1, column=1)
        assert (envelope.failure, envelope.warnings) == (None, ())


@pytest.mark.parametrize("mode", ["push", "late"])
async def test_what_a_server_tells_unasked_counts_for_the_version_it_is_about(
    workspace: Path, mode: str
) -> None:
    async with with_server(workspace, mode) as hf:
        for text in ("first", "second"):
            (workspace / "a.odd").write_text(f"{text}\n", encoding="utf-8")
            found = await result(hf, "lsp", action="diagnostics", path="a.odd")
            assert [one["message"] for one in found["results"]] == [f"seen: {text}"]


async def test_many_results_are_bounded_and_counted(workspace: Path) -> None:
    async with with_server(workspace, "many") as hf:
        found = await result(hf, "lsp", action="references", path="a.odd", line=1, column=1)
        assert (found["count"], len(found["results"]), found["truncated"]) == (5_000, 200, True)


async def test_a_place_that_may_not_be_read_has_no_text(workspace: Path) -> None:
    async with with_server(workspace, "plain") as hf:
        found = await result(hf, "lsp", action="definition", path="a.odd", line=1, column=1)
        (one,) = found["results"]
        assert (one["path"], one["line"], one["column"]) == ("/etc/shadow", 4, 5)
        assert "text" not in one


async def test_what_the_server_refuses_is_told(workspace: Path) -> None:
    async with with_server(workspace, "plain") as hf:
        refused = await failure(hf, "lsp", action="symbols", path="a.odd")
        assert refused.kind == FailureKind.EXECUTION_ERROR
        assert "no symbols today" in refused.message


async def test_one_server_serves_all_calls_and_ends_with_the_session(workspace: Path) -> None:
    async with with_server(workspace, "plain") as hf:
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(hover, hf)
        servers_now = [one for one in hf.commands.all() if one.state == "running"]
        assert len(servers_now) == 1
        assert "server.py" in servers_now[0].command
    assert not _processes_of(workspace)


async def test_a_person_may_end_it_and_the_next_call_begins_another(workspace: Path) -> None:
    async with with_server(workspace, "plain") as hf:
        before = await hover(hf)
        (running,) = hf.commands.all()
        assert hf.commands.terminate(running.id)
        with anyio.fail_after(10):
            while hf.commands.all()[0].state == "running":  # noqa: ASYNC110 - a process ends
                await anyio.sleep(0.01)
        after = await hover(hf)
        assert before.split("begun")[1] != after.split("begun")[1]


async def test_without_any_server_the_tool_says_what_to_install(workspace: Path) -> None:
    none = {"python": LanguageServerSettings(command=())}
    settings = Settings(store=StoreSettings(kind="none"), lsp=none)
    (workspace / "a.py").write_text("x = 1\n", encoding="utf-8")
    async with opened(workspace, "code", settings=settings) as hf:
        refused = await failure(hf, "lsp", action="diagnostics", path="a.py")
        assert refused.kind == FailureKind.UNAVAILABLE
        assert "pip install basedpyright" in refused.message


async def test_a_file_no_server_knows_is_told_with_those_that_are_known(workspace: Path) -> None:
    (workspace / "a.zig").write_text("x\n", encoding="utf-8")
    async with opened(workspace, "code", settings=UNRECORDED) as hf:
        refused = await failure(hf, "lsp", action="diagnostics", path="a.zig")
        assert refused.kind == FailureKind.UNAVAILABLE
        assert "python (.py .pyi)" in refused.message


def _processes_of(workspace: Path) -> list[str]:
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if str(workspace / "server.py").encode() in line:
            found.append(process.name)
    return found
