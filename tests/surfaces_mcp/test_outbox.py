"""When an answer is written: at once if it is alone, with others in one piece if it is not."""

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager

import anyio
import pytest
from mcp_pipe import Piped

from holdfast.surfaces.mcp.streams import Outbox

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]


@contextmanager
def pipe() -> Generator[tuple[int, Outbox]]:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    outbox = Outbox(writing, lambda: None)
    try:
        yield reading, outbox
    finally:
        outbox.close()
        os.close(writing)
        os.close(reading)


def read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 20)
    except BlockingIOError:
        return b""


async def test_an_answer_that_nothing_follows_is_written_before_the_loop_goes_on() -> None:
    with pipe() as (reading, outbox):
        outbox.is_last = lambda: True
        outbox.finish(b"one")
        assert read(reading) == b"one\n"


async def test_what_stands_in_line_goes_first() -> None:
    with pipe() as (reading, outbox):
        outbox.is_last = lambda: True
        outbox.send(b"sign of life")
        outbox.finish(b"answer")
        assert read(reading) == b""
        await anyio.lowlevel.checkpoint()
        assert read(reading) == b"sign of life\nanswer\n"


async def test_answers_that_others_follow_are_written_together() -> None:
    with pipe() as (reading, outbox):
        for answer in (b"one", b"two"):
            outbox.finish(answer)
        assert read(reading) == b""
        await anyio.lowlevel.checkpoint()
        assert read(reading) == b"one\ntwo\n"


async def test_another_thread_does_not_write() -> None:
    with pipe() as (reading, outbox):
        outbox.is_last = lambda: True
        other = threading.Thread(target=outbox.finish, args=(b"from a thread",))
        other.start()
        other.join()  # the loop stands still meanwhile
        assert read(reading) == b""
        with anyio.fail_after(20):
            while not (received := read(reading)):
                await anyio.lowlevel.checkpoint()
        assert received == b"from a thread\n"


async def test_an_answer_that_has_no_room_is_written_when_there_is_some() -> None:
    with pipe() as (reading, outbox):
        outbox.is_last = lambda: True
        long = b"x" * 300_000
        outbox.finish(long)
        received = b""
        with anyio.fail_after(20):
            while len(received) <= len(long):
                received += read(reading)
                await anyio.lowlevel.checkpoint()
        assert received == long + b"\n"


async def test_what_was_written_at_once_is_not_counted_twice() -> None:
    with pipe() as (reading, outbox):
        outbox.is_last = lambda: True
        piece = b"x" * 1000
        for _ in range(4000):
            outbox.finish(piece)
            assert read(reading) == piece + b"\n"
        assert not outbox.is_full
        for _ in range(4400):
            outbox.send(piece)
        assert outbox.is_full


async def test_after_its_end_nothing_is_written() -> None:
    with pipe() as (reading, outbox):
        outbox.is_last = lambda: True
        outbox.close()
        outbox.finish(b"late")
        await anyio.lowlevel.checkpoint()
        assert read(reading) == b""


def test_thousands_of_lines_that_are_none_are_refused_one_by_one(piped: Piped) -> None:
    piped.greet()
    piped.write(b"1\n" * 20_000)
    codes = [piped.hear()["error"]["code"] for _ in range(20_000)]
    assert set(codes) == {-32600}
