"""Stores and servers that are away or silent: others go on, and whoever waits notices soon."""

from collections.abc import Collection, Mapping

import anyio
import pytest
from engine.cluster.fleets import SELDOM, WORD, running, until
from engine.cluster.test_troubles import CLOCK, CREATED, S, kept, later, taken, tenant
from engine.cluster.test_turns import ONE_AT_ONCE, announcer, stores
from engine.cluster.test_turns import tenant as tenant_of

from holdfast.contract.journal import JournalUnavailable, Session
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.cluster.attending import Attending
from holdfast.engine.cluster.engine import ClusterEngine
from holdfast.engine.cluster.hints import Hint
from holdfast.engine.cluster.lanes import Lanes
from holdfast.engine.cluster.link import Link
from holdfast.engine.cluster.looking import Away
from holdfast.engine.cluster.streams import Streams
from holdfast.engine.cluster.subjects import ANY
from holdfast.testing.engine_kit import ToyRunner
from holdfast.testing.fake_outbox import FakeOutbox
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio


async def test_what_one_worker_cannot_look_at_another_may_have_at_once(
    link: Link, store: FakeOutbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way of one worker to the store may be cut, while others are well."""
    hint = await taken(link, store)

    async def standing(session_ids: Collection[str], /) -> Mapping[str, Session]:
        del session_ids
        raise JournalUnavailable("the server cannot be reached")

    monkeypatch.setattr(store, "standing", standing)
    attended = await Attending(link, tenant(store), CLOCK, SELDOM).attend(hint)
    assert attended.rest_seconds is not None
    assert await kept(link)
    assert not await later(link)


async def test_a_hint_is_not_kept_while_its_store_says_nothing(
    link: Link, store: FakeOutbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its worker could neither run it nor tell that it does: another one has to take it over."""
    clock, goes = FakeClock(), anyio.Event()
    hint = await taken(link, store, clock)
    attending = Attending(link, tenant(store), clock, SELDOM)
    clock.advance(0.3 * SELDOM.ack_seconds)
    await attending.keep(hint)
    heard = clock.ticks()
    assert hint.heard == heard
    answers = store.standing

    async def standing(session_ids: Collection[str], /) -> Mapping[str, Session]:
        await goes.wait()
        return await answers(session_ids)

    monkeypatch.setattr(store, "standing", standing)
    away = Away({"one": attending.looks}, lambda: None)
    async with anyio.create_task_group() as group:
        for _ in range(2):
            assert not away.tenants
            group.start_soon(attending.looks.feel, S)
            await anyio.wait_all_tasks_blocked()
            clock.advance(0.3 * SELDOM.ack_seconds)
            await attending.keep(hint)
        assert hint.heard == heard
        assert not attending.is_lost(hint)
        assert "one" in away.tenants, "it would be handed its own hint once more"
        goes.set()
    assert not away.tenants
    await attending.looks.feel(S)
    await attending.keep(hint)
    assert hint.heard == clock.ticks()


async def test_a_session_that_was_let_go_meanwhile_is_run_at_once(
    link: Link, store: FakeOutbox
) -> None:
    """It was refused, and the lease ended before anybody could look whose it is."""
    refused: list[str] = []

    class RefusedOnce(ToyRunner):
        async def __call__(self, session_id: str, /) -> WakeEnd:
            if not refused:
                refused.append(session_id)
                return WakeEnd(session_id=session_id, executed=False, reason="lease_contended")
            return await super().__call__(session_id)

    hint = await taken(link, store)
    await store.lease(S, "other", 0.001)
    await anyio.sleep(0.002)
    runner = RefusedOnce(store)
    attended = await Attending(link, tenant(store, runner), CLOCK, SELDOM).attend(hint)
    assert attended.executed
    assert not await later(link)


async def test_who_hears_no_answer_asks_for_nothing_that_waits(
    link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be handed hints that it never hears of, and others could have."""
    monkeypatch.setattr("holdfast.engine.cluster.lanes._ANSWER_SECONDS", 0.05)
    streams = Streams(link.names, 1, SELDOM.ack_seconds, ("one",), (ANY,))
    came: list[Hint] = []
    lanes = Lanes(link, streams, CLOCK, came.append)
    await lanes.open()
    await lanes.close()  # nothing is heard any more
    (silent,) = [lane for lane in lanes.all if lane.kind == "word"]
    await lanes.ask(silent, 1)
    assert not silent.answers
    assert silent not in [lane for lanes_ in lanes.in_turn() for lane in lanes_]
    monkeypatch.setattr("holdfast.engine.cluster.lanes._ANSWER_SECONDS", 10)
    await lanes.open()
    await lanes.ask(silent, 1)
    assert silent.answers


async def test_a_store_that_is_there_again_is_used_at_once(link: Link) -> None:
    """Whoever noticed that it was away does not leave its sessions alone for longer than that."""
    async with stores(1) as (store,):
        runner = ToyRunner(store)
        async with running(
            ClusterEngine(link, [tenant_of("one", store, runner)], CLOCK, SELDOM)
        ) as engine:
            await until(lambda: engine.is_waiting)
            await store.create("ses_1", [CREATED, WORD])
            await announcer(link, tenant_of("one", store)).tell(
                list((await store.standing(["ses_1"])).values())
            )
            store.is_gone = True
            await until(lambda: store.asked_in_vain == {"ses_1"})
            store.is_gone = False
            await until(lambda: runner.order == ["ses_1"], seconds=3)


async def test_a_store_that_cannot_be_written_is_left_alone_for_a_while(
    link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It can be read, so nothing says when it is worth trying again."""
    monkeypatch.setattr("holdfast.engine.cluster.attending._UNWRITTEN_SECONDS", 3600.0)
    async with stores(2) as (full, well):
        tried: list[str] = []

        class Unwritten(ToyRunner):
            async def __call__(self, session_id: str, /) -> WakeEnd:
                tried.append(session_id)
                raise JournalUnavailable("the server's disk is full")

        runner = ToyRunner(well)
        of = [tenant_of("full", full, Unwritten(full)), tenant_of("well", well, runner)]
        names = [f"ses_{number}" for number in range(1, 5)]
        for name in names:
            await full.create(name, [CREATED, WORD])
        await announcer(link, of[0]).tell_untold()
        async with running(ClusterEngine(link, of, CLOCK, ONE_AT_ONCE)) as engine:
            await until(lambda: len(tried) > 0)
            for number in range(3):
                await well.create(f"ses_{number}", [CREATED, WORD])
                engine.poke(f"ses_{number}")
                await until(lambda most=number: len(runner.order) > most)
        # One that had come before that was known was tried, too.
        assert len(tried) <= 2
