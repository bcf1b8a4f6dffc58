"""Programs that lie, dawdle, flood, or talk nonsense to the proxy."""

import asyncio
import socket

import pytest
from execution.network.town import LOOPBACK, Gate, Names, Site, echo, proxied, served, until
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.execution.network.conversation import ProxyLimits

QUICK = ProxyLimits(request_seconds=0.1, idle_seconds=0.2, half_closed_seconds=0.1)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=200)
    | st.binary(max_size=60).map(lambda tail: b"\x05\x01\x00\x05\x01\x00" + tail)
    | st.binary(max_size=60).map(lambda tail: b"CONNECT a.example:443 HTTP/1.1\r\n" + tail)
    | st.binary(max_size=60).map(
        lambda tail: b"PUT http://a.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + tail
    )
)
def test_whatever_is_said_the_proxy_answers_or_hangs_up(words: bytes) -> None:
    async def attempt() -> None:
        async with proxied(Gate(), limits=QUICK) as town:
            answer = await town.ask(words, close=True)
            assert answer[:1] in (b"", b"\x05", b"H")
            assert town.names.asked == []
            assert all(told.decision == "refused" for told in town.told)

    asyncio.run(attempt())


@pytest.mark.parametrize(
    "beginning",
    [b"", b"\x05", b"\x05\x01\x00\x05", b"G", b"GET http://a.example/ HTTP/1.1\r\nX: y\r\n"],
)
async def test_whoever_dawdles_is_sent_away(beginning: bytes) -> None:
    async with proxied(Gate("*"), limits=QUICK) as town:
        answer = await town.ask(beginning)
        assert b"HTTP/1.1 408 " in answer
        assert town.gate.asked == []


async def test_a_byte_now_and_then_buys_no_time() -> None:
    async with proxied(Gate("*"), limits=QUICK) as town:
        reader, writer = await asyncio.open_connection(LOOPBACK, town.proxy.port)

        async def drip() -> None:
            while True:
                writer.write(b"G")
                await asyncio.sleep(0.02)

        dripping = asyncio.create_task(drip())
        assert (await reader.read()).startswith(b"HTTP/1.1 408 ")
        dripping.cancel()
        writer.transport.abort()


async def test_a_head_without_end_is_refused() -> None:
    async with proxied(Gate("*")) as town:
        words = b"GET http://a.example/ HTTP/1.1\r\nX: " + b"y" * 70_000
        assert (await town.ask(words)).startswith(b"HTTP/1.1 431 ")
        assert town.gate.asked == []


@pytest.mark.parametrize("first", [b"\x04", b"\x16\x03\x01", b"\r\n", b" GET", b"\0", b"\x80"])
async def test_other_languages_are_answered_at_once(first: bytes) -> None:
    async with proxied(Gate("*")) as town:
        assert b"neither HTTP nor SOCKS 5" in await town.ask(first)


async def test_what_follows_a_request_reaches_nobody() -> None:
    site = Site()
    async with served(site) as port, proxied(Gate(LOOPBACK)) as town:
        one = f"GET http://127.0.0.1:{port}/1 HTTP/1.1\r\n\r\n".encode()
        other = b"GET http://inside.example/2 HTTP/1.1\r\n\r\n"
        answer = await town.ask(one + other * 50)
        assert answer.count(b"HTTP/1.1") == 1
        assert len(site.heard) == 1
        assert b"/2" not in site.heard[0]
        assert [told.host for told in town.told] == [LOOPBACK] * len(town.told)


async def test_a_length_that_lies_smuggles_nothing() -> None:
    heard: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n") + await reader.readexactly(4))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nfine")
        writer.write_eof()
        heard.append(await reader.read())

    async with served(hear) as port, proxied(Gate(LOOPBACK)) as town:
        words = (
            f"POST http://127.0.0.1:{port}/ HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody"
            "GET http://127.0.0.1/admin HTTP/1.1\r\n\r\n"
        ).encode()
        assert (await town.ask(words)).endswith(b"fine")
        await until(lambda: len(heard) == 2)
        assert heard[0].endswith(b"\r\n\r\nbody")
        assert heard[1] == b""


