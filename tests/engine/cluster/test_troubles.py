"""What goes wrong around a hint: nothing of it ends a worker, and no wake is lost by it."""

import logging
from collections.abc import Collection, Mapping

import anyio
import pytest
from engine.cluster.fleets import SELDOM, WORD, running, until
from msgspec.structs import replace

from holdfast.contract.events import EventsProcessed, SessionCreated
from holdfast.contract.journal import JournalUnavailable, JournalUnusable, Session, StaleEpoch
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.cluster.announcing import Announcer
from holdfast.engine.cluster.attending import Attending
from holdfast.engine.cluster.dead import Dead
from holdfast.engine.cluster.door import LinkError
from holdfast.engine.cluster.engine import ClusterEngine
from holdfast.engine.cluster.hints import Hint
from holdfast.engine.cluster.lanes import Lanes
from holdfast.engine.cluster.link import Link
from holdfast.engine.cluster.looking import Looks
from holdfast.engine.cluster.streams import Streams
from holdfast.engine.cluster.subjects import ANY
from holdfast.engine.cluster.tenants import Tenant
from holdfast.runtime.clock import SystemClock
from holdfast.testing.engine_kit import ToyRunner
from holdfast.testing.fake_outbox import FakeOutbox
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio

S = "ses_1"
CLOCK = SystemClock()
CREATED = SessionCreated(agent_id="kit")


def tenant(store: FakeOutbox, runner: ToyRunner | None = None) -> Tenant:
    return Tenant(name="one", journal=store, outbox=store, runner=runner or ToyRunner(store))


async def taken(link: Link, store: FakeOutbox, clock: FakeClock | SystemClock = CLOCK) -> Hint:
    """The hint of one session, as a worker has it."""
    await store.create(S, [CREATED, WORD])
    await Announcer(link, tenant(store), CLOCK, SELDOM).tell_untold()
    came: list[Hint] = []
    streams = Streams(link.names, 1, SELDOM.ack_seconds, ("one",), (ANY,))
    lanes = Lanes(link, streams, clock, came.append)
    await lanes.open()
    assert await lanes.ask(lanes.all[0], 1)
    await lanes.close()
    return came[0]


async def kept(link: Link) -> bool:
    return await link.last(link.names.wakes, link.names.any_wake("one", S)) is not None


async def later(link: Link) -> bool:
    return await link.last(link.names.wakes, link.names.later("one", S)) is not None


async def test_a_worker_that_stood_still_leaves_its_hint_to_the_one_that_has_it_now(
    link: Link, store: FakeOutbox
) -> None:
    """It would take it away from under the other one."""
    clock = FakeClock()
    hint = await taken(link, store, clock)

    class StoodStill(ToyRunner):
        async def __call__(self, session_id: str, /) -> WakeEnd:
            clock.advance(SELDOM.ack_seconds + 1)
            await attending.keep(hint)
            return WakeEnd(session_id=session_id, executed=True)

    attending = Attending(link, tenant(store, StoodStill(store)), clock, SELDOM)
    attended = await attending.attend(hint)
    assert attended.executed
    await link.client.request("$JS.API.INFO", b"", {}, 5)
    assert await kept(link)
    assert not await later(link)


async def test_a_session_that_is_given_up_under_a_lost_hint_is_not(
    link: Link, store: FakeOutbox
) -> None:
    clock = FakeClock()
    hint = await taken(link, store, clock)
    hint.vain = 9
    clock.advance(SELDOM.ack_seconds + 1)
    attending = Attending(link, tenant(store), clock, SELDOM)
    await attending.attend(hint)
    assert await kept(link)
    assert [one async for one in Dead(link).all()] == []


async def test_a_session_that_somebody_runs_is_not_given_up(link: Link, store: FakeOutbox) -> None:
    """Its hint came again and again while the connection was bad."""
    hint = await taken(link, store)
    hint.vain = 9
    await store.lease(S, "other", 60)
    await Attending(link, tenant(store), CLOCK, SELDOM).attend(hint)
    assert [one async for one in Dead(link).all()] == []
    assert await later(link)


