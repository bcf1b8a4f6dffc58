"""Bytes between two ends: half-closed, stalled, broken off, in bulk; memory stays flat."""

import asyncio
import resource
import socket
import time
from typing import cast

import pytest
from execution.network.town import LOOPBACK, Gate, Site, Town, echo, proxied, served, until

from holdfast.execution.network import relay
from holdfast.execution.network.conversation import ProxyLimits
from holdfast.execution.network.dialling import Line

SOME = 1 << 20


def _connect(port: int) -> bytes:
    return f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode()


def _get(port: int, method: str = "GET", fields: str = "") -> bytes:
    return f"{method} http://127.0.0.1:{port}/ HTTP/1.1\r\n{fields}\r\n".encode()


async def _opened(town: Town, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(LOOPBACK, town.proxy.port)
    writer.write(_connect(port))
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def _pour(writer: asyncio.StreamWriter, piece: bytes) -> None:
    while True:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0.01)


async def test_a_program_that_has_said_all_still_hears_all() -> None:
    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard = await reader.read()
        await asyncio.sleep(0.05)
        writer.write(b"%d" % len(heard))

    async with served(count) as port, proxied(Gate(LOOPBACK)) as town:
        reader, writer = await _opened(town, port)
        writer.write(b"x" * SOME)
        writer.write_eof()
        assert await reader.read() == b"%d" % SOME
        writer.close()


async def test_a_host_that_has_said_all_still_hears_all() -> None:
    heard: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"welcome")
        writer.write_eof()
        heard.append(await reader.read())

    async with served(hear) as port, proxied(Gate(LOOPBACK)) as town:
        reader, writer = await _opened(town, port)
        assert await reader.read() == b"welcome"
        writer.write(b"x" * SOME)
        writer.close()
        await until(lambda: bool(heard))
        assert len(heard[0]) == SOME


async def _narrow() -> tuple[Line, Line]:
    """Two ends of a line of which the kernel holds next to nothing."""
    ends = socket.socketpair()
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4608)
    one, other = [await asyncio.open_connection(sock=end) for end in ends]
    return Line(*one), Line(*other)


async def _heard_slowly(line: Line) -> int:
    heard = 0
    while piece := await line.reader.read(4096):
        heard += len(piece)
        await asyncio.sleep(0.001)
    return heard


async def test_the_last_of_it_goes_out_though_both_have_said_all() -> None:
    (inside, program), (host, outside) = await _narrow(), await _narrow()
    traffic = relay.Traffic(10, 10)
    async with traffic.idle:
        outside.writer.write_eof()
        passing = asyncio.create_task(relay.tunnel(program, host, traffic))
        inside.writer.write(b"x" * 300_000)
        inside.writer.write_eof()
        heard = asyncio.create_task(_heard_slowly(outside))
        await passing
    host.drop()
    assert await heard == 300_000
    for line in (inside, program, outside):
        line.drop()


async def test_last_words_go_out_before_the_time_for_a_farewell_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay, "_FAREWELL_SECONDS", 0.001)
    near, far = await _narrow()
    heard = asyncio.create_task(_heard_slowly(far))
    await relay.farewell(near, b"x" * 300_000)
    near.drop()
    assert await heard == 300_000
    far.drop()


async def test_a_refusal_reaches_a_program_that_says_all_before_it_listens() -> None:
    def talk(port: int) -> bytes:
        with socket.create_connection((LOOPBACK, port)) as program:
            program.settimeout(10)
            program.sendall(b"PUT http://other.example/ HTTP/1.1\r\nContent-Length: 90000\r\n\r\n")
            for _ in range(9):
                time.sleep(0.01)
                program.sendall(b"x" * 10_000)
            return program.recv(100)

    async with proxied(Gate()) as town:
        answer = await asyncio.to_thread(talk, town.proxy.port)
        assert answer.startswith(b"HTTP/1.1 403 ")


