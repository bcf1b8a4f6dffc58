"""Clients that want too much: each bound holds, and none of them costs anybody else."""

import json
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_peer import MODERN, peer

from holdfast import Holdfast
from holdfast.app.http_door.rules import headers_of
from holdfast.app.tool_files import load_tools
from holdfast.contract.person import Asker
from holdfast.contract.ports import Approver
from holdfast.contract.runtime import Progress
from holdfast.surfaces.mcp import client as client_module
from holdfast.surfaces.mcp import http_sessions
from holdfast.surfaces.mcp.calls import Asked, Call, Suspended
from holdfast.surfaces.mcp.eras import Caller
from holdfast.surfaces.mcp.http_answers import Answering
from holdfast.surfaces.mcp.http_sessions import Sessions
from holdfast.surfaces.mcp.messages import Request
from holdfast.surfaces.mcp.tickets import Ticket

ODD = """
from holdfast import tool

@tool(description="not quite \\udc80 text")
def odd() -> str:
    return "fine"
"""
STUBBORN = """
import time
from pathlib import Path
from holdfast import Limits, tool

@tool(limits=Limits(wall_seconds=None))
def stay(mark: str) -> str:
    "Go on until there is a file, whatever anybody wants."
    while not Path(mark).exists():
        time.sleep(0.01)
    return "stayed"
"""


async def test_what_a_tool_says_of_itself_need_not_be_valid_text(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD, "utf-8")
    async with peer(tmp_path / "odd.py") as one:
        await one.greet()
        for meta in ({}, {"_meta": MODERN}):
            tools = (await one.asked("tools/list", **meta))["result"]["tools"]
            assert {tool["name"]: tool for tool in tools}["odd"][
                "description"
            ] == "not quite ? text"


async def test_a_request_that_cannot_be_answered_is_refused_alone(
    tool_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with peer(tool_file) as one:
        await one.greet()

        def fail(_caller: Caller) -> bytes:
            raise LookupError("a fault of ours")

        monkeypatch.setattr(one.served, "tool_list", fail)
        assert (await one.asked("tools/list"))["error"]["code"] == -32603
        assert (await one.asked("ping"))["result"] == {}
        assert not one.client.is_busy


async def test_what_a_client_gives_up_still_counts_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "MOST_AT_WORK", 3)
    (tmp_path / "stubborn.py").write_text(STUBBORN, "utf-8")
    async with peer(tmp_path / "stubborn.py") as one:
        await one.greet()
        go = tmp_path / "go"
        stay: dict[str, Any] = {"name": "stay", "arguments": {"mark": str(go)}}
        for _ in range(3):
            own = one.ask("tools/call", **stay)
            one.tell("notifications/cancelled", requestId=own)
        assert not one.client.is_busy
        for method, params in (
            ("tools/call", stay),
            ("tools/call", {**stay, "requestState": "x"}),
            ("resources/list", {}),
            ("resources/read", {"uri": "x"}),
        ):
            refused = await one.asked(method, **params)
            assert "worked on" in refused["error"]["message"]
        assert (await one.asked("ping"))["result"] == {}
        go.touch()
        with anyio.fail_after(20):
            await one.client.idle()
        assert not (await one.asked("tools/call", **stay))["result"]["isError"]


async def test_whoever_listens_takes_nobodys_place(
    tool_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "MOST_LISTENING", 2)
    monkeypatch.setattr(client_module, "MOST_UNDER_WAY", 1)
    async with peer(tool_file) as one:
        wanted = {"notifications": {"toolsListChanged": True}, "_meta": MODERN}
        owns = [one.ask("subscriptions/listen", **wanted) for _ in range(2)]
        refused = await one.asked("subscriptions/listen", **wanted)
        assert "listen for changes" in refused["error"]["message"]
        add = {"name": "add", "arguments": {"a": 1}, "_meta": MODERN}
        assert (await one.asked("tools/call", **add))["result"]["structuredContent"] == {"sum": 2}
        one.tell("notifications/cancelled", requestId=owns[0])
        again = one.ask("subscriptions/listen", **wanted)
        await one.until(lambda said: _listener(said) == again)


