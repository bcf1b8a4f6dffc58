"""Servers that mean harm: what they send is bounded, and nothing of it hides."""

import json
import shutil
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback_http import on_loopback
from sources.mcp.mcp_kit import Answering, connected, ports, served, settled
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from holdfast.contract.failure import FailureKind
from holdfast.contract.person import Replies
from holdfast.contract.programs import Conversation, Listener
from holdfast.contract.shell import KilledBy
from holdfast.sources.mcp import lines, stdio
from holdfast.sources.mcp.http import LISTENING_AT_ONCE, LISTENING_SECONDS, BoundedEvents
from holdfast.sources.mcp.lines import MOST_VALUES, is_crowded
from holdfast.sources.mcp.listing import MOST_BYTES
from holdfast.sources.mcp.setup import ServerSetup
from holdfast.sources.mcp.stdio import MOST_UNREAD, ServerProgram
from holdfast.testing.fakes import FakeProgress

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(90)]


def hostile(workspace: Path, mode: str) -> ServerSetup:
    script = workspace / "hostile_server.py"
    shutil.copy(Path(__file__).with_name("hostile_server.py"), script)
    return ServerSetup(
        name="bad", command=sys.executable, args=(str(script), mode), era="2025-11-25"
    )


async def test_a_message_of_too_many_values_ends_the_server(workspace: Path) -> None:
    async with served(workspace, hostile(workspace, "crowded")) as servers:
        lost = (await settled(servers, "bad_harm")).failure
        assert lost is not None
        assert lost.kind is FailureKind.UNAVAILABLE
        assert "too many values" in lost.message


async def test_what_stands_in_texts_is_no_value(workspace: Path) -> None:
    async with served(workspace, hostile(workspace, "commas")) as servers:
        assert (await settled(servers, "bad_harm")).ok


@given(st.recursive(st.text('",[{\\', max_size=8), st.lists, max_leaves=30))
def test_values_are_counted_outside_of_texts(value: Any) -> None:
    def held(one: Any) -> int:
        """Lists and commas, as JSON writes them."""
        if not isinstance(one, list):
            return 0
        inside = cast("list[Any]", one)
        return 1 + max(0, len(inside) - 1) + sum(map(held, inside))

    text = json.dumps(value).encode()
    count = held(value)
    with pytest.MonkeyPatch.context() as patch:
        for most in (count - 1, count, count + 1):
            patch.setattr(lines, "MOST_VALUES", most)
            assert is_crowded(text) == (count > most)


class Silent:
    """A conversation with nobody."""

    over = False

    def __init__(self) -> None:
        self.ended_by: KilledBy | None = None

    def send(self, content: bytes, /) -> None:
        raise AssertionError(content)

    def last(self, _name: Literal["stdout", "stderr"], _count: int, /) -> bytes:
        return b""

    def end(self, by: KilledBy, /) -> None:
        self.ended_by = by


async def started(state: Path) -> tuple[ServerProgram, Listener, Silent]:
    """A program that says what the listener is told."""
    heard: list[Listener] = []
    silent = Silent()

    async def start(_setup: ServerSetup, listener: Listener) -> Conversation:
        heard.append(listener)
        return silent

    program = ServerProgram(ServerSetup(name="a", command="b"), ports(state, start), print)
    await program.start()
    return program, heard[0], silent


async def test_short_lines_are_counted_with_what_they_cost(tmp_path: Path) -> None:
    program, heard, silent = await started(tmp_path)
    piece, sent = b"1\n" * 32_768, 0
    while silent.ended_by is None:
        heard.printed(piece)
        sent += len(piece)
        assert sent < MOST_UNREAD / 50
    assert silent.ended_by == "lost"
    assert program.how == "it sends more than can be read"


async def test_what_was_read_counts_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "MOST_UNREAD", 10_000)
    program, heard, silent = await started(tmp_path)
    for _ in range(100):
        heard.printed(b'{"jsonrpc": "2.0", "method": "x"}\n' * 10)
        for _ in range(10):
            await program.receive()
    assert silent.ended_by is None


async def test_definitions_that_are_too_large_or_have_no_name_are_left_out(
    workspace: Path,
) -> None:
    async with served(workspace, hostile(workspace, "descriptions")) as servers:
        (state,) = servers.states()
        assert [tool.name for tool in state.tools] == ["echo", "harm", "lists"]
        assert any("'large' is left out: 10," in remark for remark in state.remarks)
        assert (len(state.server_name or ""), state.server_version) == (200, "1 [2J")
    async with served(workspace, hostile(workspace, "names")) as servers:
        (state,) = servers.states()
        assert [tool.name for tool in state.tools] == ["echo", "harm", "lists", "fine name"]
        assert len(state.remarks) == 5
        assert all(remark.isprintable() for remark in state.remarks)


async def test_pages_end_when_all_of_them_are_too_large(workspace: Path) -> None:
    async with served(workspace, hostile(workspace, "pages")) as servers:
        (state,) = servers.states()
        assert any("does not end" in remark for remark in state.remarks)
        kept = sum(len(tool.definition.description or "") for tool in state.tools)
        assert 0 < kept < MOST_BYTES + 2_000_000
        assert len(state.remarks) <= 50


