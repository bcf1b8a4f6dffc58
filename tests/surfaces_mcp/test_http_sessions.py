"""Sessions over HTTP have a bound, and an end when nobody uses them."""

from collections.abc import AsyncGenerator, MutableMapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_peer import Peer

from holdfast.app.holdfast import Holdfast
from holdfast.app.tool_files import load_tools
from holdfast.contract.person import Asker
from holdfast.contract.ports import Approver
from holdfast.surfaces.mcp import http_sessions
from holdfast.surfaces.mcp.http_answers import Answering
from holdfast.surfaces.mcp.http_sessions import Session, Sessions


@pytest.fixture
async def sessions(tool_file: Path) -> AsyncGenerator[Sessions]:
    tools = load_tools([tool_file])

    def make(approver: Approver, person: Asker) -> Holdfast:
        return Holdfast(tools=tools, approver=approver, person=person)

    async with anyio.create_task_group() as group:
        found = Sessions(make, group)
        yield found
        found.end_all()


async def _opened(sessions: Sessions) -> Session:
    session = await sessions.open()
    assert session is not None
    return session


async def _busy(session: Session, marks: Path) -> Peer:
    peer = Peer(session.served, session.client)
    await peer.greet()
    peer.ask("tools/call", 1, name="hang", arguments={"marks": str(marks)})
    return peer


async def test_the_idlest_makes_room(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(http_sessions, "MOST_SESSIONS", 2)
    first, second = await _opened(sessions), await _opened(sessions)
    assert sessions.used(first.id) is first
    third = await _opened(sessions)
    assert sessions.used(second.id) is None
    assert second.over.is_set()
    await _busy(first, tmp_path)
    third.stream = Answering()
    assert await sessions.open() is None
    assert sessions.used(third.id) is third


async def test_who_uses_a_session_keeps_it(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(http_sessions, "IDLE_SECONDS", -1.0)
    idle, busy = await _opened(sessions), await _opened(sessions)
    peer = await _busy(busy, tmp_path)
    sessions.end_idle()
    assert sessions.used(idle.id) is None
    assert sessions.used(busy.id) is busy
    assert sessions.end(busy.id)
    assert not sessions.end(busy.id)
    assert (await peer.answer(1))["error"]["message"] == "The server ends"


async def test_nobody_has_to_end_them_by_hand(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_sessions, "IDLE_SECONDS", -1.0)
    monkeypatch.setattr(http_sessions, "_LOOK_SECONDS", 0.01)
    session = await _opened(sessions)
    async with anyio.create_task_group() as group:
        group.start_soon(sessions.watch)
        with anyio.fail_after(15):
            await session.over.wait()
        group.cancel_scope.cancel()


async def test_changed_tools_are_told_in_every_session(sessions: Sessions) -> None:
    session = await _opened(sessions)
    heard: list[str] = []
    session.served.listen(lambda: heard.append("session"))
    sessions.shared.listen(lambda: heard.append("shared"))
    sessions.tools_changed()
    assert sorted(heard) == ["session", "shared"]


async def test_a_session_that_cannot_be_opened_is_none(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_self: Holdfast) -> Holdfast:
        raise OSError("of the tests")

    monkeypatch.setattr(Holdfast, "__aenter__", broken)
    with pytest.raises(OSError, match="of the tests"):
        await sessions.open()
    monkeypatch.undo()
    assert (await _opened(sessions)).is_idle


async def test_a_quiet_stream_says_that_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.surfaces.mcp.http_answers.QUIET_SECONDS", 0.01)
    answering, sent = Answering(), list[bytes]()

    async def send(event: MutableMapping[str, Any]) -> None:
        sent.append(event.get("body", b""))
        if sent.count(b": still there\n\n") == 2:
            answering.send(b"one")
            answering.finish(b"last")

    async def receive() -> MutableMapping[str, Any]:
        await anyio.sleep_forever()
        return {}

    with anyio.fail_after(15):
        await answering.respond(send, receive, status=lambda _code: 200, gone=sent.clear)
    assert sent[-3:] == [b"event: message\ndata: one\n\n", b"event: message\ndata: last\n\n", b""]


async def test_a_client_that_reads_nothing_is_not_told_everything() -> None:
    answering = Answering()
    for _ in range(600):
        answering.send(b"x" * 1024, droppable=True)
    sent: list[bytes] = []

    async def send(event: MutableMapping[str, Any]) -> None:
        sent.append(event.get("body", b""))

    answering.finish(b"last")
    await answering.stream(send)
    assert 250 < len(sent) < 300
