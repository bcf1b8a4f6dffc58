"""What somebody took away beside the workers, in NATS or in the store: they make it again."""

from collections.abc import Collection, Mapping

import anyio
import pytest
from engine.cluster.fleets import SELDOM, WORD, running, until
from engine.cluster.test_turns import CLOCK, CREATED, announcer, stores, tenant
from msgspec.structs import replace

from holdfast.contract.events import EventsProcessed
from holdfast.contract.journal import JournalUnusable, Session
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.cluster.dead import Dead
from holdfast.engine.cluster.engine import ClusterEngine
from holdfast.engine.cluster.link import Link
from holdfast.engine.cluster.sweeping import Sweeper
from holdfast.testing.engine_kit import ToyRunner

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("what", ["CONSUMER.DELETE.{}.one+word+any", "STREAM.DELETE.{}"])
async def test_what_was_removed_from_nats_is_made_again(link: Link, what: str) -> None:
    """Nobody's connection is lost by that, so nothing else says that it is gone."""
    async with stores(1) as (store,):
        runner = ToyRunner(store)
        of = tenant("one", store, runner)
        engine = ClusterEngine(link, [of], CLOCK, replace(SELDOM, wait_seconds=1))
        async with running(engine):
            await until(lambda: engine.is_waiting)
            asked = f"$JS.API.{what.format(link.names.wakes)}"
            answer = await link.client.request(asked, b"", {}, 5)
            assert b'"success":true' in answer.body
            await store.create("ses_1", [CREATED, WORD])
            engine.poke("ses_1")
            await until(lambda: runner.order == ["ses_1"])


async def test_the_dead_are_those_that_are_given_up_now(
    link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that went on by something new, or was taken away, is none of them any more."""
    async with stores(1) as (store,):
        session, standing = store.session, store.standing

        async def damaged(session_id: str, /) -> Session:
            if session_id == "ses_damaged":
                raise JournalUnusable("its row is damaged")
            return await session(session_id)

        async def readable(session_ids: Collection[str], /) -> Mapping[str, Session]:
            return await standing([one for one in session_ids if one != "ses_damaged"])

        class Fails(ToyRunner):
            async def __call__(self, session_id: str, /) -> WakeEnd:
                await anyio.lowlevel.checkpoint()
                return WakeEnd(session_id=session_id, executed=True, ended="failed")

        names = ("ses_damaged", "ses_gone", "ses_on", "ses_still")
        for name in names:
            await store.create(name, [CREATED, WORD])
        of = tenant("one", store, Fails(store))
        pace = replace(SELDOM, most_in_vain=1)
        await ClusterEngine(link, [of], CLOCK, pace).run_until_idle()
        assert [one.session async for one in Dead(link).all()] == [*names]
        await store.archive.delete("ses_gone")
        state = (await store.session("ses_on")).state
        await store.append("ses_on", [EventsProcessed(event_ids=state.pending)])
        monkeypatch.setattr(store, "session", damaged)
        monkeypatch.setattr(store, "standing", readable)
        await Sweeper(link, of, announcer(link, of), CLOCK).sweep(600)
        assert [one.session async for one in Dead(link).all()] == ["ses_damaged", "ses_still"]
