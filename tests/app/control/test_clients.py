"""Clients that behave badly: whatever they do, the session goes on, and they are told or let go."""

import json
from pathlib import Path

import anyio
import pytest
from app.control.held import LEFT, Client, running
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.app.control import connection, serving, watching, wire
from holdfast.app.control.watching import Watcher
from holdfast.app.control.window import Window
from holdfast.contract.events import UserMessage
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.shell import LiveCommand

pytestmark = pytest.mark.anyio


async def everything(client: Client) -> None:
    while True:
        await client.reads()


async def test_whoever_does_not_say_hello_first_is_let_go(tmp_path: Path) -> None:
    async with running(tmp_path) as windows, windows.client(greets=False) as client:
        await client.writes(wire.Sessions())
        assert await client.refused() == "malformed"


async def test_another_version_is_refused_with_what_is_spoken(tmp_path: Path) -> None:
    async with running(tmp_path) as windows, windows.client(greets=False) as client:
        await client.writes(wire.Hello(version=99))
        assert "version 1 is spoken here, and not 99" in str(await client.reads())


async def test_whoever_says_nothing_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "GREETING_SECONDS", 0.05)
    monkeypatch.setattr(connection, "IDLE_SECONDS", 0.05)
    async with running(tmp_path) as windows:
        async with windows.client(greets=False) as client:
            with pytest.raises(anyio.IncompleteRead):
                await client.reads()
        async with windows.client() as client:
            with pytest.raises(anyio.IncompleteRead):
                await client.reads()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"\xff\xfe\n", "malformed"),
        (b"{}\n", "malformed"),
        (b'{"kind":"look"}\n', "malformed"),
        (b'{"kind":"look","session":"x","more":1}\n', "malformed"),
        (b'{"kind":"of_a_newer_one","session":"x"}\n', "malformed"),
        (b'{"kind":"watch","session":"x","after":-1}\n', "malformed"),
        (b'{"kind":"look","session":"' + b"x" * 300 + b'"}\n', "malformed"),
        (b"[" * 60_000 + b"\n", "malformed"),
        (b"x" * (wire.MOST_REQUEST_BYTES + 1), "too_long"),
    ],
    ids=["bytes", "no kind", "incomplete", "more", "newer", "negative", "long", "deep", "endless"],
)
async def test_garbage_is_told_and_ends_the_connection(
    tmp_path: Path, line: bytes, problem: str
) -> None:
    async with running(tmp_path) as windows, windows.client() as client:
        await client.writes(line)
        assert await client.refused() == problem


async def test_requests_that_do_not_fit_are_answered_and_the_connection_goes_on(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as windows, windows.client() as client:
        await client.writes(wire.Hello(id=1, version=wire.VERSION))
        assert (await client.reads())["problem"] == "malformed"
        await client.writes(wire.Look(id=2, session="ses_other"))
        assert await client.reads() == {
            "kind": "refused",
            "id": 2,
            "problem": "unknown_session",
            "message": "session ses_other does not run here",
        }
        await client.writes(wire.Sessions(id=3))
        told = await client.reads()
        assert told["sessions"] == [{"session_id": windows.session, "status": "running"}]
        await client.writes(wire.Watch(id=4, session=windows.session, after=10**6))
        assert await client.reads() == {"kind": "done", "id": 4, "did": True}
        await client.writes(wire.Watch(id=5, session=windows.session))
        assert (await client.reads())["problem"] == "busy"


async def test_of_a_flood_of_requests_each_is_answered_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "MOST_REQUESTS", 50)
    async with running(tmp_path) as windows, windows.client() as client:
        await client.writes(*[wire.Look(id=n, session=windows.session) for n in range(120)])
        began = anyio.current_time()
        assert [(await client.reads())["id"] for _ in range(120)] == list(range(120))
        assert anyio.current_time() - began > 1.0  # they had to wait for the next second, twice