@pytest.mark.parametrize(
    ("problem", "gives_up"),
    [
        (JournalUnavailable("the server's disk is full"), False),
        (StaleEpoch("session ses_1 is run by another since"), False),
        (JournalUnusable("session ses_1 is damaged"), True),
        (ValueError("a flaw of its agent"), True),
    ],
)
async def test_a_session_is_not_given_up_for_what_its_store_cannot_do_now(
    link: Link, store: FakeOutbox, problem: Exception, gives_up: bool
) -> None:
    """A disk that is full for a minute would give up all that is due meanwhile."""

    class Unwritten(ToyRunner):
        async def __call__(self, session_id: str, /) -> WakeEnd:
            raise problem

    hint = await taken(link, store)
    hint.vain = SELDOM.most_in_vain - 1
    await Attending(link, tenant(store, Unwritten(store)), CLOCK, SELDOM).attend(hint)
    assert [one.session async for one in Dead(link).all()] == ([S] if gives_up else [])
    assert await later(link) != gives_up


async def test_what_one_has_no_room_for_is_given_back_as_it_is(
    link: Link, store: FakeOutbox
) -> None:
    hint = await taken(link, store)
    hint.vain = 2
    await Attending(link, tenant(store), CLOCK, SELDOM).give_back(hint)
    came: list[Hint] = []
    streams = Streams(link.names, 1, SELDOM.ack_seconds, ("one",), (ANY,))
    lanes = Lanes(link, streams, CLOCK, came.append)
    await lanes.open()
    assert not await lanes.ask(lanes.all[0], 5)
    await lanes.close()
    assert [one.vain for one in came] == [2]


async def test_a_full_worker_gives_back_what_came_by_itself(link: Link, store: FakeOutbox) -> None:
    """More lanes wait than there is room: what comes for one of them is not kept from others."""
    goes = anyio.Event()

    class Waiting(ToyRunner):
        async def works(self, session_id: str) -> None:
            del session_id
            await goes.wait()

    first, second = Waiting(store, "first"), ToyRunner(store, "second")
    one_at_once = replace(SELDOM, concurrency=1)
    urgent = SessionCreated(agent_id="kit", metadata={"runs_on": "gpu"})
    async with running(
        ClusterEngine(link, [tenant(store, first)], CLOCK, replace(one_at_once, labels=("gpu",)))
    ) as engine:
        await until(lambda: engine.is_waiting)
        await store.create(S, [CREATED, WORD])
        engine.poke(S)
        await until(lambda: first.order == [S])
        await store.create("ses_2", [urgent, WORD])
        engine.poke("ses_2")
        pace = replace(one_at_once, labels=("gpu",))
        async with running(ClusterEngine(link, [tenant(store, second)], CLOCK, pace)):
            await until(lambda: second.order == ["ses_2"])
        goes.set()


