"""A worker that is asked to end while something still runs: others have whatever comes to it."""

import anyio
import pytest
from engine.cluster.fleets import SELDOM, WORD, running, until
from engine.cluster.test_turns import CLOCK, CREATED, announcer, stores, tenant
from msgspec.structs import replace

from holdfast.engine.cluster.door import NatsServers
from holdfast.engine.cluster.engine import ClusterEngine
from holdfast.engine.cluster.link import Link, linked
from holdfast.testing.engine_kit import ToyRunner

pytestmark = pytest.mark.anyio


async def test_a_worker_that_finishes_what_runs_keeps_no_other_hint_for_itself(
    link: Link, servers: NatsServers
) -> None:
    """What it had asked for before still comes to it, while its last run may take hours."""
    goes = anyio.Event()
    begun: list[str] = []

    class Long(ToyRunner):
        async def works(self, session_id: str) -> None:
            begun.append(session_id)
            await goes.wait()

    async with stores(1) as (store,), linked(servers) as others:
        first = tenant("one", store, Long(store))
        await store.create("ses_long", [CREATED, WORD])
        await announcer(link, first).tell_untold()
        asks_for_long = replace(SELDOM, wait_seconds=60)
        ending = ClusterEngine(link, [first], CLOCK, asks_for_long)
        async with anyio.create_task_group() as group:
            group.start_soon(ending.run)
            await until(lambda: bool(begun) and ending.is_waiting)
            group.start_soon(ending.stop)
            await anyio.wait_all_tasks_blocked()
            await store.create("ses_new", [CREATED, WORD])
            await announcer(others, first).tell_untold()
            came: list[str] = []

            class Noted(ToyRunner):
                async def works(self, session_id: str) -> None:
                    came.append(session_id)

            of = tenant("one", store, Noted(store))
            async with running(ClusterEngine(others, [of], CLOCK, SELDOM)):
                try:
                    await until(lambda: came == ["ses_new"], 6)
                finally:
                    goes.set()
    assert begun == ["ses_long"]
