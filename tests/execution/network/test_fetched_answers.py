"""Answers that `rt.net` gets: packed, long, broken, late; each has a defined end."""

import asyncio
import gzip
import socket

import pytest
from execution.network.reach import SOME, answer, moved, reach
from execution.network.town import LOOPBACK, Handler, Site, served

from holdfast.contract.errors import OperationTimedOut, Unavailable
from holdfast.contract.net import FetchLimits


async def test_what_is_packed_is_unpacked_and_its_headers_say_so() -> None:
    packed = gzip.compress(b"hello")
    async with served(Site(answer("200 OK", packed, "Content-Encoding: gzip"))) as port:
        reached = reach()
        page = await reached.net.fetch(f"http://127.0.0.1:{port}/")
        assert page.body == b"hello"
        assert page.headers == ()
        assert reached.told[-1].received == len(packed)


async def test_a_bomb_is_cut_off() -> None:
    bomb = gzip.compress(b"\0" * (50 << 20))
    async with served(Site(answer("200 OK", bomb, "Content-Encoding: gzip"))) as port:
        limits = FetchLimits(max_bytes=1000)
        page = await reach().net.fetch(f"http://127.0.0.1:{port}/", limits=limits)
        assert (page.body, page.truncated) == (b"\0" * 1000, True)


@pytest.mark.parametrize(("size", "truncated"), [(999, False), (1000, False), (1001, True)])
async def test_more_than_wanted_is_cut_and_said(size: int, truncated: bool) -> None:
    async with served(Site(answer("200 OK", b"x" * size))) as port:
        limits = FetchLimits(max_bytes=1000)
        page = await reach().net.fetch(f"http://127.0.0.1:{port}/", limits=limits)
        assert (len(page.body), page.truncated) == (min(size, 1000), truncated)


async def test_a_hundred_megabytes_are_not_read_when_one_is_wanted() -> None:
    written = 0

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {100 * SOME}\r\n\r\n".encode())
        for _ in range(100):
            writer.write(b"x" * SOME)
            written += SOME
            await writer.drain()

    async with served(pour) as port:
        limits = FetchLimits(max_bytes=SOME)
        page = await reach().net.fetch(f"http://127.0.0.1:{port}/", limits=limits)
        assert (len(page.body), page.truncated) == (SOME, True)
        assert written < 50 * SOME


async def test_a_head_answer_has_no_body() -> None:
    async with served(Site(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")) as port:
        page = await reach().net.fetch(f"http://127.0.0.1:{port}/", method="HEAD")
        assert (page.status, page.body) == (200, b"")


def _nobody() -> int:
    with socket.create_server((LOOPBACK, 0)) as listener:
        return listener.getsockname()[1]


async def test_whoever_is_not_there_is_unavailable() -> None:
    reached = reach(*("site.example", "gone.example", LOOPBACK, "127.0.0.3"))
    with pytest.raises(Unavailable, match=r"gone.example cannot be resolved \(Name or service"):
        await reached.net.fetch("http://gone.example/")
    with pytest.raises(Unavailable, match="cannot be connected to: Connection refused"):
        await reached.net.fetch(f"http://site.example:{_nobody()}/")
    assert [(told.decision, told.address, told.sent) for told in reached.told] == [
        ("allowed", None, 0)
    ] * 2
    assert "gone.example cannot be resolved" in str(reached.told[0].reason)


BROKEN: dict[str, bytes] = {
    "nothing": b"",
    "half a head": b"HTTP/1.1 200 OK\r\nX:",
    "half a body": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
    "half a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
    "no last chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
    "a chunk of nonsense": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n",
    "another protocol": b"220 mail.example ESMTP\r\n",
    "a head without end": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
    "a field without end": b"HTTP/1.1 200 OK\r\nX: " + b"y" * 20_000 + b"\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy",
    "not packed": answer("200 OK", b"plain", "Content-Encoding: gzip"),
    "half packed": answer("200 OK", gzip.compress(b"hello")[:-4], "Content-Encoding: gzip"),
}


@pytest.mark.parametrize("words", BROKEN.values(), ids=list(BROKEN))
async def test_a_broken_answer_is_unavailable_and_recorded(words: bytes) -> None:
    async with served(Site(words)) as port:
        reached = reach()
        with pytest.raises(Unavailable, match=f"127.0.0.1:{port} gave no answer: ") as problem:
            await reached.net.fetch(f"http://127.0.0.1:{port}/")
        assert problem.value.__cause__ is None
        assert reached.told[-1].reason
        assert reached.told[-1].sent == 0
        assert len(str(problem.value)) < 500


async def test_an_answer_in_chunks_is_whole() -> None:
    words = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nT: 1\r\n\r\n"
    )
    async with served(Site(words)) as port:
        page = await reach().net.fetch(f"http://127.0.0.1:{port}/")
        assert page.body == b"hello"


async def _silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def _dawdling(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


async def _circling(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    await asyncio.sleep(0.02)
    writer.write(moved("/again"))


@pytest.mark.parametrize("handler", [_silent, _dawdling, _circling])
async def test_time_is_limited_over_everything(handler: Handler) -> None:
    async with served(handler) as port:
        reached = reach()
        limits = FetchLimits(seconds=0.3, max_redirects=1000)
        with pytest.raises(OperationTimedOut, match=r"did not answer in full within 0.3 s"):
            await reached.net.fetch(f"http://127.0.0.1:{port}/", limits=limits)
        assert reached.told[-1].sent is not None
        assert reached.told[-1].reason == "it was given up"


async def test_a_cancelled_fetch_is_recorded_as_given_up() -> None:
    async with served(_silent) as port:
        reached = reach()
        fetching = asyncio.create_task(reached.net.fetch(f"http://127.0.0.1:{port}/"))
        while not reached.told:
            await asyncio.sleep(0.005)
        fetching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fetching
        assert [told.reason for told in reached.told] == [None, "it was given up"]
