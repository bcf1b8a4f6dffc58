"""One worker of a cluster, in a process of its own, whose runs do next to nothing.

    python bench/cluster_worker.py URL SERVERS REPLICAS CONCURRENCY LOOK_SECONDS RUN_SECONDS

Says that it is ready, and is gone when its input ends. A run waits for so long, as for a model, and
takes its session's one word into account, by one append.
"""

import asyncio
import os
import sys
from threading import Thread

from holdfast.contract.events import EventsProcessed
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.cluster.door import NatsServers
from holdfast.engine.cluster.engine import ClusterEngine
from holdfast.engine.cluster.link import linked
from holdfast.engine.cluster.tenants import ClusterPace, Tenant
from holdfast.record.codec import Chain
from holdfast.record.postgres.door import open_postgres
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

KEY = b"k" * 32
TENANT = "bench"


def word_of(session_id: str) -> str:
    """The id of the one word that is said to a session."""
    return f"evt_{session_id}"


async def main(
    url: str, servers: str, replicas: int, concurrency: int, look: float, waits: float
) -> None:
    clock = SystemClock()
    store = open_postgres(url, Chain(KEY), clock, TimeIds(clock))
    journal, outbox = store.journal, store.outbox
    assert outbox is not None

    async def run(session_id: str, /) -> WakeEnd:
        if waits:
            await asyncio.sleep(waits)
        over = EventsProcessed(event_ids=(word_of(session_id),))
        await journal.append(session_id, [over])
        return WakeEnd(session_id=session_id, executed=True)

    async with linked(NatsServers(servers=tuple(servers.split(",")), replicas=replicas)) as link:
        tenant = Tenant(name=TENANT, journal=journal, outbox=outbox, runner=run)
        pace = ClusterPace(concurrency=concurrency, look_seconds=look)
        engine = ClusterEngine(link, [tenant], clock, pace)
        running = asyncio.create_task(engine.run())
        while not engine.is_waiting:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.02)
        print("ready", flush=True)
        await running


def _end_with_input() -> None:
    os.read(0, 1)
    os._exit(0)


if __name__ == "__main__":
    Thread(target=_end_with_input, daemon=True).start()
    asyncio.run(
        main(
            *sys.argv[1:3],
            int(sys.argv[3]),
            int(sys.argv[4]),
            float(sys.argv[5]),
            float(sys.argv[6]),
        )
    )