async def test_more_windows_than_there_is_room_for_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "MOST_CONNECTIONS", 1)
    async with (
        running(tmp_path) as windows,
        windows.client(),
        windows.client(greets=False) as second,
    ):
        assert await second.refused() == "busy"


async def test_a_window_that_does_not_read_loses_live_pieces_and_is_told_how_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MOST_HELD", 10)
    async with running(tmp_path) as windows, windows.client() as client:
        await client.writes(wire.Watch(session=windows.session, after=10**6))
        assert (await client.reads())["kind"] == "done"
        for number in range(25):  # nobody has a turn meanwhile
            windows.model.says(f"{number} ")
        told = [await client.reads() for _ in range(11)]
        texts = [one["told"]["text"] for one in told[:10]]
        assert texts == [f"{number} " for number in range(10)]
        assert told[10] == {"kind": "missed", "count": 15}


async def test_live_pieces_are_bounded_by_their_bytes_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MOST_HELD_BYTES", 1000)
    async with running(tmp_path) as windows, windows.client() as client:
        await client.writes(wire.Watch(session=windows.session, after=10**6))
        await client.reads()
        windows.model.says("x" * 2000)
        assert await client.reads() == {"kind": "missed", "count": 1}


async def test_events_are_never_lost_however_slow_a_window_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MOST_HELD", 1)
    async with running(tmp_path) as windows, windows.client() as client:
        await client.writes(wire.Watch(session=windows.session))
        assert (await client.reads())["kind"] == "done"
        seen: list[int] = []
        windows.model.goes.set()
        while (told := await client.reads())["kind"] != "rests":
            seen += [told["told"]["sequence"]] if told["kind"] == "told" else []
        assert seen == list(range(1, len(await windows.desk.events()) + 1))


async def test_a_window_that_never_reads_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SEND_SECONDS", 0.1)
    async with running(tmp_path) as windows, windows.client() as client:
        await client.writes(wire.Watch(session=windows.session))
        for _ in range(20):
            windows.model.says("x" * 100_000)  # more than a socket holds
            await anyio.sleep(0.01)
        with pytest.raises(LEFT):
            await everything(client)


@pytest.mark.parametrize("says_look", [True, False])
async def test_what_others_write_is_told_when_somebody_says_look_and_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says_look: bool
) -> None:
    monkeypatch.setattr(watching, "LOOK_SECONDS", 3600 if says_look else 0.01)
    async with (
        running(tmp_path) as windows,
        windows.client() as client,
        windows.client() as other,
    ):
        journal = await windows.journal()
        head = (await journal.session(windows.session)).sequence
        await client.writes(wire.Watch(session=windows.session, after=head))
        await client.reads()
        await journal.append(windows.session, [UserMessage(message="one")])
        if says_look:
            await other.writes(wire.Look(session=windows.session))
        assert (await client.reads())["told"]["message"] == "one"


async def test_a_quiet_window_is_told_that_somebody_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.01)
    async with running(tmp_path) as windows, windows.client() as client:
        await client.writes(wire.Watch(session=windows.session, after=10**6))
        await client.reads()
        assert await client.reads() == {"kind": "here"}


async def test_an_event_too_large_for_a_line_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as windows, windows.client() as client:
        await windows.desk.session.send("x" * 2000)
        monkeypatch.setattr(wire, "MOST_LINE_BYTES", 1500)
        head = (await windows.desk.events())[-1].sequence
        await client.writes(wire.Watch(session=windows.session, after=head - 1))
        await client.reads()
        assert await client.reads() == {"kind": "too_large", "sequence": head}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_whatever_a_line_holds_it_is_a_request_or_malformed(line: bytes) -> None:
    try:
        read = wire.read_request(line)
    except wire.Malformed:
        return
    assert wire.read_request(wire.line_of(read).rstrip(b"\n")) == read


