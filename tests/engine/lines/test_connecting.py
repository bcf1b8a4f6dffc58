"""Who wants a connection finds whoever takes it, or hears soon that nobody does."""

import anyio
import pytest
from engine.lines.connected import ADDRESSES, PATIENCE, PLACE, both_ends, lines_over
from interrupts import until

from holdfast.contract.bus import BusUnavailable
from holdfast.engine.lines.connecting import MOST_KNOCKING, NobodyThere
from holdfast.engine.lines.frames import Frame, Kind, bytes_of, frame_in, token_in
from holdfast.engine.lines.streams import BusStream
from holdfast.testing.fake_bus import FakeBus


async def test_where_nobody_listens_that_is_heard_at_once() -> None:
    bus = FakeBus()
    async with lines_over(bus) as lines:
        with anyio.fail_after(PATIENCE), pytest.raises(NobodyThere, match="nobody listens"):
            await lines.connect(PLACE, seconds=PATIENCE * 2)
    assert bus.subjects == []


async def test_where_nobody_answers_there_is_an_end_to_waiting() -> None:
    bus = FakeBus()
    await bus.subscribe(PLACE, lambda _subject, _data: None)
    async with lines_over(bus) as lines:
        with pytest.raises(NobodyThere, match="in time"):
            await lines.connect(PLACE, seconds=0.05)
    assert bus.subjects == [PLACE]


async def test_one_who_answers_in_another_version_counts_as_nobody() -> None:
    """Neither waits for the other without end."""
    bus = FakeBus()
    async with lines_over(bus) as lines, anyio.create_task_group() as group:

        def answer(_subject: str, data: bytes) -> None:
            opened = frame_in(data)
            assert opened is not None
            taken = bytes_of(Frame(Kind.TAKEN, 0, 16, b"0" * 32))
            newer = bytes([taken[0] + 1]) + taken[1:] + b"more"
            group.start_soon(bus.publish, ADDRESSES.stream(token_in(opened)), newer)

        await bus.subscribe(PLACE, answer)
        with pytest.raises(NobodyThere, match="in time"):
            await lines.connect(PLACE, seconds=0.1)


async def test_a_bus_that_is_down_says_so() -> None:
    bus = FakeBus()
    bus.down = True
    async with lines_over(bus) as lines:
        for asked in (lines.connect(PLACE), lines.serve(PLACE, _never)):
            with pytest.raises(BusUnavailable):
                await asked


def _never(_stream: BusStream) -> None:
    raise AssertionError


async def test_a_bus_that_breaks_in_the_middle_leaves_nothing_behind() -> None:
    bus = FakeBus()

    def breaks(_subject: str, data: bytes) -> bytes:
        bus.down = True
        return data

    bus.tamper = breaks
    async with lines_over(bus) as lines, anyio.create_task_group() as group:
        group.start_soon(lines.serve, PLACE, _never)
        await until(lambda: bus.subjects == [PLACE])
        with pytest.raises(NobodyThere):
            await lines.connect(PLACE, seconds=0.1)
        assert bus.subjects == [PLACE]
        group.cancel_scope.cancel()
    assert bus.subjects == []


async def test_who_knocks_with_anything_else_is_not_let_in() -> None:
    bus = FakeBus()
    async with lines_over(bus) as lines, both_ends(lines, lines) as (asked, taken):
        for message in (
            b"",
            b"garbage",
            bytes_of(Frame(Kind.HERE)),
            bytes_of(Frame(Kind.OPEN, data=b"hf.wake.default.high.x.ses_1")),
        ):
            before = len(bus.said)
            await bus.publish(PLACE, message)
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            assert len(bus.said) == before + 1  # nobody answers, wherever they wanted it
        await asked.send(b"as before")
        assert await taken.receive() == b"as before"


async def test_somebody_who_wants_a_connection_and_is_gone_harms_nobody() -> None:
    bus = FakeBus()
    taken: list[BusStream] = []
    async with lines_over(bus) as lines, anyio.create_task_group() as group:
        group.start_soon(lines.serve, PLACE, taken.append)
        await until(lambda: bus.subjects == [PLACE])
        with anyio.fail_after(PATIENCE):
            await bus.publish(PLACE, bytes_of(Frame(Kind.OPEN, 0, 16, b"0" * 32)))
            await until(lambda: bool(taken))
            with pytest.raises(anyio.BrokenResourceError, match="nobody is there"):
                await taken[0].receive()
            await taken[0].aclose()
            assert bus.subjects == [PLACE]
        group.cancel_scope.cancel()


async def test_a_flood_of_those_who_knock_is_cut() -> None:
    bus = FakeBus()
    taken: list[BusStream] = []

    async with lines_over(bus) as lines, anyio.create_task_group() as group:
        group.start_soon(lines.serve, PLACE, taken.append)
        await until(lambda: bus.subjects == [PLACE])
        knock = bytes_of(Frame(Kind.OPEN, 0, 16, b"0" * 32))
        for _ in range(MOST_KNOCKING * 3):
            bus.say(PLACE, knock)
        await until(lambda: len(taken) >= MOST_KNOCKING)
        for _ in range(MOST_KNOCKING):
            await anyio.lowlevel.checkpoint()
        assert len(taken) <= MOST_KNOCKING + 1
        group.cancel_scope.cancel()


async def test_whoever_closes_the_lines_closes_all_connections() -> None:
    bus = FakeBus()
    async with (
        lines_over(bus) as there,
        lines_over(bus) as here,
        both_ends(here, there) as (asked, taken),
    ):
        await here.close()
        with pytest.raises(anyio.ClosedResourceError):
            await asked.receive()
        with pytest.raises(anyio.EndOfStream):
            await taken.receive()


async def test_somebody_who_is_cancelled_while_they_knock_leaves_nothing() -> None:
    bus = FakeBus()
    await bus.subscribe(PLACE, lambda _subject, _data: None)
    async with lines_over(bus) as lines:
        with anyio.move_on_after(0.05) as waited:
            await lines.connect(PLACE)
        assert waited.cancelled_caught
    assert bus.subjects == [PLACE]
    assert ADDRESSES.namespace == "hf"
