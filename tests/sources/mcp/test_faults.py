"""Servers that misbehave: every one of them ends in a typed answer, soon, and leaves nothing."""

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Literal

import anyio
import pytest
from sources.mcp.mcp_kit import alive, connected, ports, raw, sandbox, served, settled, until
from support import make_tool, settle

from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.programs import Conversation, Listener
from holdfast.contract.runtime import Runtime
from holdfast.contract.shell import KilledBy
from holdfast.runtime.abort import Abort
from holdfast.sources.mcp.definitions import Definition
from holdfast.sources.mcp.servers import McpServers
from holdfast.sources.mcp.setup import ServerSetup

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]


async def failure(servers: McpServers, tool: str, **arguments: object) -> Failure:
    answer = await settled(servers, tool, arguments)
    assert answer.failure is not None, answer.result_json
    return answer.failure


async def echoes(servers: McpServers) -> None:
    answer = await settled(servers, "raw_echo", {"text": "there"})
    assert answer.failure is None, answer.failure


@pytest.mark.req("OSA-ERR-10")
async def test_a_call_nobody_answers_times_out_and_is_cancelled_once(workspace: Path) -> None:
    async with served(workspace, raw(workspace, seconds=0.5)) as servers:
        refused = await failure(servers, "raw_never")
        assert (refused.kind, refused.retryable) == (FailureKind.TIMEOUT, True)
        assert "within 0.5 s" in refused.message
        told = await settled(servers, "raw_cancelled", {})
        assert str(told.result).count("[") == 1
        assert len(str(told.result).split(",")) == 1
        assert any(character.isdigit() for character in str(told.result))


async def test_a_late_answer_is_dropped(workspace: Path) -> None:
    async with served(workspace, raw(workspace, "late", seconds=0.5)) as servers:
        assert (await failure(servers, "raw_never")).kind == FailureKind.TIMEOUT
        await echoes(servers)


async def test_an_aborted_call_is_cancelled_at_the_server(workspace: Path) -> None:
    async with served(workspace, raw(workspace)) as servers:
        abort, answers = Abort(), list[Envelope]()

        async def call() -> None:
            answers.append(await settled(servers, "raw_never", {}, abort=abort))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await anyio.sleep(0.2)
            abort.set()
        (answer,) = answers
        assert answer.failure is not None
        assert answer.failure.kind == FailureKind.EXECUTION_ERROR
        told = await settled(servers, "raw_cancelled", {})
        assert any(character.isdigit() for character in str(told.result))


@pytest.mark.req("SPEC-MCP-04")
async def test_a_server_that_dies_ends_every_open_call_at_once(workspace: Path) -> None:
    async with served(workspace, raw(workspace)) as servers:
        failures: list[Failure] = []

        async def call(tool: str) -> None:
            failures.append(await failure(servers, tool))

        began = time.monotonic()
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(call, "raw_never")
            await anyio.sleep(0.1)
            tasks.start_soon(call, "raw_die")
        assert time.monotonic() - began < 15  # the deadline of a call is 30 s
        assert len(failures) == 4
        for one in failures:
            assert (one.kind, one.retryable) == (FailureKind.UNAVAILABLE, True)
            assert one.message.startswith("mcp server raw is unavailable")
            assert "it ended (exit status 3); it said last: " in one.message
            assert one.message.endswith("no more paper")


