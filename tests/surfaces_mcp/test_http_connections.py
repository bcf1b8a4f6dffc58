"""Connections that say nothing, too little or read nothing keep nobody out, and are ended."""

import json
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp_peer import MODERN
from mcp_process import Serving, serving

from holdfast.app.holdfast import Holdfast
from holdfast.app.http_door import connections as http_connections
from holdfast.app.http_door import listening
from holdfast.app.tool_files import load_tools
from holdfast.contract.person import Asker
from holdfast.contract.ports import Approver
from holdfast.surfaces.mcp.http_server import Listening, serve

pytestmark = pytest.mark.timeout(120)

TOKEN = "a-word-that-only-tests-know"


class Address(NamedTuple):
    """Where it listens."""

    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> "Address":
        host, _, port = url.removeprefix("http://").partition("/")[0].rpartition(":")
        return cls(host, int(port))


@pytest.fixture
async def process(tool_file: Path, tmp_path: Path) -> AsyncGenerator[Serving]:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir(mode=0o700)
    work.mkdir()
    async with serving(home, work, "--from", str(tool_file)) as server:
        yield server


@pytest.fixture
async def impatient(tool_file: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Address]:
    """A server in this process that waits for nobody for long."""
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "UNREAD_SECONDS"):
        monkeypatch.setattr(http_connections, name, 0.5)
    monkeypatch.setattr(http_connections, "MOST_CONNECTIONS", 4)
    monkeypatch.setattr(listening, "_LOOK_SECONDS", 0.05)
    tools = load_tools([tool_file])
    said: list[str] = []
    listens = anyio.Event()

    def make(approver: Approver, person: Asker) -> Holdfast:
        return Holdfast(tools=tools, approver=approver, person=person)

    def tell(text: str) -> None:
        said.append(text.partition("listening on ")[2])
        listens.set()

    async with anyio.create_task_group() as group:
        group.start_soon(serve, make, Listening(host="127.0.0.1", port=0, token=TOKEN), tell)
        with anyio.fail_after(20):
            await listens.wait()
        yield Address.of(said[0])
        group.cancel_scope.cancel()


@pytest.fixture
def sockets() -> Generator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def _connected(address: Address, sockets: ExitStack, **options: int) -> socket.socket:
    one = sockets.enter_context(socket.socket())
    for name, value in options.items():
        one.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
    one.settimeout(30)
    one.connect(address)
    return one


def _head(*lines: str, token: str = TOKEN, length: int | None = None) -> bytes:
    own = ["POST /mcp HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token}", *lines]
    if length is not None:
        own += ["Content-Type: application/json", f"Content-Length: {length}", "", ""]
    return "\r\n".join(own).encode()


def _request(method: str, own: Any = 1, **params: Any) -> bytes:
    name = params.get("name") or params.get("uri")
    named = [] if name is None else [f"Mcp-Name: {name}"]
    asked = {"jsonrpc": "2.0", "id": own, "method": method, "params": {"_meta": MODERN, **params}}
    body = json.dumps(asked).encode()
    about = ["MCP-Protocol-Version: 2026-07-28", f"Mcp-Method: {method}", *named]
    return _head(*about, length=len(body)) + body


def _rest(one: socket.socket) -> bytes:
    """All that comes until the other side ends it."""
    found = b""
    try:
        while piece := one.recv(65536):
            found += piece
    except ConnectionResetError:
        pass
    return found


async def _ended(one: socket.socket) -> bytes:
    return await anyio.to_thread.run_sync(_rest, one)


async def test_silent_connections_lock_nobody_out(process: Serving, sockets: ExitStack) -> None:
    address = Address.of(process.url)
    silent = [_connected(address, sockets) for _ in range(700)]
    for one in silent[:100]:
        one.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127")
    token = {"Authorization": f"Bearer {process.token}"}
    async with httpx2.AsyncClient(headers=token, timeout=30) as client:
        for _ in range(20):
            assert (
                await client.get(process.url, headers={"connection": "close"})
            ).status_code == 405
    # The first of them made room for others long before their time was over.
    assert _rest(silent[0]) == b""
    silent[-1].setblocking(False)
    with pytest.raises(BlockingIOError):
        silent[-1].recv(1)


def _trickled(one: socket.socket, said: bytes) -> bytes:
    """Say it, and then byte for byte more; what came until the other side ended it."""
    more, found = (b"\r\n" if said == b"\r\n" else b"x"), b""
    one.sendall(said)
    one.settimeout(0.02)
    try:
        for _ in range(1500):
            try:
                piece = one.recv(65536)
            except TimeoutError:
                one.send(more if said else b"")
                continue
            found += piece
            if not piece:
                return found
    except (ConnectionResetError, BrokenPipeError):
        return found
    raise AssertionError("it goes on for ever")


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"POST /mcp HT",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-More: ",
        b"\r\n",
        _head(length=10_000) + b'{"json',
        _head(length=10_000, token="wrong") + b'{"json',
    ],
)
async def test_one_that_trickles_is_ended(
    impatient: Address, sockets: ExitStack, said: bytes
) -> None:
    one = _connected(impatient, sockets)
    found = await anyio.to_thread.run_sync(_trickled, one, said)
    assert (b" 401 " in found) == (b"wrong" in said)