def _listener(said: dict[str, Any]) -> object:
    meta = said.get("params", {}).get("_meta", {})
    return meta.get("io.modelcontextprotocol/subscriptionId")


async def test_what_a_client_makes_up_and_everything_repeats_is_short(tool_file: Path) -> None:
    async with peer(tool_file) as one:
        await one.greet()
        long = "x" * 1001
        one.say(json.dumps({"jsonrpc": "2.0", "id": long, "method": "ping"}).encode())
        assert (await one.until(lambda said: "error" in said))["error"]["code"] == -32600
        refused = await one.asked("ping", _meta={"progressToken": long})
        assert refused["error"]["code"] == -32602
        assert (await one.asked("ping", own="y" * 1000, _meta={"progressToken": "z"}))[
            "result"
        ] == {}


def _ticket(outlet: Any, version: str = "2025-11-25") -> Ticket:
    who = Caller(version=version, elicits=True)
    return Ticket(Request(1, "tools/call", b"{}"), who, outlet, "token", lambda _ticket: None)


class Sent:
    """An outlet that keeps what it is given."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def send(self, message: bytes, /, *, droppable: bool = False) -> None:
        self.messages.append(json.loads(message))

    def finish(self, message: bytes, _code: int = 0, /) -> None:
        self.send(message)

    def skip(self) -> None:
        return None


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
async def test_who_gave_up_is_asked_nothing(version: str) -> None:
    sent = Sent()
    ticket, kept = _ticket(sent, version), Suspended()
    call = Call("key", ticket, b"", Asked(), kept)
    ticket.drop()
    with anyio.fail_after(5):
        assert await call.ask("approval", {}, bound=True) is None
    assert sent.messages == []
    assert vars(kept) == vars(Suspended())


async def test_signs_of_life_that_cannot_grow_are_left_out() -> None:
    sent = Sent()
    call = Call("key", _ticket(sent), b"", Asked(), Suspended())
    for done in (1.0, 1.7976931348623157e308, 2.0, None):
        call.progress(Progress(done=done))
    assert [one["params"]["progress"] for one in sent.messages] == [1, 1.7976931348623157e308]


def test_many_headers_cost_no_more_than_each_of_them() -> None:
    raw = [(b"A", b"1")] * 200_000
    began = time.perf_counter()
    assert len(headers_of(raw)["a"]) == 200_000
    # A second pass over all for each of them would take minutes.
    assert time.perf_counter() - began < 20


class Unruly(Holdfast):
    """Cannot be closed in order."""

    async def __aexit__(self, *problem: Any) -> None:
        await super().__aexit__(*problem)
        raise OSError("the disk is gone")


async def test_a_session_that_cannot_end_in_order_ends_alone(
    tool_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tools, kinds = load_tools([tool_file]), iter([Holdfast, Unruly, Holdfast])

    def make(approver: Approver, person: Asker) -> Holdfast:
        return next(kinds)(tools=tools, approver=approver, person=person)

    async with anyio.create_task_group() as group:
        sessions = Sessions(make, group)
        first, second = await sessions.open(), await sessions.open()
        assert first is not None
        assert second is not None
        sessions.end(first.id)
        with anyio.fail_after(20):
            while "did not end in order" not in caplog.text:  # noqa: ASYNC110 - it is logged
                await anyio.sleep(0.01)
        assert sessions.used(second.id) is second
        sessions.end_all()


async def test_a_session_whose_client_waits_is_used(
    tool_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_sessions, "IDLE_SECONDS", 600.0)
    tools = load_tools([tool_file])

    def make(approver: Approver, person: Asker) -> Holdfast:
        return Holdfast(tools=tools, approver=approver, person=person)

    async with anyio.create_task_group() as group:
        sessions = Sessions(make, group)
        session = await sessions.open()
        assert session is not None
        session.stream = Answering()
        session.used_at -= 1200
        sessions.end_idle()
        session.stream = None  # what it waited for has come
        sessions.end_idle()
        assert sessions.used(session.id) is session
        session.used_at -= 1200
        sessions.end_idle()
        assert sessions.used(session.id) is None
        sessions.end_all()