async def test_a_fast_host_waits_for_a_slow_program() -> None:
    written = 0

    async def pour(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        while True:
            writer.write(b"x" * SOME)
            written += SOME
            await writer.drain()

    async with served(pour) as port, proxied(Gate(LOOPBACK)) as town:
        reader, writer = await _opened(town, port)
        cast("asyncio.Transport", writer.transport).pause_reading()
        while True:
            before = written
            await asyncio.sleep(0.1)
            if written == before:
                break
        # Kernel buffers hold some of it; the proxy next to nothing.
        assert written < 64 * SOME
        assert (len(town.told), reader.at_eof()) == (1, False)
        writer.transport.abort()
        await until(lambda: len(town.told) == 2)


async def test_memory_stays_flat_while_much_passes() -> None:
    total = 100 * SOME

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        piece = b"x" * SOME
        for _ in range(total // SOME):
            writer.write(piece)
            await writer.drain()

    async with served(pour) as port, proxied(Gate(LOOPBACK)) as town:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        reader, writer = await asyncio.open_connection(LOOPBACK, town.proxy.port)
        writer.write(_get(port))
        await reader.readuntil(b"\r\n\r\n")
        heard = 0
        while piece := await reader.read(SOME):
            heard += len(piece)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        assert heard == total
        assert grown < 16 * SOME
        writer.close()


async def test_a_large_body_goes_up_whole() -> None:
    heard: list[int] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        heard.append(len(await reader.readexactly(8 * SOME)))
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    async with served(hear) as port, proxied(Gate(LOOPBACK)) as town:
        head = _get(port, "PUT", f"Content-Length: {8 * SOME}\r\nExpect: 100-continue\r\n")
        answer = await town.ask(head + b"x" * 8 * SOME, close=True)
        assert answer == (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
        )
        assert heard == [8 * SOME]


async def test_an_answer_that_comes_before_the_body_has_gone_up_counts() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\n\r\n")
        writer.write_eof()
        await asyncio.sleep(0.05)
        writer.transport.abort()

    async with served(refuse) as port, proxied(Gate(LOOPBACK)) as town:
        reader, writer = await asyncio.open_connection(LOOPBACK, town.proxy.port)
        writer.write(_get(port, "PUT", f"Content-Length: {8 * SOME}\r\n"))
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 413 ")
        writer.transport.abort()


async def test_a_host_that_goes_while_a_body_is_sent_ends_it() -> None:
    async def leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()

    async with served(leave) as port, proxied(Gate(LOOPBACK)) as town:
        head = _get(port, "PUT", f"Content-Length: {8 * SOME}\r\n")
        answer = await town.ask(head + b"x" * SOME)
        assert answer.startswith(b"HTTP/1.1 502 ")
        assert b"before it answered" in answer


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", b"before it answered"),
        (b"HTTP/1.1 200 OK\r\nX:", b"before it answered"),
        (b"220 mail.example\r\n\r\n", b"does not answer with HTTP/1"),
        (b"HTTP/1.1 200 OK\r\nbad\r\n\r\n", b"is malformed"),
        (b"HTTP/1.1 101 Switching\r\n\r\n", b"switches"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000, b"too long"),
    ],
)
async def test_a_host_that_does_not_answer_properly_is_a_bad_gateway(
    answer: bytes, reason: bytes
) -> None:
    async with served(Site(answer)) as port, proxied(Gate(LOOPBACK)) as town:
        heard = await town.ask(_get(port))
        assert heard.startswith(b"HTTP/1.1 502 ")
        assert reason in heard


async def test_an_answer_that_breaks_off_is_not_made_up_for() -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        await asyncio.sleep(0.05)
        writer.transport.abort()

    async with served(half) as port, proxied(Gate(LOOPBACK)) as town:
        answer = await town.ask(_get(port))
        assert answer.endswith(b"\r\n\r\nhalf")
        assert b"502" not in answer


