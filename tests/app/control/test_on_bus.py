"""Answering on a bus: for each session as long as it runs, and whatever becomes of the bus."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import anyio
import msgspec
import pytest
from agents_at_work import at_work, home_of
from app.control.held import LEFT, Client, Held
from interrupts import until

from holdfast.app.control import client, connection, exchange, wire
from holdfast.app.control.client import NoSocket, Unreachable, owner_of, poke
from holdfast.app.control.exchange import hear_looks, joined, lines_of, say_look, stay_joined
from holdfast.app.control.serving import served
from holdfast.app.holders import process_name, this_process
from holdfast.app.settings import Surroundings
from holdfast.contract.bus import BusPlace, BusUnavailable, OpenedBus
from holdfast.contract.journal import Journal
from holdfast.engine.lines.frames import MOST_PIECE_BYTES
from holdfast.engine.lines.streams import BusStream
from holdfast.testing.fake_bus import FakeBus

pytestmark = pytest.mark.anyio
PATIENCE = 10.0


class Buses:
    """A bus that is joined again and again."""

    def __init__(self) -> None:
        self.bus = FakeBus()
        self.joined = 0
        self.left = 0
        self.hangs = False

    async def opened(self) -> OpenedBus:
        if self.hangs:
            await anyio.sleep_forever()
        await anyio.lowlevel.checkpoint()
        if self.bus.down:
            raise BusUnavailable("the bus is down")
        self.joined += 1
        return OpenedBus(self.bus, self.close)

    async def close(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.left += 1

    def around(self, root: Path, name: str = "here") -> Surroundings:
        place = BusPlace(name, "hf", self.opened)
        return msgspec.structs.replace(home_of(root), bus=place)

    def elsewhere(self, root: Path) -> Surroundings:
        """As another machine sees it, that has the same store and no socket."""
        away = self.around(root, "elsewhere")
        return msgspec.structs.replace(away, data_home=root / "nowhere")

    @property
    def answered(self) -> list[str]:
        """The sessions that somebody answers for."""
        heard = [one.split(".") for one in self.bus.subjects]
        return [one[3] for one in heard if one[1] == "process"]


@pytest.fixture(autouse=True)
def tries_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.app.control.on_bus.AGAIN_SECONDS", 0.01)
    monkeypatch.setattr(exchange, "AGAIN_SECONDS", 0.01)


class Far:
    """A session in the middle of a reply, and those who reach it by the bus."""

    def __init__(self, buses: Buses, root: Path, session: str, journal: Journal) -> None:
        self.buses = buses
        self.elsewhere = buses.elsewhere(root)
        self.session = session
        self.journal = journal

    async def holder(self) -> str:
        lease = (await self.journal.session(self.session)).lease
        assert lease is not None
        return lease.holder

    @asynccontextmanager
    async def stream(self) -> AsyncGenerator[BusStream]:
        assert self.elsewhere.bus is not None
        async with lines_of(self.elsewhere.bus) as lines:
            subject = lines.addresses.process(process_name(await self.holder()), self.session)
            async with await lines.connect(subject) as stream:
                yield stream


@asynccontextmanager
async def running(tmp_path: Path, buses: Buses) -> AsyncGenerator[Far]:
    model = Held()
    around = buses.around(tmp_path)
    with anyio.fail_after(PATIENCE):
        async with at_work(tmp_path, [], equipment={"model": model}, surroundings=around) as desk:
            log = desk.holdfast.parts.log
            assert log is not None
            async with anyio.create_task_group() as group:
                group.start_soon(desk.told, "go")
                await until(lambda: model.heard is not None)
                yield Far(buses, tmp_path, desk.session.id, await log.journal())
                model.goes.set()
            assert desk.session.last is not None
            assert desk.session.last.ended == "final_response"
    await until(lambda: buses.bus.subjects == [])
    assert buses.left == buses.joined


async def test_it_is_answered_for_while_it_runs_and_nothing_is_left(tmp_path: Path) -> None:
    buses = Buses()
    async with running(tmp_path, buses) as far:
        await until(lambda: buses.answered == [far.session])
        async with owner_of(far.session, await far.holder(), far.elsewhere) as owner:
            assert owner.process == this_process()
            (one,) = await owner.sessions()
            assert one.session_id == far.session


async def test_a_bus_that_is_down_is_joined_when_it_is_there_again(tmp_path: Path) -> None:
    buses = Buses()
    buses.bus.down = True
    async with running(tmp_path, buses) as far:
        with pytest.raises(Unreachable, match="the bus is down"):
            async with owner_of(far.session, await far.holder(), far.elsewhere):
                raise AssertionError
        async with joined(far.elsewhere) as lines:
            assert lines is None
        await say_look(far.session, far.elsewhere)  # nobody hears it, and nobody minds
        buses.bus.down = False
        await until(lambda: buses.answered == [far.session])


async def test_a_bus_that_goes_down_while_somebody_says_something_is_no_problem(
    tmp_path: Path,
) -> None:
    buses = Buses()
    away = buses.elsewhere(tmp_path)
    async with joined(away):
        buses.bus.down = True
        await say_look("ses_1", away)
    assert buses.bus.said == []


async def test_a_bus_that_does_not_answer_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "JOIN_SECONDS", 0.02)
    buses = Buses()
    buses.hangs = True
    around = buses.elsewhere(tmp_path)
    assert around.bus is not None
    with anyio.fail_after(PATIENCE), pytest.raises(BusUnavailable, match="in time"):
        async with lines_of(around.bus):
            raise AssertionError
    buses.hangs = False
    async with lines_of(around.bus) as one, lines_of(around.bus) as other:
        assert one is other
        assert (buses.joined, buses.left) == (1, 0)
    assert (buses.joined, buses.left) == (1, 1)


async def test_whoever_asks_for_a_session_that_does_not_run_there_hears_so(
    tmp_path: Path,
) -> None:
    buses = Buses()
    async with running(tmp_path, buses) as far:
        await until(lambda: buses.answered == [far.session])
        with pytest.raises(NoSocket, match="nobody listens there"):
            async with owner_of("ses_other", await far.holder(), far.elsewhere):
                raise AssertionError
        with pytest.raises(NoSocket):
            async with owner_of(far.session, "somewhere-else/7-7-ab", far.elsewhere):
                raise AssertionError


async def test_somebody_who_answers_for_another_is_not_believed(tmp_path: Path) -> None:
    buses = Buses()
    async with running(tmp_path, buses) as far:
        await until(lambda: buses.answered == [far.session])
        assert far.elsewhere.bus is not None
        async with lines_of(far.elsewhere.bus) as lines, anyio.create_task_group() as group:

            async def passed_on(theirs: BusStream) -> None:
                subject = lines.addresses.process(this_process(), far.session)
                async with theirs, await lines.connect(subject) as ours:
                    while True:
                        await ours.send(await theirs.receive())
                        await theirs.send(await ours.receive())

            def take(stream: BusStream) -> None:
                group.start_soon(swallowed, passed_on, stream)

            liar = lines.addresses.process("far/1-1", far.session)
            group.start_soon(lines.serve, liar, take)
            await until(lambda: liar in buses.bus.subjects)
            with pytest.raises(Unreachable, match="somebody else answers there"):
                async with owner_of(far.session, "far/1-1-ab", far.elsewhere):
                    raise AssertionError
            group.cancel_scope.cancel()


async def swallowed(work: Callable[[BusStream], Awaitable[None]], stream: BusStream) -> None:
    with suppress(*LEFT):
        await work(stream)


async def test_a_session_that_begins_beside_another_is_answered_for_too(tmp_path: Path) -> None:
    buses = Buses()
    async with running(tmp_path / "a", buses) as far:
        await until(lambda: buses.answered == [far.session])
        around = buses.around(tmp_path / "a")
        async with at_work(tmp_path / "a", ["done"], surroundings=around) as desk:
            with served(desk.session.window):
                await until(lambda: buses.answered == [far.session, desk.session.id])
            await until(lambda: buses.answered == [far.session])
            await desk.told("go")


async def test_what_was_written_elsewhere_is_looked_at_at_once(tmp_path: Path) -> None:
    buses = Buses()
    heard: list[str] = []
    async with running(tmp_path, buses) as far, anyio.create_task_group() as group:
        await until(lambda: buses.answered == [far.session])
        group.start_soon(hear_looks, far.elsewhere, heard.append)
        await until(lambda: "hf.look.*" in buses.bus.subjects)
        assert await poke(far.session, far.journal, far.elsewhere)
        assert heard == [far.session]
        await buses.bus.publish("hf.look.x", b"\xff")
        await buses.bus.publish(f"hf.look.{far.session}", b"ses_unknown")
        await buses.bus.publish(f"hf.look.{far.session}", b"\xff")
        assert heard == [far.session, "ses_unknown"]
        group.cancel_scope.cancel()
    for work in (hear_looks(home_of(tmp_path), heard.append), stay_joined(home_of(tmp_path))):
        await work  # there is no bus: nothing to wait for


async def test_whoever_runs_one_session_after_the_other_stays_on_the_bus(tmp_path: Path) -> None:
    buses = Buses()
    buses.bus.down = True
    around = buses.around(tmp_path)
    async with at_work(tmp_path, ["done"], surroundings=around) as desk:
        await desk.told("go")
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(partial(desk.holdfast.run_due, forever=True))
                await anyio.lowlevel.checkpoint()
                assert buses.joined == 0
                buses.bus.down = False
                await until(lambda: buses.joined == 1)
                assert buses.left == 0
                group.cancel_scope.cancel()
    assert buses.left == 1


async def test_whoever_writes_garbage_is_told_and_let_go(tmp_path: Path) -> None:
    buses = Buses()
    async with running(tmp_path, buses) as far:
        await until(lambda: buses.answered == [far.session])
        for garbage in (b"{}\n", b"\xff\xfe\n", b"x" * (wire.MOST_REQUEST_BYTES + 1)):
            async with far.stream() as stream:
                who = Client(stream)
                await who.writes(garbage)
                assert await who.refused() in {"malformed", "too_long"}
        async with owner_of(far.session, await far.holder(), far.elsewhere) as owner:
            assert len(await owner.sessions()) == 1


async def test_whoever_says_nothing_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "GREETING_SECONDS", 0.02)
    buses = Buses()
    async with running(tmp_path, buses) as far:
        await until(lambda: buses.answered == [far.session])
        async with far.stream() as stream:
            with pytest.raises(LEFT):
                await stream.receive()


async def test_whoever_does_not_read_holds_up_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SEND_SECONDS", 0.2)
    buses = Buses()
    async with running(tmp_path, buses) as far:
        await until(lambda: buses.answered == [far.session])
        async with far.stream() as stream:
            who = Client(stream)
            await who.writes(wire.Hello(version=wire.VERSION))
            many: list[wire.Request] = [wire.Sessions(id=number) for number in range(4000)]
            await floods(who, many)
            async with owner_of(far.session, await far.holder(), far.elsewhere) as owner:
                assert len(await owner.sessions()) == 1
        sizes = [len(one.data) for one in buses.bus.said]
        assert max(sizes) <= MOST_PIECE_BYTES + 18


async def floods(who: Client, many: list[wire.Request]) -> None:
    """Until they are let go."""
    with suppress(*LEFT):
        while True:
            await who.writes(*many)


async def test_more_windows_than_there_is_room_for_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.app.control.serving.MOST_CONNECTIONS", 1)
    monkeypatch.setattr(client, "ANSWER_SECONDS", PATIENCE)
    buses = Buses()
    async with running(tmp_path, buses) as far:
        await until(lambda: buses.answered == [far.session])
        async with owner_of(far.session, await far.holder(), far.elsewhere):
            with pytest.raises(Unreachable, match="1 windows are connected already"):
                async with owner_of(far.session, await far.holder(), far.elsewhere):
                    raise AssertionError