async def test_what_runs_can_be_asked_for_where_nothing_runs(tmp_path: Path) -> None:
    async with running(tmp_path) as windows, windows.client() as client:
        session = windows.session
        await client.writes(wire.InterruptCall(id=1, session=session))
        assert await client.reads() == {"kind": "done", "id": 1, "did": False}
        await client.writes(wire.Commands(id=2, session=session))
        assert await client.reads() == {"kind": "commands", "id": 2, "commands": []}
        await client.writes(wire.Terminate(id=3, session=session, command="job_1"))
        assert await client.reads() == {"kind": "done", "id": 3, "did": False}
        await client.writes(wire.Tail(id=4, session=session, command="job_1"))
        told = await client.reads()
        assert (told["id"], told["problem"]) == (4, "unknown_command")


async def test_where_the_journal_cannot_be_read_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def closed(*_: object) -> None:
        raise JournalUnavailable("it is closed")

    async with running(tmp_path) as windows, windows.client() as client:
        monkeypatch.setattr(Window, "status", closed)
        monkeypatch.setattr(Window, "events", closed)
        await client.writes(wire.Sessions(id=1))
        assert (await client.reads())["sessions"] == []
        await client.writes(wire.Watch(id=2, session=windows.session))
        assert (await client.reads())["kind"] == "done"
        told = await client.reads()
        assert (told["id"], told["problem"], told["message"]) == (2, "unavailable", "it is closed")
        with pytest.raises(LEFT):
            await client.reads()


async def test_commands_are_listed_without_what_they_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = LiveCommand(
        id="job_1",
        call_id="cal_1",
        kind="foreground",
        command="make",
        state="running",
        started_at="2026-01-01T00:00:00Z",
        stdout_tail="much",
        stderr_tail="more",
    )

    class One:
        def all(self) -> tuple[LiveCommand, ...]:
            return (command,)

    monkeypatch.setattr(Window, "commands", One())
    async with running(tmp_path) as windows, windows.client() as client:
        await client.writes(wire.Commands(session=windows.session))
        (listed,) = (await client.reads())["commands"]
        assert (listed["command"], listed["stdout_tail"], listed["stderr_tail"]) == ("make", "", "")
        await client.writes(wire.Tail(session=windows.session, command="job_1"))
        assert (await client.reads())["command"]["stdout_tail"] == "much"


async def test_pieces_that_an_event_has_told_again_are_not_told_behind_it(tmp_path: Path) -> None:
    async with running(tmp_path) as windows:
        window = windows.desk.session.window
        sent: list[bytes] = []

        async def send(lines: bytes) -> None:
            sent.extend(lines.splitlines())

        watcher = Watcher(window, 0, send)  # it hears from here on, and has read nothing yet
        windows.model.says("stale ")
        await windows.desk.session.send("an event behind it")
        windows.model.says("fresh")
        watcher.end()
        await watcher()
        watcher.close()
    told = b"\n".join(sent)
    assert b"stale" not in told
    assert told.index(b"an event behind it") < told.index(b"fresh")


async def test_events_that_are_heard_in_disorder_are_told_in_order(tmp_path: Path) -> None:
    async with running(tmp_path) as windows:
        sent: list[bytes] = []

        async def send(lines: bytes) -> None:
            sent.extend(lines.splitlines())

        head = (await windows.desk.events())[-1].sequence
        watcher = Watcher(windows.desk.session.window, head, send)
        watcher.close()
        journal = await windows.journal()
        first, second = await journal.append(
            windows.session, [UserMessage(message="one"), UserMessage(message="two")]
        )
        async with anyio.create_task_group() as group:
            group.start_soon(watcher)
            await anyio.wait_all_tasks_blocked()
            third, fourth = await journal.append(
                windows.session, [UserMessage(message="three"), UserMessage(message="four")]
            )
            for event in (second, fourth, first, third):
                watcher.hear(event)
            watcher.end()
    texts = [line["told"]["message"] for line in map(json.loads, sent) if line["kind"] == "told"]
    assert texts[:4] == ["one", "two", "three", "four"]
