"""Several tenants on one worker, and what is told again: on stores in memory and a real NATS."""

import logging
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import anyio
import pytest
from engine.cluster.fleets import SELDOM, WORD, running, soon, until, wake
from msgspec.structs import replace

from holdfast.contract.events import EventsProcessed, SessionCreated
from holdfast.contract.journal import JournalUnavailable, Session
from holdfast.contract.ports import Clock
from holdfast.contract.wakes import WakeEnd, WakeRunner
from holdfast.engine.cluster.announcing import Announcer
from holdfast.engine.cluster.dead import Dead
from holdfast.engine.cluster.engine import ClusterEngine
from holdfast.engine.cluster.link import Link
from holdfast.engine.cluster.subjects import CLASSES, WakeSubject
from holdfast.engine.cluster.sweeping import Sweeper
from holdfast.engine.cluster.tenants import ClusterPace, Tenant
from holdfast.runtime.clock import SystemClock
from holdfast.testing.engine_kit import ToyRunner
from holdfast.testing.fake_outbox import FakeOutbox

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()
CREATED = SessionCreated(agent_id="kit")
ONE_AT_ONCE = replace(SELDOM, concurrency=1)


class Broken(FakeOutbox):
    """A store that cannot be read at times."""

    is_gone = False

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.asked_in_vain: set[str] = set()

    async def standing(self, session_ids: Collection[str], /) -> Mapping[str, Session]:
        if self.is_gone:
            self.asked_in_vain |= {one for one in session_ids if one}
            raise JournalUnavailable("the server went away")
        return await super().standing(session_ids)

    async def untold(
        self, now_micros: int, before_micros: int, /, *, limit: int
    ) -> tuple[Session, ...]:
        if self.is_gone:
            raise JournalUnavailable("the server went away")
        return await super().untold(now_micros, before_micros, limit=limit)


@asynccontextmanager
async def stores(count: int) -> AsyncGenerator[list[Broken]]:
    made = [Broken(CLOCK) for _ in range(count)]
    yield made
    for one in made:
        await one.close()


def tenant(name: str, store: FakeOutbox, runner: WakeRunner | None = None) -> Tenant:
    return Tenant(name=name, journal=store, outbox=store, runner=runner or ToyRunner(store, name))


def announcer(link: Link, of: Tenant, pace: ClusterPace = SELDOM) -> Announcer:
    return Announcer(link, of, CLOCK, pace)


async def test_a_tenant_with_a_long_queue_has_its_turn_and_no_more(link: Link) -> None:
    order: list[str] = []

    class Noted(ToyRunner):
        async def works(self, session_id: str) -> None:
            order.append(session_id)
            await anyio.lowlevel.checkpoint()

    async with stores(3) as (long, short, other):
        for number in range(20):
            await long.create(f"ses_long_{number:02}", [CREATED, WORD])
        await short.create("ses_short", [CREATED, WORD])
        await other.create("ses_other", [CREATED, WORD])
        of = [
            tenant(name, store, Noted(store, name))
            for name, store in (("long", long), ("short", short), ("other", other))
        ]
        for one in of:
            await announcer(link, one).tell_untold()
        engine = ClusterEngine(link, of, CLOCK, ONE_AT_ONCE)
        assert await engine.run_until_idle() == 22
    assert {"ses_short", "ses_other"} <= set(order[:3]), order
    assert order[3:] == sorted(order[3:])


async def test_room_is_shared_among_tenants(link: Link) -> None:
    """No single one fills all of it while others wait."""
    async with stores(2) as (first, second):
        for store in (first, second):
            for number in range(6):
                await store.create(f"ses_{number}", [CREATED, WORD])
        goes = anyio.Event()
        begun: list[str] = []

        class Waiting(ToyRunner):
            def __init__(self, store: FakeOutbox, name: str) -> None:
                super().__init__(store, name)
                self._name = name

            async def works(self, session_id: str) -> None:
                begun.append(self._name)
                await goes.wait()

        of = [
            tenant(name, store, Waiting(store, name))
            for name, store in (("first", first), ("second", second))
        ]
        for one in of:
            await announcer(link, one).tell_untold()
        engine = ClusterEngine(link, of, CLOCK, replace(SELDOM, concurrency=4))
        async with running(engine):
            await until(lambda: len(begun) == 4)
            assert sorted(begun) == ["first", "first", "second", "second"]
            goes.set()
            await until(lambda: len(begun) == 12)