async def test_nobody_is_told_what_nobody_sees(workspace: Path) -> None:
    async with served(workspace, hostile(workspace, "unseen")) as servers:
        (echo,) = servers.tools()
        words = json.dumps([echo.description, echo.input_schema], ensure_ascii=False)
        assert "A tool." in words
        assert words.isprintable()
        (state,) = servers.states()
        assert "\u200b" in str(state.tools[0].definition.description)  # what is pinned is all of it


async def test_very_many_signs_of_life_are_thinned_out(workspace: Path) -> None:
    heard = FakeProgress()
    async with served(workspace, hostile(workspace, "signs")) as servers:
        answer = await settled(servers, "bad_harm", progress=heard)
        assert answer.ok
    assert 0 < len(heard.heard) < 2500
    assert all(len(one.message or "") <= 2000 for one in heard.heard)


async def test_a_storm_of_changes_leads_to_few_lists(workspace: Path) -> None:
    async with served(workspace, hostile(workspace, "storm")) as servers:
        began = time.monotonic()
        assert (await settled(servers, "bad_harm")).ok
        told: Any = (await settled(servers, "bad_lists")).result
        assert int(told["text"]) <= 3 + time.monotonic() - began


async def test_a_flood_of_questions_reaches_a_person_ten_times(workspace: Path) -> None:
    asked: list[object] = []

    async def ask(questions: tuple[object, ...]) -> Replies:
        asked.append(questions)
        return Replies(answers=(), by="a person", skipped=True)

    async with served(workspace, hostile(workspace, "asking")) as servers:
        assert (await settled(servers, "bad_harm", person=Answering(ask))).ok
        assert (await settled(servers, "bad_echo")).ok
    assert 0 < len(asked) <= 10


@asynccontextmanager
async def at_address(mode: str, listened: list[float]) -> AsyncGenerator[str]:
    """A server over HTTP that answers in an evil way."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        if request.method == "GET":
            listened.append(time.monotonic())
            events = StreamingResponse(iter([b"retry: 0\n\n"]), media_type="text/event-stream")
            await events(scope, receive, send)
            return
        sent = json.loads(await request.body() or b"{}")
        await _answer(sent, mode)(scope, receive, send)

    async with on_loopback(app) as port:
        yield f"http://127.0.0.1:{port}/mcp"


def _answer(sent: dict[str, Any], mode: str) -> Response:
    if "id" not in sent:
        return Response(status_code=202)
    told: dict[str, Any] = {"tools": [{"name": "harm", "inputSchema": {"type": "object"}}]}
    if sent["method"] == "initialize":
        able: Any = {"tools": {}}
        info = {"name": "bad", "version": "1"}
        told = {"protocolVersion": "2025-11-25", "capabilities": able, "serverInfo": info}
    if sent["method"] == "tools/call":
        told = {"content": [], "structuredContent": {"a": [[] for _ in range(MOST_VALUES + 1)]}}
    body = json.dumps({"jsonrpc": "2.0", "id": sent["id"], "result": told})
    headers = {"mcp-session-id": "one"}
    if mode == "events" and sent["method"] == "tools/call":
        event = f"event: message\r\ndata: {body}\r\n\r\n"
        return StreamingResponse(iter([event]), media_type="text/event-stream", headers=headers)
    return Response(body, media_type="application/json", headers=headers)


@pytest.mark.parametrize(
    ("mode", "said"), [("whole", "too many values"), ("events", "ended without a response")]
)
async def test_an_answer_of_too_many_values_is_not_read(
    tmp_path: Path, mode: str, said: str
) -> None:
    async with at_address(mode, []) as url:
        setup = ServerSetup(name="bad", url=url, era="2025-11-25", seconds=20)
        async with connected(ports(tmp_path), setup) as servers:
            failed = (await settled(servers, "bad_harm")).failure
            assert failed is not None
            assert said in failed.message


async def test_a_server_that_wants_no_rest_is_listened_to_at_our_pace(tmp_path: Path) -> None:
    listened: list[float] = []
    async with at_address("whole", listened) as url:
        setup = ServerSetup(name="bad", url=url, era="2025-11-25")
        async with connected(ports(tmp_path), setup):
            with anyio.fail_after(30):
                while len(listened) < LISTENING_AT_ONCE + 3:  # noqa: ASYNC110 - it tells nobody
                    await anyio.sleep(0.01)
    # The first ones come as fast as it likes, and then one a second.
    assert listened[-1] - listened[0] > LISTENING_SECONDS * 1.5


class _Pieces(httpx2.AsyncByteStream):
    def __init__(self, *pieces: bytes) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\r", b"\r\n\n", b"\n\r\n"])
async def test_events_end_as_the_sdk_ends_them(end: bytes) -> None:
    piece = b"data: " + b"x" * 60_000 + end
    seen = [one async for one in BoundedEvents(_Pieces(*[piece] * 400))]
    assert len(seen) == 400


@pytest.mark.parametrize("piece", [b": comment\r\n", b"data: x\n", b"x"])
async def test_an_event_without_an_end_is_given_up(piece: bytes) -> None:
    with pytest.raises(httpx2.StreamError, match="larger than 16 MB"):
        async for _ in BoundedEvents(_Pieces(*[piece * 100_000] * 200)):
            pass