async def test_one_that_waits_makes_room_and_one_that_is_answered_does_not(
    impatient: Address, sockets: ExitStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_connections, "HEAD_SECONDS", 600.0)
    busy = [_connected(impatient, sockets) for _ in range(3)]
    for number, one in enumerate(busy):
        marks = tmp_path / str(number)
        marks.mkdir()
        one.sendall(_request("tools/call", name="hang", arguments={"marks": str(marks)}))
        await _until(marks / "began")
    silent = _connected(impatient, sockets)
    busy.append(_connected(impatient, sockets))
    assert await _ended(silent) == b""
    last = tmp_path / "last"
    last.mkdir()
    busy[-1].sendall(_request("tools/call", name="hang", arguments={"marks": str(last)}))
    await _until(last / "began")
    assert b" 503 " in await _ended(_connected(impatient, sockets))
    assert not list(tmp_path.glob("*/ended"))


async def _until(path: Path) -> None:
    with anyio.fail_after(20):
        while not path.exists():  # noqa: ASYNC110 - another thread or process makes it
            await anyio.sleep(0.01)


async def test_a_head_without_end_is_not_kept(process: Serving, sockets: ExitStack) -> None:
    for began in (b"POST /", b"POST /mcp HTTP/1.1\r\nX-More: "):
        one = _connected(Address.of(process.url), sockets)

        def flood(one: socket.socket = one, began: bytes = began) -> bytes:
            one.sendall(began)
            try:
                for _ in range(1000):
                    one.sendall(b"x" * 65536)
            except (ConnectionResetError, BrokenPipeError):
                return _rest(one)
            raise AssertionError("it was all kept")

        await anyio.to_thread.run_sync(flood)
    one = _connected(Address.of(process.url), sockets)
    one.sendall(b"POST /mcp HTTP/1.1\r\nX-More: " + b"x" * 70_000)
    assert b" 431 " in await _ended(one)


async def test_a_request_before_the_answer_to_the_last_one_ends_both(
    process: Serving, sockets: ExitStack, tmp_path: Path
) -> None:
    """Whoever leaves then would otherwise have a call that nobody stops."""
    one = _connected(Address.of(process.url), sockets)
    hang = _request("tools/call", name="hang", arguments={"marks": str(tmp_path)})
    one.sendall(hang.replace(TOKEN.encode(), process.token.encode()))
    await _until(tmp_path / "began")
    one.sendall(_request("server/discover"))
    assert b" 400 " in await _ended(one)
    await _until(tmp_path / "ended")


async def test_one_that_reads_nothing_is_let_go(
    impatient: Address, sockets: ExitStack, tmp_path: Path
) -> None:
    one = _connected(impatient, sockets, SO_RCVBUF=65536)
    shout = {"name": "shout", "arguments": {"marks": str(tmp_path)}}
    meta = {**MODERN, "progressToken": 1}
    one.sendall(_request("tools/call", **shout, _meta=meta))
    await _until(tmp_path / "ended")


async def test_who_still_reads_an_answer_owes_no_request(
    impatient: Address, sockets: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_connections, "UNREAD_SECONDS", 600.0)
    one = _connected(impatient, sockets, SO_RCVBUF=65536)
    kept = {"name": "leave", "arguments": {"name": "a.txt", "text": "x" * 3_000_000}}
    one.sendall(_request("tools/call", **kept))
    await anyio.to_thread.run_sync(_answer, one)
    one.sendall(_request("resources/list"))
    listed = await anyio.to_thread.run_sync(_answer, one)
    one.sendall(_request("resources/read", uri=listed["resources"][0]["uri"]))
    await anyio.sleep(1.5)  # longer than anybody may be silent here
    assert len([_connected(impatient, sockets) for _ in range(6)]) == 6
    read = await anyio.to_thread.run_sync(_answer, one)
    assert len(read["contents"][0]["text"]) == 3_000_000


def _answer(one: socket.socket) -> Any:
    """The result of one request, read to its end."""
    with one.makefile("rb") as answer:
        lines = iter(answer.readline, b"\r\n")
        (length,) = (int(line[15:]) for line in lines if line.lower().startswith(b"content-length"))
        return json.loads(answer.read(length))["result"]


async def test_one_that_reads_slowly_is_not(
    impatient: Address, sockets: ExitStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: set[http_connections.Connection] = set()

    def see(connections: set[http_connections.Connection], _now: float) -> None:
        found.update(connections)

    monkeypatch.setattr(listening, "end_overdue", see)
    monkeypatch.setattr(http_connections, "UNREAD_SECONDS", 600.0)
    one = _connected(impatient, sockets, SO_RCVBUF=65536)
    shout = {"name": "shout", "arguments": {"marks": str(tmp_path), "size": 4_000_000}}
    one.sendall(_request("tools/call", **shout, _meta={**MODERN, "progressToken": 1}))
    with anyio.fail_after(30):
        while not (found and next(iter(found)).flow.write_paused):  # noqa: ASYNC110 - by the loop
            await anyio.sleep(0.01)
    (connection,) = found
    began = anyio.current_time()
    assert not connection.is_overdue(began)
    before = connection.transport.get_write_buffer_size()
    with anyio.fail_after(30):
        while connection.transport.get_write_buffer_size() >= before:
            await anyio.to_thread.run_sync(one.recv, 65536)
    assert not connection.is_overdue(began + 599)
    assert not connection.is_overdue(began + 1198)
    assert connection.is_overdue(began + 1200)