async def test_a_store_that_cannot_be_read_keeps_no_other_tenant_waiting(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    async with stores(2) as (broken, well):
        runner, other = ToyRunner(well, "well"), ToyRunner(broken, "broken")
        of = [tenant("broken", broken, other), tenant("well", well, runner)]
        names = [f"ses_{number}" for number in range(1, 9)]
        for name in names:
            await broken.create(name, [CREATED, WORD])
        await announcer(link, of[0]).tell_untold()
        broken.is_gone = True
        with caplog.at_level(logging.WARNING, "holdfast"):
            async with running(ClusterEngine(link, of, CLOCK, ONE_AT_ONCE)) as engine:
                for number in range(3):
                    await well.create(f"ses_{number}", [CREATED, WORD])
                    engine.poke(f"ses_{number}")
                    await until(lambda most=number: len(runner.order) > most)
                assert other.order == []
                # By one of its sessions it is known, and by one that had come before that was.
                assert len(broken.asked_in_vain) <= 4, "it was asked for each of its sessions"
                broken.is_gone = False
                await until(lambda: sorted(other.order) == names)
    assert any("the server went away" in one.message for one in caplog.records)


async def test_what_a_run_is_talked_to_is_run_behind_others(link: Link) -> None:
    """A session that always has something new gives way to those that wait."""
    async with stores(1) as (store,):

        class Talked(ToyRunner):
            async def works(self, session_id: str) -> None:
                if session_id == "ses_1" and self.order.count("ses_1") < 3:
                    await store.append(session_id, [WORD])

        runner = Talked(store)
        for number in (1, 2):
            await store.create(f"ses_{number}", [CREATED, WORD])
        engine = ClusterEngine(link, [tenant("one", store, runner)], CLOCK, ONE_AT_ONCE)
        assert await engine.run_until_idle() == 4
    assert runner.order == ["ses_1", "ses_2", "ses_1", "ses_1"]


async def test_a_lost_hint_is_told_again_and_one_that_is_there_is_not(link: Link) -> None:
    async with stores(1) as (store,):
        of = tenant("one", store)
        tells = announcer(link, of)
        sweeper = Sweeper(link, of, tells, CLOCK)
        await store.create("ses_1", [CREATED, WORD])
        await store.create("ses_2", [CREATED, wake(datetime(2000, 1, 1, tzinfo=UTC))])
        await tells.tell_untold()
        assert await sweeper.sweep(0) == 0, "their hints are there"
        kept = await link.last(link.names.wakes, link.names.any_wake("one", "ses_1"))
        assert kept is not None
        await link.remove(link.names.wakes, kept.seq)
        assert await sweeper.sweep(0) == 1
        assert await sweeper.sweep(0) == 0
        engine = ClusterEngine(link, [of], CLOCK, SELDOM)
        assert await engine.run_until_idle() == 2
        assert await sweeper.sweep(0) == 0


async def test_what_is_given_up_is_not_told_again_until_something_happens(link: Link) -> None:
    async with stores(1) as (store,):
        of = tenant("one", store)
        sweeper = Sweeper(link, of, announcer(link, of), CLOCK)
        await store.create("ses_1", [CREATED, WORD])
        (session,) = await store.untold(0, 1, limit=9)
        await store.told([session])
        dead = Dead(link)
        to = WakeSubject("one", "word", "any", "ses_1")
        await link.have(dead.streams)
        await dead.bury(to, session, "nothing came of its run", 5, 0)
        assert await sweeper.sweep(0) == 0
        await store.append("ses_1", [WORD])
        assert await sweeper.sweep(0) == 1
        assert await dead.of("one", "ses_1") is None


async def test_a_sweep_goes_through_all_page_by_page(
    link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.engine.cluster.sweeping.PAGE", 2)
    async with stores(1) as (store,):
        of = tenant("one", store)
        tells = announcer(link, of)
        await link.have(Dead(link).streams)
        sweeper = Sweeper(link, of, tells, CLOCK)
        for number in range(5):
            await store.create(f"ses_{number}", [CREATED, WORD])
        await store.told(await store.untold(0, 1, limit=9))
        assert [await sweeper.sweep(0) for _ in range(3)] == [2, 2, 1]
        assert await sweeper.sweep(0) == 0


async def test_the_sweeper_goes_on_whatever_it_meets(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class Gone(FakeOutbox):
        asked = 0

        async def overdue(
            self, now_micros: int, before_micros: int, /, *, after: str, limit: int
        ) -> tuple[Session, ...]:
            self.asked += 1
            raise JournalUnavailable("the disk is gone")

    store = Gone(CLOCK)
    of = tenant("one", store)
    sweeper = Sweeper(link, of, announcer(link, of), CLOCK)
    async with anyio.create_task_group() as group:
        with caplog.at_level(logging.WARNING, "holdfast"):
            group.start_soon(sweeper.run, replace(SELDOM, sweep_seconds=0.01))
            await until(lambda: store.asked > 2)
        sweeper.stop()
    assert "the disk is gone" in caplog.text
    await store.close()


async def test_a_hint_for_nothing_runs_nothing(link: Link) -> None:
    """Its session is gone, was run by another, or was put off."""
    async with stores(1) as (store,):
        runner = ToyRunner(store)
        of = tenant("one", store, runner)
        tells = announcer(link, of)
        for name in ("ses_gone", "ses_over", "ses_well"):
            await store.create(name, [CREATED, WORD])
        await tells.tell_untold()
        await store.archive.delete("ses_gone")
        state = (await store.session("ses_over")).state
        await store.append("ses_over", [EventsProcessed(event_ids=state.pending)])
        engine = ClusterEngine(link, [of], CLOCK, SELDOM)
        assert await engine.run_until_idle() == 1
        assert runner.order == ["ses_well"]
        for name in ("ses_gone", "ses_over", "ses_well"):
            assert await link.last(link.names.wakes, link.names.any_wake("one", name)) is None


async def test_a_session_whose_name_is_too_long_keeps_no_other_from_being_told(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    async with stores(1) as (store,):
        runner = ToyRunner(store)
        of = tenant("one", store, runner)
        odd = SessionCreated(agent_id="kit", metadata={"runs_on": "x" * 300})
        await store.create("ses_odd", [odd, WORD])
        await store.create("ses_well", [CREATED, WORD])
        engine = ClusterEngine(link, [of], CLOCK, SELDOM)
        with caplog.at_level(logging.WARNING, "holdfast"):
            engine.poke("ses_odd")
            assert await engine.run_until_idle() == 1
    assert "session ses_odd cannot be told of: a name of 300 bytes is too long" in caplog.text


async def test_what_no_worker_knows_is_given_up_with_that_word(link: Link) -> None:
    class NotOurs(ToyRunner):
        async def __call__(self, session_id: str, /) -> WakeEnd:
            await anyio.lowlevel.checkpoint()
            return WakeEnd(session_id=session_id, executed=False, reason="not_ours")

    class Fails(ToyRunner):
        async def __call__(self, session_id: str, /) -> WakeEnd:
            await anyio.lowlevel.checkpoint()
            return WakeEnd(session_id=session_id, executed=True, ended="failed", problem="x")

    async with stores(2) as (first, second):
        for store in (first, second):
            await store.create("ses_1", [CREATED, WORD])
        of = [tenant("a", first, NotOurs(first)), tenant("b", second, Fails(second))]
        await ClusterEngine(link, of, CLOCK, replace(SELDOM, most_in_vain=1)).run_until_idle()
        found = {one.tenant: one.why async for one in Dead(link).all()}
    assert found == {
        "a": "no worker that had it knows its agent",
        "b": "its run failed; see what the session says",
    }


async def test_a_store_that_cannot_be_read_is_told_to_whoever_waits_for_idle(link: Link) -> None:
    async with stores(1) as (store,):
        store.is_gone = True
        engine = ClusterEngine(link, [tenant("one", store)], CLOCK, SELDOM)
        with pytest.raises(JournalUnavailable):
            await engine.run_until_idle()


async def test_a_run_that_queues_its_next_one_is_run_again_in_time(link: Link) -> None:
    """Nobody looks: who ran it tells what is due later."""
    async with stores(1) as (store,):
        due: list[datetime] = []

        class Sleeps(ToyRunner):
            async def works(self, session_id: str) -> None:
                if not due:
                    due.append(soon(CLOCK, 2.2))
                    await store.append(session_id, [wake(due[0])])

        runner = Sleeps(store)
        of = tenant("one", store, runner)
        await store.create("ses_1", [CREATED, WORD])
        async with running(ClusterEngine(link, [of], CLOCK, SELDOM)):
            await until(lambda: len(runner.order) == 2)
            assert CLOCK.now() >= due[0]
        assert (await store.session("ses_1")).state.wakes == ()


async def test_a_server_that_says_too_early_that_there_is_nothing_is_not_believed(
    link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may not have seen yet what it has kept."""
    client, hastily = link.client, list(range(len(CLASSES)))
    publish = client.publish

    async def published(
        subject: str, body: bytes = b"", /, *, reply: str = "", headers: Mapping[str, str]
    ) -> None:
        if b"no_wait" in body and hastily:
            hastily.pop()
            nothing = {"Status": "404", "Description": "No Messages"}
            await publish(reply, b"", headers=nothing)
            return
        await publish(subject, body, reply=reply, headers=headers)

    monkeypatch.setattr(client, "publish", published)
    async with stores(1) as (store,):
        await store.create("ses_1", [CREATED, WORD])
        engine = ClusterEngine(link, [tenant("one", store)], CLOCK, SELDOM)
        assert await engine.run_until_idle() == 1
    assert not hastily