async def test_where_nats_cannot_be_told_the_hint_comes_again(
    link: Link, store: FakeOutbox, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class InVain(ToyRunner):
        async def __call__(self, session_id: str, /) -> WakeEnd:
            self.order.append(session_id)
            await anyio.lowlevel.checkpoint()
            return WakeEnd(session_id=session_id, executed=True)

    runner = InVain(store)
    await store.create(S, [CREATED, WORD])
    engine = ClusterEngine(link, [tenant(store, runner)], CLOCK, SELDOM)
    await Announcer(link, tenant(store), CLOCK, SELDOM).tell_untold()

    told = Link.tell

    async def tell(link: Link, subject: str, body: bytes, headers: Mapping[str, str]) -> None:
        if ".later." in subject:
            raise LinkError("the disk of the server is full")
        await told(link, subject, body, headers)

    monkeypatch.setattr(Link, "tell", tell)
    with caplog.at_level(logging.WARNING, "holdfast"):
        assert await engine.run_until_idle() == 0
    assert {*runner.order} == {S}
    assert await kept(link)
    assert "its hint comes again" in caplog.text


async def test_an_announcer_tries_again_what_it_could_not_tell(
    link: Link, store: FakeOutbox, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("holdfast.engine.cluster.announcing._FIRST_SECONDS", 0.01)
    told = Link.tell
    tries: list[str] = []

    async def tell(link: Link, subject: str, body: bytes, headers: Mapping[str, str]) -> None:
        tries.append(subject)
        if len(tries) < 3:
            raise LinkError("no leader")
        await told(link, subject, body, headers)

    monkeypatch.setattr(Link, "tell", tell)
    await store.create(S, [CREATED, WORD])
    await store.told(await store.untold(0, 1, limit=9))
    announcer = Announcer(link, tenant(store), CLOCK, SELDOM)
    announcer.poke(S)
    with caplog.at_level(logging.WARNING, "holdfast"):
        async with anyio.create_task_group() as group:
            group.start_soon(announcer.run)
            await until(lambda: len(tries) == 3)
            announcer.stop()
    assert await kept(link)
    assert "what is due is not told: no leader; trying again later" in caplog.text


async def test_what_became_due_for_nobody_is_not_told(link: Link, store: FakeOutbox) -> None:
    """It was taken into account between the look and the word."""
    await store.create(S, [CREATED, WORD])
    (before,) = await store.untold(0, 1, limit=9)
    state = (await store.session(S)).state
    await store.append(S, [EventsProcessed(event_ids=state.pending)])
    announcer = Announcer(link, tenant(store), CLOCK, SELDOM)
    now = (await store.standing([S]))[S]
    await announcer.tell([now])
    assert not await kept(link)
    await announcer.tell([before])
    assert await store.untold(0, 1, limit=9) == ()


class Slow(FakeOutbox):
    """Answers when it is let."""

    def __init__(self) -> None:
        super().__init__(CLOCK)
        self.asked: list[set[str]] = []
        self.goes = anyio.Event()
        self.is_gone = False

    async def standing(self, session_ids: Collection[str], /) -> Mapping[str, Session]:
        self.asked.append(set(session_ids))
        await self.goes.wait()
        if self.is_gone:
            raise JournalUnavailable("the server went away")
        return await super().standing(session_ids)


async def test_many_looks_are_one_question() -> None:
    store = Slow()
    looks = Looks(store, CLOCK)
    found: dict[str, Session | None] = {}

    async def look(name: str) -> None:
        found[name] = await looks.at(name)

    store.goes.set()
    await store.create("ses_1", [CREATED])
    store.asked.clear()
    store.goes = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(look, "ses_1")
        await until(lambda: len(store.asked) == 1)
        for number in range(2, 6):
            group.start_soon(look, f"ses_{number}")
        await anyio.wait_all_tasks_blocked()
        store.goes.set()
    assert store.asked == [{"ses_1"}, {"ses_2", "ses_3", "ses_4", "ses_5"}]
    assert [name for name, session in found.items() if session is not None] == ["ses_1"]
    await store.close()


async def test_all_who_share_a_question_hear_that_there_is_no_answer() -> None:
    store = Slow()
    store.goes.set()
    store.is_gone = True
    looks = Looks(store, CLOCK)
    heard: list[str] = []

    async def look() -> None:
        try:
            await looks.at(S)
        except JournalUnavailable as problem:
            heard.append(str(problem))

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(look)
    assert heard == ["the server went away"] * 3
    store.is_gone = False
    assert await looks.at(S) is None
    await store.close()


async def test_whoever_shares_a_question_that_is_given_up_hears_of_it() -> None:
    store = Slow()
    looks = Looks(store, CLOCK)
    heard: list[str] = []

    async def first() -> None:
        with scope:
            await looks.at("ses_1")

    async def busy() -> None:
        await looks.at("ses_0")

    async def second() -> None:
        try:
            await looks.at("ses_2")
        except JournalUnavailable as problem:
            heard.append(str(problem))

    scope = anyio.CancelScope()
    async with anyio.create_task_group() as group:
        group.start_soon(busy)
        await until(lambda: len(store.asked) == 1)
        group.start_soon(first)
        await anyio.wait_all_tasks_blocked()
        group.start_soon(second)
        await anyio.wait_all_tasks_blocked()
        scope.cancel()
        await until(lambda: bool(heard))
        store.goes.set()
    assert heard == ["nobody came to ask the store"]
    await store.close()