class Waits:
    """Stands for the time between two tries: noted, and over when the test says so."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self._go = anyio.Event()

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await self._go.wait()
        self._go = anyio.Event()

    def came_to(self, count: int) -> bool:
        return len(self.asked) == count

    def go(self) -> None:
        self._go.set()


@pytest.mark.req("SPEC-MCP-05")
async def test_a_lost_server_is_connected_again_and_never_within_a_call(workspace: Path) -> None:
    waits = Waits()
    async with served(workspace, raw(workspace), sleep=waits) as servers:
        for number, seconds in enumerate((1.0, 2.0, 5.0, 15.0, 60.0, 60.0), 1):
            await failure(servers, "raw_die")
            await until(partial(waits.came_to, number))
            assert waits.asked[-1] == seconds
            down = await failure(servers, "raw_echo")
            assert down.kind == FailureKind.UNAVAILABLE
            assert f"again in {seconds:g} s" in down.message
            assert servers.states()[0].status == "failed"
            assert len(waits.asked) == number
            waits.go()
            await until(lambda: servers.states()[0].status == "connected")
        await echoes(servers)


@pytest.mark.req("OSA-ERR-12")
@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("dies_early", "(exit status 4); it said last: cannot find my configuration"),
        ("mute", "it was not ready within 1 s"),
        ("silent_list", "it was not ready within 1 s"),
        ("old", "it could not be connected"),
    ],
)
async def test_a_failed_try_to_connect_is_unavailable_and_retryable(
    workspace: Path, mode: str, said: str
) -> None:
    setup = raw(workspace, mode, startup_seconds=1.0)
    async with served(workspace, setup, sleep=Waits()) as servers:
        (state,) = servers.states()
        assert state.status == "failed"
        assert state.problem is not None
        assert said in state.problem
        assert servers.tools() == ()
        refused = await direct(servers)
        assert (refused.kind, refused.retryable) == (FailureKind.UNAVAILABLE, True)


async def direct(servers: McpServers, server: str = "raw") -> Failure:
    """A call of a tool that nobody lists any more."""
    definition = Definition(name="echo")

    def invoke(arguments: Mapping[str, object], runtime: Runtime) -> object:
        return servers.settle(server, definition, None, arguments, runtime)

    answer = await settle(make_tool(invoke, style="async"), {})
    assert answer.failure is not None
    return answer.failure


@pytest.mark.req("OSA-ERR-11")
async def test_a_server_that_cannot_be_there_is_unavailable_and_not_retryable(
    tmp_path: Path,
) -> None:
    setups = (
        ServerSetup(name="off", command="x", disabled=True),
        ServerSetup(name="bad", url="ftp://nowhere"),
        ServerSetup(name="worse", url="http://[::1"),
        ServerSetup(name="unset", url="https://${NOT_SET_ANYWHERE}/mcp"),
    )
    given = ports(tmp_path, environment={})
    async with connected(given, *setups) as servers:
        assert [one.status for one in servers.states()] == ["disabled", *["failed"] * 3]
        for name in ("off", "bad", "worse", "unset", "unknown"):
            refused = await direct(servers, name)
            assert (refused.kind, refused.retryable) == (FailureKind.UNAVAILABLE, False)
            assert refused.message.startswith(f"mcp server {name} is unavailable: ")
    not_opened = McpServers([ServerSetup(name="raw", command="x")], given)
    refused = await direct(not_opened)
    assert (refused.kind, refused.retryable) == (FailureKind.UNAVAILABLE, False)


@pytest.mark.parametrize("mode", ["garbage", "flood", "requests", "no_tools"])
async def test_noise_does_no_harm(workspace: Path, mode: str) -> None:
    async with served(workspace, raw(workspace, mode)) as servers:
        (state,) = servers.states()
        assert state.status == "connected"
        noise = "it prints lines that are no messages; they are left out"
        assert (noise in state.remarks) == (mode == "garbage")
        if mode == "no_tools":
            assert servers.tools() == ()
        else:
            await echoes(servers)


async def test_requests_of_a_server_are_answered_or_refused(workspace: Path) -> None:
    said: list[bytes] = []
    async with sandbox(workspace) as start:

        async def listening(setup: ServerSetup, listener: Listener) -> Conversation:
            return Spied(await start(setup, listener), said)

        given = ports(workspace.parent / "state", listening)
        async with connected(given, raw(workspace, "requests")) as servers:
            await echoes(servers)
            await until(lambda: b"r3" in b"".join(said))
    answers = {line[:400] for line in b"".join(said).splitlines() if b'"id":"r' in line}
    by_id = {
        number: next(one for one in answers if f'"r{number}"'.encode() in one)
        for number in range(4)
    }
    assert b'"result":{}' in by_id[0]
    assert all(b'"error"' in by_id[number] for number in (1, 2, 3))


class Spied:
    """A conversation whose one side is written down."""

    def __init__(self, behind: Conversation, said: list[bytes]) -> None:
        self._behind, self._said = behind, said

    @property
    def over(self) -> bool:
        return self._behind.over

    def send(self, content: bytes, /) -> None:
        self._said.append(content)
        self._behind.send(content)

    def last(self, name: Literal["stdout", "stderr"], count: int, /) -> bytes:
        return self._behind.last(name, count)

    def end(self, by: KilledBy, /) -> None:
        self._behind.end(by)


@pytest.mark.parametrize(
    ("mode", "count", "said"),
    [
        ("endless", 100, "does not end"),
        ("circular", 1, "does not end"),
        ("crowded", 1000, "more than 1000 tools"),
    ],
)
async def test_lists_are_bounded(workspace: Path, mode: str, count: int, said: str) -> None:
    async with served(workspace, raw(workspace, mode)) as servers:
        (state,) = servers.states()
        assert len(state.tools) == count
        assert said in "\n".join(state.remarks)


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("oversize", "a line of more than 16 MB"),
        ("closes_stdout", "did not answer"),
    ],
)
async def test_a_server_that_floods_or_falls_silent_ends_its_call(
    workspace: Path, mode: str, said: str
) -> None:
    setup = raw(workspace, mode, seconds=5.0)
    async with served(workspace, setup, sleep=Waits()) as servers:
        refused = await failure(servers, "raw_echo")
        assert refused.kind in (FailureKind.UNAVAILABLE, FailureKind.TIMEOUT)
        assert said in refused.message


async def test_messages_without_end_keep_nobody_from_being_answered(workspace: Path) -> None:
    setup = raw(workspace, "chatter", seconds=4.0)
    async with served(workspace, setup, sleep=Waits()) as servers:
        refused = await failure(servers, "raw_echo")
        assert refused.kind in (FailureKind.UNAVAILABLE, FailureKind.TIMEOUT)


async def test_nothing_is_left_of_a_server_and_what_it_started(workspace: Path) -> None:
    async with served(workspace, raw(workspace)) as servers:
        answer = await settled(servers, "raw_pids", {})
        assert answer.ok
        # The server, and what it started: a process that begins has no words for a moment.
        await until(lambda: len(found(workspace)) >= 2)
        marked = found(workspace)
        await settled(servers, "raw_die", {})
        await until(lambda: not any(alive(pid) for pid in marked))
        with anyio.fail_after(15):
            while not (await settled(servers, "raw_pids", {})).ok:  # noqa: ASYNC110 - a process
                await anyio.sleep(0.01)
        await until(lambda: len(found(workspace)) >= 2)
        again = found(workspace)
    await until(lambda: not any(alive(pid) for pid in again))
    assert found(workspace) == []


async def test_a_program_that_is_not_there_is_a_failed_try(workspace: Path) -> None:
    setup = ServerSetup(name="raw", command="no-such-program-anywhere")
    async with served(workspace, setup, sleep=Waits()) as servers:
        (state,) = servers.states()
        assert state.status == "failed"
        assert "it could not be connected" in str(state.problem)


async def test_closing_ends_what_is_still_being_connected(workspace: Path) -> None:
    async with sandbox(workspace) as start:
        servers = McpServers([raw(workspace, "mute")], ports(workspace.parent / "state", start))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(servers.open)
            await until(lambda: found(workspace))
            with anyio.fail_after(10):  # it would wait for 30 s
                await servers.close()
        assert servers.states()[0].status == "closed"
        await until(lambda: not found(workspace))
        refused = await direct(servers)
        assert (refused.kind, refused.retryable) == (FailureKind.UNAVAILABLE, False)


async def test_too_many_calls_at_once_are_refused(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.sources.mcp.connection.MOST_CALLS", 2)
    async with served(workspace, raw(workspace)) as servers:
        async with anyio.create_task_group() as tasks:
            with anyio.fail_after(15):
                while (await settled(servers, "raw_echo", {})).ok:
                    tasks.start_soon(settled, servers, "raw_never")
                    await anyio.sleep(0.05)
            refused = await failure(servers, "raw_echo")
            assert refused.kind == FailureKind.UNAVAILABLE
            assert "2 calls are under way" in refused.message
            tasks.cancel_scope.cancel()
        with anyio.fail_after(15):
            while not (await settled(servers, "raw_echo", {})).ok:  # noqa: ASYNC110 - a process
                await anyio.sleep(0.01)


def found(workspace: Path) -> list[int]:
    return [pid for pid in running() if str(workspace) in command_line(pid)]


def running() -> list[int]:
    return [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]


def command_line(pid: int) -> str:
    try:
        return (
            Path(f"/proc/{pid}/cmdline")
            .read_bytes()
            .replace(b"\0", b" ")
            .decode("utf-8", "replace")
        )
    except OSError:
        return ""
