"""Bytes over a bus: in their order, without a hole, and whoever does not read holds nobody up."""

from contextlib import suppress
from typing import Literal, get_args

import anyio
import pytest
from engine.lines.connected import FOR_EVER, PATIENCE, both_ends, lines_over
from hypothesis import given, settings
from hypothesis import strategies as st
from interrupts import until

from holdfast.contract.bus import BusUnavailable
from holdfast.engine.lines.frames import MOST_PIECE_BYTES, Frame, Kind, bytes_of, frame_in
from holdfast.engine.lines.streams import (
    MOST_ROOM,
    MOST_WAITING,
    BusStream,
    Incoming,
    pieces_of,
    to_nobody,
)
from holdfast.testing.fake_bus import FakeBus


@given(st.binary(max_size=200), st.integers(0, 3))
def test_pieces_are_all_of_it_in_order(tail: bytes, blocks: int) -> None:
    item = bytes(range(256)) * (MOST_PIECE_BYTES // 256) * blocks + tail
    pieces = list(pieces_of(item))
    assert b"".join(pieces) == item
    assert all(0 < len(piece) <= MOST_PIECE_BYTES for piece in pieces)


@given(
    st.lists(st.binary(min_size=1, max_size=20), max_size=MOST_WAITING),
    st.lists(st.integers(1, 30), min_size=1),
)
def test_what_came_in_order_is_read_in_order(pieces: list[bytes], sizes: list[int]) -> None:
    incoming = Incoming()
    for number, piece in enumerate(pieces):
        assert incoming.take(Frame(Kind.PIECE, number, 0, piece)) is None
    read = b""
    at = 0
    while found := incoming.read(sizes[at % len(sizes)]):
        assert len(found) <= sizes[at % len(sizes)]
        read += found
        at += 1
    assert read == b"".join(pieces)
    assert incoming.grant() == len(pieces) + MOST_WAITING


@given(st.lists(st.sampled_from(range(6)), max_size=12))
def test_a_hole_or_a_repetition_is_noticed_at_once(order: list[int]) -> None:
    incoming = Incoming()
    came: list[bytes] = []
    problem = None
    for number in order:
        data = f"{number};".encode()
        problem = incoming.take(Frame(Kind.PIECE, number, 0, data))
        if problem is not None:
            break
        came.append(data)
    right = [number for at, number in enumerate(order) if order[: at + 1] == list(range(at + 1))]
    assert came == [f"{number};".encode() for number in right]
    assert (problem is None) == (order == right)


async def test_both_ends_hear_what_the_other_one_says() -> None:
    async with lines_over(FakeBus()) as lines, both_ends(lines, lines) as (asked, taken):
        long = bytes(range(256)) * 1000
        async with anyio.create_task_group() as group:
            group.start_soon(asked.send, long)
            group.start_soon(taken.send, b"hello")
            heard = b""
            while len(heard) < len(long):
                heard += await taken.receive(1000)
            assert heard == long
            assert await asked.receive() == b"hello"


async def test_somebody_who_does_not_read_is_waited_for_and_nothing_piles_up() -> None:
    bus = FakeBus()
    async with lines_over(bus) as lines, both_ends(lines, lines) as (asked, taken):
        said_before = len(bus.said)
        async with anyio.create_task_group() as group:
            group.start_soon(asked.send, bytes(MOST_PIECE_BYTES) * 100)
            await until(lambda: len(bus.said) == said_before + MOST_WAITING)
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            assert len(bus.said) == said_before + MOST_WAITING
            heard = 0
            while heard < MOST_PIECE_BYTES * 100:
                heard += len(await taken.receive())
            assert heard == MOST_PIECE_BYTES * 100


async def test_what_was_said_before_the_end_is_read() -> None:
    async with lines_over(FakeBus()) as lines, both_ends(lines, lines) as (asked, taken):
        await asked.send(b"last words")
        await asked.send_eof()
        await asked.send_eof()
        with pytest.raises(anyio.ClosedResourceError):
            await asked.send(b"more")
        assert await taken.receive() == b"last words"
        with pytest.raises(anyio.EndOfStream):
            await taken.receive()
        await taken.send(b"an answer")
        assert await asked.receive() == b"an answer"


async def test_who_has_left_is_not_written_to_and_read_to_the_end() -> None:
    bus = FakeBus()
    async with lines_over(bus) as lines, both_ends(lines, lines) as (asked, taken):
        await asked.send(b"bye")
        await asked.aclose()
        await asked.aclose()
        with pytest.raises(anyio.BrokenResourceError):
            await taken.send(b"where are you")
        assert await taken.receive() == b"bye"
        with pytest.raises(anyio.EndOfStream):
            await taken.receive()
        for use in (asked.receive, lambda: asked.send(b"x")):
            with pytest.raises(anyio.ClosedResourceError):
                await use()
        await asked.send_eof()
    assert bus.subjects == []


async def test_a_reader_who_closes_is_woken() -> None:
    async with lines_over(FakeBus()) as lines, both_ends(lines, lines) as (asked, _):
        ended: list[type[Exception]] = []

        async def read() -> None:
            try:
                await asked.receive()
            except anyio.ClosedResourceError as problem:
                ended.append(type(problem))

        async with anyio.create_task_group() as group:
            group.start_soon(read)
            await anyio.lowlevel.checkpoint()
            await asked.aclose()
        assert ended == [anyio.ClosedResourceError]


async def test_a_writer_who_waits_for_room_hears_that_nobody_is_there() -> None:
    async with lines_over(FakeBus()) as lines, both_ends(lines, lines) as (asked, taken):
        broken: list[str] = []

        async def write() -> None:
            try:
                await asked.send(bytes(MOST_PIECE_BYTES) * 100)
            except anyio.BrokenResourceError as problem:
                broken.append(str(problem))

        async with anyio.create_task_group() as group:
            group.start_soon(write)
            for _ in range(100):
                await anyio.lowlevel.checkpoint()
            await taken.aclose()
        assert broken == ["the other end has left"]


async def test_a_lost_piece_ends_the_stream_with_whatever_comes_next() -> None:
    bus = FakeBus()
    async with lines_over(bus) as lines, both_ends(lines, lines) as (asked, taken):
        await asked.send(b"one")
        bus.tamper = lambda _subject, _data: None
        await asked.send(b"two")
        bus.tamper = None
        await asked.send(b"three")
        assert await taken.receive() == b"one"
        with pytest.raises(anyio.BrokenResourceError, match="1 pieces came"):
            await taken.receive()
        with pytest.raises(anyio.BrokenResourceError):
            await taken.send(b"x")


async def test_a_lost_last_piece_is_noticed_by_the_sign_of_life() -> None:
    bus = FakeBus()
    async with lines_over(bus) as lines, both_ends(lines, lines) as (asked, taken):
        bus.tamper = lambda _subject, _data: None
        await asked.send(b"one")
        bus.tamper = None
        await asked.live(FOR_EVER)
        with pytest.raises(anyio.BrokenResourceError):
            await taken.receive()


async def test_a_lost_end_is_told_again_by_the_sign_of_life() -> None:
    bus = FakeBus()
    async with lines_over(bus) as lines, both_ends(lines, lines) as (asked, taken):
        bus.tamper = lambda _subject, _data: None
        await asked.send_eof()
        bus.tamper = None
        await asked.live(FOR_EVER)
        with pytest.raises(anyio.EndOfStream):
            await taken.receive()


async def test_what_cannot_be_said_ends_the_stream() -> None:
    bus = FakeBus()
    async with lines_over(bus) as lines, both_ends(lines, lines) as (asked, _):
        bus.down = True
        with pytest.raises(anyio.BrokenResourceError, match="the bus is down"):
            await asked.send(b"x")
        await asked.send_eof()  # nothing more comes in any case
        bus.down = False


async def test_somebody_whose_end_is_gone_from_the_bus_is_noticed_at_once() -> None:
    bus = FakeBus()
    async with (
        lines_over(bus) as here,
        lines_over(bus) as there,
        both_ends(here, there) as (asked, taken),
    ):
        await taken.send(b"x")
        for subject in bus.subjects[-1:]:
            bus.cut(subject)
        await asked.live(FOR_EVER)
        assert await asked.receive() == b"x"
        with pytest.raises(anyio.BrokenResourceError, match="nobody is there"):
            await asked.receive()


async def test_somebody_who_says_nothing_for_long_counts_as_gone() -> None:
    bus = FakeBus()
    async with (
        lines_over(bus, beat=0.01, silence=0.2) as here,
        lines_over(bus) as there,
        both_ends(here, there) as (asked, _),
    ):
        with pytest.raises(anyio.BrokenResourceError, match="says nothing"):
            await asked.receive()
        await asked.live(0.2)


async def test_somebody_who_is_only_there_stays_connected() -> None:
    bus = FakeBus()
    async with (
        lines_over(bus, beat=0.01, silence=5.0) as lines,
        both_ends(lines, lines) as (asked, taken),
    ):
        said = len(bus.said)
        await until(lambda: len(bus.said) > said + 20)
        await asked.send(b"still here")
        assert await taken.receive() == b"still here"


_HOSTILE = [
    b"x",
    bytes(18),
    b"\xff" * 1000,
    bytes_of(Frame(Kind.OPEN, data=b"0" * 32)),
    bytes_of(Frame(Kind.TAKEN, data=b"0" * 32)),
    bytes_of(Frame(Kind.PIECE, data=bytes(MOST_PIECE_BYTES + 1))),
]
_WRONG = [
    bytes_of(Frame(Kind.PIECE, 7, 16, b"x")),
    bytes_of(Frame(Kind.PIECE, 2**64 - 1, 16, b"x")),
    bytes_of(Frame(Kind.HERE, 1, 16)),
    bytes_of(Frame(Kind.END, 2**63, 16)),
    bytes_of(Frame(Kind.HERE, 0, 2**64 - 1)),
    bytes_of(Frame(Kind.HERE, 0, MOST_ROOM + 1)),
]


async def test_what_is_no_frame_is_not_heard() -> None:
    async with lines_over(FakeBus()) as lines, both_ends(lines, lines) as (asked, taken):
        for message in _HOSTILE:
            asked.hear(message)
        await taken.send(b"as before")
        assert await asked.receive() == b"as before"


@pytest.mark.parametrize("message", _WRONG)
async def test_a_wrong_number_ends_the_stream(message: bytes) -> None:
    async with lines_over(FakeBus()) as lines, both_ends(lines, lines) as (asked, _):
        asked.hear(message)
        with pytest.raises(anyio.BrokenResourceError):
            await asked.receive()
        asked.hear(bytes_of(Frame(Kind.PIECE, 0, 16, b"late")))
        with pytest.raises(anyio.BrokenResourceError):
            await asked.receive()


async def test_more_than_was_asked_for_and_more_behind_the_end_are_refused() -> None:
    incoming = Incoming()
    for number in range(MOST_WAITING):
        assert incoming.take(Frame(Kind.PIECE, number, 0, b"x")) is None
    assert incoming.take(Frame(Kind.PIECE, MOST_WAITING, 0, b"x")) == (
        "more came than was asked for"
    )
    ended = Incoming()
    assert ended.take(Frame(Kind.END, 0, 0)) is None
    assert ended.take(Frame(Kind.PIECE, 0, 0, b"x")) == "more came behind the end"


@given(st.lists(st.one_of(st.binary(max_size=60), st.sampled_from(_HOSTILE + _WRONG))))
def test_whatever_is_heard_nobody_crashes_and_nobody_hangs(messages: list[bytes]) -> None:
    async def hear() -> None:
        async with lines_over(FakeBus()) as lines, both_ends(lines, lines) as (asked, taken):
            for message in messages:
                asked.hear(message)
            try:
                await asked.send(b"x")
                await taken.send(b"y")
                await asked.receive()
            except (anyio.BrokenResourceError, anyio.EndOfStream):
                pass

    anyio.run(hear)


_Fate = Literal["arrives", "is lost", "comes twice", "is garbled"]


@settings(max_examples=60)
@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=30),
    st.lists(st.sampled_from(get_args(_Fate)), max_size=40),
)
def test_whatever_a_bus_does_what_is_read_is_the_beginning_of_what_was_sent(
    items: list[bytes], fates: list[_Fate]
) -> None:
    async def run() -> None:
        bus = FakeBus()
        async with (
            lines_over(bus, beat=0.01, silence=0.2) as lines,
            both_ends(lines, lines) as (asked, taken),
        ):
            left = list(fates)

            def tamper(subject: str, data: bytes) -> bytes | None:
                fate = left.pop(0) if left else "arrives"
                if fate == "comes twice":
                    bus.say(subject, data)
                return {"is lost": None, "is garbled": data[::-1]}.get(fate, data)

            bus.tamper = tamper
            read, ended = bytearray(), False
            async with anyio.create_task_group() as group:
                group.start_soon(_send_all, asked, items)
                try:
                    while True:
                        read += await taken.receive()
                except anyio.EndOfStream:
                    ended = True
                except anyio.BrokenResourceError:
                    await taken.aclose()
            bus.tamper = None
            sent = b"".join(items)
            assert sent.startswith(bytes(read))
            assert bytes(read) == sent or not ended

    anyio.run(run)


async def _send_all(stream: BusStream, items: list[bytes]) -> None:
    with suppress(anyio.BrokenResourceError):
        for item in items:
            await stream.send(item)
    await stream.send_eof()


async def test_a_stream_that_has_not_begun_says_nothing() -> None:
    with pytest.raises(BusUnavailable):
        await to_nobody(b"x")

    async def left() -> None:
        await anyio.lowlevel.checkpoint()

    stream = BusStream(left)
    with anyio.fail_after(PATIENCE):
        await stream.aclose()
    assert frame_in(b"") is None
