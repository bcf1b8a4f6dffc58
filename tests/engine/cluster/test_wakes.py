"""Wakes over a real NATS: told, kept, put off, given up; who runs what, and in which turn."""

import anyio
import pytest
from engine.cluster.fleets import SELDOM, WORD, Fleet, soon, until, wake
from msgspec.structs import replace

from holdfast.contract.journal import Journal
from holdfast.contract.wake_events import WakesCompleted
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.cluster.announcing import Announcer
from holdfast.engine.cluster.dead import Dead, DeadSession
from holdfast.engine.cluster.hints import Hint
from holdfast.engine.cluster.lanes import Lanes
from holdfast.engine.cluster.streams import Streams
from holdfast.engine.cluster.subjects import ANY
from holdfast.testing.engine_kit import ToyRunner

pytestmark = pytest.mark.anyio

S = "ses_1"


class Held(ToyRunner):
    """Runs that last until they are let go."""

    def __init__(self, journal: Journal, holder: str = "kit") -> None:
        super().__init__(journal, holder)
        self.goes = anyio.Event()
        self.over: list[str] = []

    async def works(self, session_id: str) -> None:
        await self.goes.wait()
        self.over.append(session_id)


class InVain(ToyRunner):
    """Runs, and leaves everything as it was."""

    async def __call__(self, session_id: str, /) -> WakeEnd:
        self.order.append(session_id)
        await anyio.lowlevel.checkpoint()
        return WakeEnd(session_id=session_id, executed=True)


async def hints(fleet: Fleet, tenant: str, session_id: str) -> list[str]:
    """Subjects under which the servers keep something of a session."""
    names = fleet.link.names
    asked = (names.any_wake(tenant, session_id), names.later(tenant, session_id))
    found = [await fleet.link.last(names.wakes, one) for one in asked]
    return [one.subject.split(".")[1] for one in found if one is not None]


async def none_left(fleet: Fleet, session_id: str = S) -> None:
    with anyio.fail_after(10):
        while await hints(fleet, "one", session_id):  # noqa: ASYNC110 - a server tells nobody
            await anyio.sleep(0.01)


async def test_whoever_says_something_and_pokes_has_it_run(fleet: Fleet) -> None:
    runner = ToyRunner(fleet.journal)
    async with fleet.working(runner) as engine:
        await fleet.made(S, WORD)
        await anyio.to_thread.run_sync(engine.poke, S)
        await until(lambda: runner.order == [S])
        await none_left(fleet)
    assert (await fleet.journal.session(S)).state.pending == ()


async def test_what_nobody_told_is_found_by_looking(fleet: Fleet) -> None:
    """Its writer was killed before it could tell, or knew no NATS."""
    runner = ToyRunner(fleet.journal)
    async with fleet.working(runner, replace(SELDOM, look_seconds=0.05)):
        await fleet.made(S, WORD)
        await until(lambda: runner.order == [S])


async def test_a_hint_is_answered_when_its_run_has_ended_and_not_before(fleet: Fleet) -> None:
    runner = Held(fleet.journal)
    async with fleet.working(runner) as engine:
        await fleet.made(S, WORD)
        engine.poke(S)
        await until(lambda: runner.order == [S])
        assert await hints(fleet, "one", S) == ["wake"]
        runner.goes.set()
        await none_left(fleet)
    assert runner.over == [S]


async def test_a_hint_in_hand_is_kept_alive(fleet: Fleet) -> None:
    """It is in hand for longer than a silent worker may keep it, and nobody else is handed it."""
    pace = replace(SELDOM, ack_seconds=1.0)
    mine, others = Held(fleet.journal, "mine"), ToyRunner(fleet.journal, "other")
    async with fleet.working(mine, pace) as engine:
        await fleet.made(S, WORD)
        engine.poke(S)
        await until(lambda: mine.order == [S])
        async with fleet.another() as far, far.working(others, pace):
            await anyio.sleep(2.5)
            mine.goes.set()
            await none_left(fleet)
    assert (mine.over, others.order) == ([S], [])


async def test_what_is_due_later_is_run_then_and_not_a_moment_before(fleet: Fleet) -> None:
    ran: list[int] = []

    class Timed(ToyRunner):
        async def works(self, session_id: str) -> None:
            del session_id
            ran.append(fleet.clock.unix_ns())

    due = soon(fleet.clock, 1.3)
    async with fleet.working(Timed(fleet.journal)) as engine:
        await fleet.made(S, wake(due))
        engine.poke(S)
        await until(lambda: bool(ran))
    assert ran[0] >= int(due.timestamp() * 1_000_000) * 1000


async def test_a_wake_that_was_put_off_waits_for_its_new_time(fleet: Fleet) -> None:
    """The hint of before comes for nothing, or does not come: a later one replaces it."""
    runner = ToyRunner(fleet.journal)
    await fleet.made(S, wake(soon(fleet.clock, 1.0)))
    announcer = Announcer(fleet.link, fleet.tenant(runner), fleet.clock, SELDOM)
    async with fleet.working(runner):
        await announcer.tell_untold()
        over = WakesCompleted(queued_wake_ids=("qwk_1",), cancelled=True)
        later = soon(fleet.clock, 2.6)
        await fleet.journal.append(S, [over, wake(later, number=2)])
        await announcer.tell_untold()
        await until(lambda: runner.order == [S])
        assert fleet.clock.now() >= later