CHUNKED = "POST http://127.0.0.1:{}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"


async def _hear_chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    body = await reader.readuntil(b"0\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + body)


async def test_chunks_are_passed_on_without_their_extras() -> None:
    async with served(_hear_chunks) as port, proxied(Gate(LOOPBACK)) as town:
        words = CHUNKED.format(port).encode()
        chunks = b"5;name=value\r\nhello\r\n01\r\n!\r\n0\r\nTrailer: x\r\n\r\n"
        answer = await town.ask(words + chunks)
        assert answer.endswith(b"\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n")


@pytest.mark.parametrize(
    ("chunks", "reason"),
    [
        (b"5\r\nhelloX\n0\r\n\r\n", b"malformed"),
        (b"5\r\nhello\rX0\r\n\r\n", b"malformed"),
        (b"x\r\n", b"malformed"),
        (b"-1\r\nx", b"malformed"),
        (b"5\r\nhel", b"too early"),
        (b"5", b"too early"),
        (b"1;" + b"x" * 9000 + b"\r\n", b"too long"),
        (b"1;" + b"x" * 200_000, b"too long"),
        (b"0\r\n" + b"X: y\r\n" * 101, b"too much"),
    ],
)
async def test_chunks_that_are_none_are_refused(chunks: bytes, reason: bytes) -> None:
    async with served(_hear_chunks) as port, proxied(Gate(LOOPBACK)) as town:
        answer = await town.ask(CHUNKED.format(port).encode() + chunks, close=True)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert reason in answer
        await until(lambda: len(town.told) == 2)
        assert reason.decode() in str(town.told[1].reason)


async def test_a_body_that_ends_early_is_refused() -> None:
    async with served(_hear_chunks) as port, proxied(Gate(LOOPBACK)) as town:
        words = f"POST http://127.0.0.1:{port}/ HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc".encode()
        assert b"the body ended too early" in await town.ask(words, close=True)


async def test_no_more_than_so_many_are_served_at_once_and_the_rest_waits() -> None:
    limits = ProxyLimits(connections=2, request_seconds=5)
    async with served(echo) as port, proxied(Gate(LOOPBACK), limits=limits) as town:
        words = f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode()
        lines: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        for _ in range(3):
            lines.append(await asyncio.open_connection(LOOPBACK, town.proxy.port))
            lines[-1][1].write(words)
        for reader, _ in lines[:2]:
            await reader.readuntil(b"\r\n\r\n")
        third = asyncio.create_task(lines[2][0].readuntil(b"\r\n\r\n"))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await asyncio.shield(third)
        lines[0][1].transport.abort()
        assert b"200" in await third
        for _, writer in lines:
            writer.transport.abort()


async def test_many_at_once_are_all_answered() -> None:
    limits = ProxyLimits(connections=8)
    async with served(echo) as port, proxied(Gate(LOOPBACK), limits=limits) as town:
        words = f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\nhello".encode()
        answers = await asyncio.gather(*(town.ask(words, close=True) for _ in range(60)))
        assert {answer[-5:] for answer in answers} == {b"hello"}


async def test_a_program_that_resets_its_connection_disturbs_nobody() -> None:
    async with served(echo) as port, proxied(Gate(LOOPBACK), limits=QUICK) as town:
        for words in (
            b"",
            b"\x05",
            b"GET http://",
            f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode(),
        ):
            with socket.create_connection((LOOPBACK, town.proxy.port)) as one:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                one.sendall(words)
        assert b"403" in await town.ask(b"CONNECT other.example:1 HTTP/1.1\r\n\r\n")


async def test_names_that_look_like_addresses_are_resolved_and_judged_again() -> None:
    # A gate that takes such a name for a name: the address it leads to is judged all the same.
    names = Names({"site.example": [["127.0.0.1"]]})
    async with proxied(Gate("site.example"), names) as town:
        assert b"403" in await town.ask(b"GET http://site.example/ HTTP/1.1\r\n\r\n")
        assert names.asked == ["site.example"]
