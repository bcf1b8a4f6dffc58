"""`lsp` with servers that end, or cannot begin, just when they are needed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from tool_kit import answer, failure
from tools.code.lsp_kit import hover, noted, with_server

from holdfast.app.holdfast import Holdfast
from holdfast.contract.errors import OperationTimedOut
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.programs import Listener
from holdfast.contract.shell import KilledBy
from holdfast.execution.language_servers import server, session_servers
from holdfast.execution.processes.command import Command
from holdfast.execution.processes.piped import Piped, PipedProcesses
from holdfast.execution.processes.sandbox import Sandbox
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.processes.wardens import Warden
from holdfast.runtime.abort import Abort

pytestmark = pytest.mark.anyio


async def refused(hf: Holdfast) -> Failure:
    return await failure(hf, "lsp", action="hover", path="a.odd", line=1, column=1)


def heard_at_the_end(
    printed: Callable[[bytes], None], over: Callable[[str, KilledBy | None], None]
) -> Listener:
    """What a process prints is heard in the same moment as that it has ended."""
    kept: list[bytes] = []

    def ended(how: str, by: KilledBy | None) -> None:
        printed(b"".join(kept))
        over(how, by)

    return Listener(kept.append, ended)


async def test_one_that_ends_as_it_says_hello_is_started_again(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_servers, "Listener", heard_at_the_end)
    async with with_server(workspace, "brief") as hf:
        for count in (1, 2):
            ended = await refused(hf)
            assert (ended.kind, ended.retryable) == (FailureKind.UNAVAILABLE, True)
            assert "exit status 4" in ended.message
            assert len(hf.commands.all()) == count


async def test_one_whose_greeting_is_interrupted_is_ended(workspace: Path) -> None:
    async with with_server(workspace, "mute") as hf:
        abort = Abort()
        async with anyio.create_task_group() as tasks:
            place = {"action": "hover", "path": "a.odd", "line": 1, "column": 1}
            tasks.start_soon(lambda: hf.settle("lsp", place, abort=abort))
            await noted(hf, "greeted")
            assert [one.state for one in hf.commands.all()] == ["running"]
            abort.set()
        with anyio.fail_after(5):
            while hf.commands.all()[0].state == "running":  # noqa: ASYNC110 - a process ends
                await anyio.sleep(0.01)


async def test_where_there_is_no_sandbox_no_server_is_started(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none(_self: Sandbox) -> Warden:
        raise SandboxUnavailable("there is no room")

    async with with_server(workspace, "plain") as hf:
        with monkeypatch.context() as patched:
            patched.setattr(Sandbox, "warden", none)
            told = await refused(hf)
            assert told.kind == FailureKind.UNAVAILABLE
            assert "there is no room" in told.message
            assert hf.commands.all() == ()
        assert "0:0" in await hover(hf)


async def test_one_that_is_over_as_it_is_started_is_never_shown_as_running(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = PipedProcesses.start

    async def closed_meanwhile(
        self: PipedProcesses, warden: Warden, command: Command, listener: Listener
    ) -> Piped:
        process = await real(self, warden, command, listener)
        await self.close()
        return process

    async with with_server(workspace, "plain") as hf:
        with monkeypatch.context() as patched:
            patched.setattr(PipedProcesses, "start", closed_meanwhile)
            told = await refused(hf)
            assert told.kind == FailureKind.UNAVAILABLE
            assert "it was ended (abort)" in told.message
            assert hf.commands.all() == ()
        assert "0:0" in await hover(hf)


async def test_one_that_hangs_is_ended_and_the_next_call_begins_another(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "ANSWER_SECONDS", 0.2)
    async with with_server(workspace, "hanging") as hf:
        assert (await refused(hf)).kind == FailureKind.TIMEOUT
        assert [one.state for one in hf.commands.all()] == ["running"]
        told = await refused(hf)
        assert told.kind == FailureKind.TIMEOUT
        assert "it was ended" in told.message
        assert [one.state for one in hf.commands.all()] == ["killed"]
        envelope = await answer(hf, "lsp", action="hover", path="a.odd", line=1, column=1)
        assert "started again" in envelope.warnings[0]
        assert [one.state for one in hf.commands.all()].count("running") == 1


def test_a_question_to_one_that_is_gone_says_nothing_of_its_successor() -> None:
    held = session_servers._Held(server.ServerCommand("odd", ("odd",), (".odd",)))  # pyright: ignore[reportPrivateUsage] - two ends in one moment
    gone, problem = cast("Any", object()), OperationTimedOut("late")
    assert held.unanswered(gone, None, problem) is problem
    assert held.doubted is None


async def test_calls_side_by_side_are_one_silence(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "ANSWER_SECONDS", 0.2)
    async with with_server(workspace, "hanging") as hf:
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(refused, hf)
        assert [one.state for one in hf.commands.all()] == ["running"]


async def test_one_that_hears_but_does_not_answer_goes_on(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "ANSWER_SECONDS", 0.2)
    async with with_server(workspace, "silent") as hf:
        for times in (1, 2, 3):
            told = await refused(hf)
            assert told.kind == FailureKind.TIMEOUT
            await noted(hf, f"refused {times}")
        assert [one.state for one in hf.commands.all()] == ["running"]