async def test_what_another_runs_is_tried_again_when_its_lease_ends(fleet: Fleet) -> None:
    runner = ToyRunner(fleet.journal)
    await fleet.made(S, WORD)
    announcer = Announcer(fleet.link, fleet.tenant(runner), fleet.clock, SELDOM)
    await announcer.tell_untold()
    lease = await fleet.journal.lease(S, "other", 3.2)
    async with fleet.working(runner):
        await until(lambda: runner.running.total() == 0 and S in runner.order)
        with anyio.fail_after(8):
            while (await fleet.journal.session(S)).state.pending:  # noqa: ASYNC110 - it tells nobody
                await anyio.sleep(0.01)
        passed = fleet.clock.unix_ns() // 1000 - lease.until_micros
    assert 0 <= passed < 1_000_000, "not within a second of the end of the lease"
    assert len(runner.order) <= 3, "it was tried again and again"


async def test_what_is_run_in_vain_goes_to_the_dead_and_can_be_sent_back(fleet: Fleet) -> None:
    runner = InVain(fleet.journal)
    dead = Dead(fleet.link)
    pace = replace(SELDOM, most_in_vain=2)

    async def listed() -> list[DeadSession]:
        return [one async for one in dead.all()]

    await fleet.made(S, WORD)
    async with fleet.working(runner, pace):
        with anyio.fail_after(12):
            while not await listed():  # noqa: ASYNC110 - it tells nobody
                await anyio.sleep(0.05)
        await none_left(fleet)
    (found,) = await listed()
    assert (found.tenant, found.session, found.times) == ("one", S, 2)
    assert found.why == "nothing came of its run"
    assert len(runner.order) == 2
    well = ToyRunner(fleet.journal)
    async with fleet.working(well, pace):
        assert await dead.requeue("one", S)
        await until(lambda: well.order == [S])
    assert await listed() == []
    assert not await dead.requeue("one", S)


async def test_what_a_run_raises_is_told_by_its_kind_alone(fleet: Fleet) -> None:
    """Its words may hold a secret: they are in the log of the worker, and in no message."""

    class Raises(ToyRunner):
        async def __call__(self, session_id: str, /) -> WakeEnd:
            await anyio.lowlevel.checkpoint()
            raise RuntimeError("the password is s3cret")

    async with fleet.working(Raises(fleet.journal), replace(SELDOM, most_in_vain=1)) as engine:
        await fleet.made(S, WORD)
        engine.poke(S)
        dead = Dead(fleet.link)
        with anyio.fail_after(8):
            while (found := await dead.of("one", S)) is None:  # noqa: ASYNC110 - it tells nobody
                await anyio.sleep(0.05)
    assert found.why == "its run raised RuntimeError"


async def test_a_session_that_ends_its_workers_goes_to_the_dead(fleet: Fleet) -> None:
    """Handed out again and again, and nobody ever came to its end."""
    runner = ToyRunner(fleet.journal)
    await fleet.made(S, WORD)
    tenant = fleet.tenant(runner)
    await Announcer(fleet.link, tenant, fleet.clock, SELDOM).tell_untold()
    pace = replace(SELDOM, ack_seconds=0.5)
    streams = Streams(fleet.link.names, 1, pace.ack_seconds, ("one",), (ANY,))
    came: list[Hint] = []
    lanes = Lanes(fleet.link, streams, fleet.clock, came.append)
    await lanes.open()
    lane = lanes.all[0]
    for times in (1, 2, 3):
        while len(came) < times:
            if not lane.waits_until:
                await lanes.wait_at(lane, 2.0)
            await anyio.sleep(0.01)
    await lanes.close()
    pace = replace(pace, most_in_vain=3)
    async with fleet.working(runner, pace):
        dead = Dead(fleet.link)
        with anyio.fail_after(8):
            while (found := await dead.of("one", S)) is None:  # noqa: ASYNC110 - it tells nobody
                await anyio.sleep(0.05)
    assert found.why == "its worker was gone before it ended"
    assert runner.order == []


async def test_labels_are_run_where_they_are_at_home(fleet: Fleet) -> None:
    plain, gpu = ToyRunner(fleet.journal, "plain"), ToyRunner(fleet.journal, "gpu")
    async with fleet.working(plain) as engine:
        await fleet.made("ses_gpu", WORD, label="gpu")
        await fleet.made("ses_any", WORD)
        engine.poke("ses_gpu")
        await until(lambda: plain.order == ["ses_any"])
        await none_left(fleet, "ses_any")
        assert await hints(fleet, "one", "ses_gpu") == ["wake"]
    async with fleet.working(gpu, replace(SELDOM, labels=("gpu",))) as engine:
        await until(lambda: gpu.order == ["ses_gpu"])
        await fleet.made("ses_more", WORD)
        engine.poke("ses_more")
        await until(lambda: gpu.order == ["ses_gpu", "ses_more"])
    assert plain.order == ["ses_any"]


async def test_a_worker_takes_no_more_than_it_runs(fleet: Fleet) -> None:
    """What it has no room for is there for others."""
    first, second = Held(fleet.journal, "first"), ToyRunner(fleet.journal, "second")
    names = [f"ses_{number}" for number in range(12)]
    for name in names:
        await fleet.made(name, WORD)
    async with fleet.working(first, replace(SELDOM, concurrency=3)) as engine:
        engine.poke(names[0])
        await until(lambda: len(first.order) == 3)
        async with fleet.another() as far, far.working(second):
            await until(lambda: len(second.order) == 9)
        assert len(first.order) == 3
        first.goes.set()
    assert sorted([*first.order, *second.order]) == sorted(names)
    assert first.most_at_once == 3