async def test_a_chunk_gone_wrong_after_the_answer_began_ends_the_connection() -> None:
    async def early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nbegun")
        await reader.read()

    async with served(early) as port, proxied(Gate(LOOPBACK)) as town:
        reader, writer = await asyncio.open_connection(LOOPBACK, town.proxy.port)
        writer.write(_get(port, "PUT", "Transfer-Encoding: chunked\r\n"))
        await reader.readuntil(b"begun")
        writer.write(b"nonsense\r\n")
        assert await reader.read() == b""
        await until(lambda: len(town.told) == 2)
        assert "malformed" in str(town.told[1].reason)
        writer.transport.abort()


async def test_a_tunnel_in_which_nothing_moves_is_closed() -> None:
    limits = ProxyLimits(idle_seconds=0.1)
    async with served(echo) as port, proxied(Gate(LOOPBACK), limits=limits) as town:
        reader, writer = await _opened(town, port)
        assert await reader.read() == b""
        await until(lambda: len(town.told) == 2)
        assert town.told[1].reason == "nothing moved for too long"
        writer.close()


async def test_a_silent_host_is_a_gateway_timeout() -> None:
    async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    limits = ProxyLimits(idle_seconds=0.1)
    async with served(silent) as port, proxied(Gate(LOOPBACK), limits=limits) as town:
        assert (await town.ask(_get(port))).startswith(b"HTTP/1.1 504 ")


async def test_what_moves_is_not_closed() -> None:
    limits = ProxyLimits(idle_seconds=2)
    async with served(echo) as port, proxied(Gate(LOOPBACK), limits=limits) as town:
        reader, writer = await _opened(town, port)
        for _ in range(50):
            writer.write(b"x")
            assert await reader.readexactly(1) == b"x"
            await asyncio.sleep(0.05)
        assert len(town.told) == 1
        writer.close()


async def test_a_side_that_is_gone_is_waited_for_a_shorter_time() -> None:
    async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()
        await asyncio.Event().wait()

    limits = ProxyLimits(idle_seconds=60, half_closed_seconds=0.05)
    async with served(silent) as port, proxied(Gate(LOOPBACK), limits=limits) as town:
        assert await town.ask(_connect(port), close=True) == (
            b"HTTP/1.1 200 Connection established\r\n\r\n"
        )
        assert b"504" in await town.ask(_get(port), close=True)


async def test_a_program_that_never_hears_its_refusal_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay, "_FAREWELL_SECONDS", 0.05)
    async with proxied(Gate()) as town:
        reader, writer = await asyncio.open_connection(LOOPBACK, town.proxy.port)
        writer.write(b"CONNECT other.example:1 HTTP/1.1\r\n\r\n")
        assert b"403" in await reader.read()
        with pytest.raises(ConnectionError):
            await _pour(writer, b"x")
        writer.transport.abort()


async def test_a_program_that_floods_its_refusal_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay, "_FAREWELL_SECONDS", 60)
    async with proxied(Gate()) as town:
        _, writer = await asyncio.open_connection(LOOPBACK, town.proxy.port)
        writer.write(b"PUT http://other.example/ HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n")
        with pytest.raises(ConnectionError):
            await _pour(writer, b"x" * SOME)
        writer.transport.abort()


async def test_what_was_written_goes_out_before_the_end_or_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard: list[int] = []
    goes_on = asyncio.Event()

    async def hear(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await goes_on.wait()
        heard.append(len(await reader.read()))

    async with served(hear) as port:
        for patience in (0.05, 60):
            monkeypatch.setattr(relay, "_FLUSH_SECONDS", patience)
            line = Line(*await asyncio.open_connection(LOOPBACK, port))
            line.writer.write(b"x" * 64 * SOME)
            await relay.flush(line)
            line.drop()
            goes_on.set()
        await until(lambda: len(heard) == 2)
    assert min(heard) < 64 * SOME
    assert max(heard) == 64 * SOME


async def test_what_moves_too_late_changes_nothing() -> None:
    traffic = relay.Traffic(0.01, 0.01)

    async def moved_late() -> None:
        async with traffic.idle:
            try:
                await asyncio.sleep(5)
            finally:
                traffic.to_host(1)

    with pytest.raises(TimeoutError):
        await moved_late()
    assert traffic.sent == 1
