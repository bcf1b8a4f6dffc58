"""How many wakes a cluster dispatches, beside no-op jobs of DBOS and procrastinate.

A wake is a session that somebody said something to; its run takes that into account, by one append,
and does nothing else. Counted from the first word to NATS until nothing is due: told, handed out,
looked at, run, looked at again, answered. A job of the peers returns at once. All use a PostgreSQL
of our own that waits for the disk; NATS is one server, or three that keep each message thrice.

    python bench/cluster.py [--quick]      prints JSON; peers that are not installed are left out
"""

import asyncio
import importlib.util
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from holdfast.contract.events import EventsProcessed, SessionCreated, UserMessage
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.cluster.announcing import Announcer
from holdfast.engine.cluster.door import NatsServers
from holdfast.engine.cluster.engine import ClusterEngine
from holdfast.engine.cluster.link import linked
from holdfast.engine.cluster.tenants import ClusterPace, Tenant
from holdfast.record.codec import Chain
from holdfast.record.postgres.door import open_postgres
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from nats_server import running_nats
from postgres_server import PostgresServer, running_server

WAKES, QUICK_WAKES = 10_000, 1_000
ROUNDS, QUICK_ROUNDS = 3, 1
CONCURRENCY = 64
CLOCK = SystemClock()
Rate = Callable[[PostgresServer, int], Awaitable[float]]


def main() -> None:
    quick = "--quick" in sys.argv
    wakes, rounds = (QUICK_WAKES, QUICK_ROUNDS) if quick else (WAKES, ROUNDS)
    samples: dict[str, list[float]] = {}
    with running_server({"fsync": "on"}) as server:
        for number in range(rounds):
            for name, rate in ways():
                samples.setdefault(name, []).append(asyncio.run(rate(server, wakes)))
                print(f"cluster: round {number + 1}, {name}", file=sys.stderr)
    rows = [
        {"way": name, "max": max(found), "median": statistics.median(found)}
        for name, found in samples.items()
    ]
    print(json.dumps({"load": os.getloadavg()[0], "wakes": wakes, "rows": rows}))


def ways() -> list[tuple[str, Rate]]:
    """Each by its name: wakes or jobs a second."""
    found: list[tuple[str, Rate]] = [
        ("holdfast, one NATS server", lambda server, wakes: ours(server, wakes, 1)),
        ("holdfast, three NATS servers", lambda server, wakes: ours(server, wakes, 3)),
    ]
    if importlib.util.find_spec("dbos"):
        found.append(("DBOS queue", dbos_jobs))
    if importlib.util.find_spec("procrastinate"):
        found.append(("procrastinate", procrastinate_jobs))
    return found


async def ours(server: PostgresServer, wakes: int, nodes: int) -> float:
    """One worker."""
    with running_nats(nodes) as nats, server.database() as url:
        store = open_postgres(url, Chain(b"k" * 32), CLOCK, TimeIds(CLOCK))
        journal, outbox = store.journal, store.outbox
        assert outbox is not None
        waiting: dict[str, str] = {}

        async def begin(number: int) -> None:
            payloads = [SessionCreated(agent_id="bench"), UserMessage(message="go")]
            made = await journal.create(f"ses_{number}", payloads)
            waiting[f"ses_{number}"] = made[1].id

        async def run(session_id: str, /) -> WakeEnd:
            over = EventsProcessed(event_ids=(waiting.pop(session_id),))
            await journal.append(session_id, [over])
            return WakeEnd(session_id=session_id, executed=True)

        for first in range(0, wakes, 500):
            await asyncio.gather(*map(begin, range(first, min(first + 500, wakes))))
        try:
            async with linked(NatsServers(servers=nats.urls, replicas=nodes)) as link:
                tenant = Tenant(name="bench", journal=journal, outbox=outbox, runner=run)
                pace = ClusterPace(concurrency=CONCURRENCY, look_seconds=60)
                await link.have(Announcer(link, tenant, CLOCK, pace).streams)
                engine = ClusterEngine(link, [tenant], CLOCK, pace)
                begun = time.perf_counter()
                running = asyncio.create_task(engine.run())
                while waiting:
                    await asyncio.sleep(0.005)
                await engine.stop()
                await running
                passed = time.perf_counter() - begun
        finally:
            await journal.close()
    return wakes / passed


async def dbos_jobs(server: PostgresServer, jobs: int) -> float:
    """Workflows that return at once, through a queue of one process."""
    from dbos import DBOS, Queue  # a peer, if it is there

    with server.database() as url, tempfile.TemporaryDirectory():
        config = {"name": "bench", "system_database_url": url, "log_level": "ERROR"}
        DBOS(config=config)
        queue = Queue("bench", concurrency=None, polling_interval_sec=0.1)

        @DBOS.workflow()
        async def nothing(number: int) -> int:
            return number

        DBOS.launch()
        try:
            begun = time.perf_counter()
            handles = [await queue.enqueue_async(nothing, number) for number in range(jobs)]
            for handle in handles:
                await handle.get_result()
            return jobs / (time.perf_counter() - begun)
        finally:
            DBOS.destroy()


async def procrastinate_jobs(server: PostgresServer, jobs: int) -> float:
    """Jobs that return at once, through one worker."""
    import procrastinate  # a peer, if it is there

    with server.database() as url:
        connector = procrastinate.PsycopgConnector(conninfo=url)
        app = procrastinate.App(connector=connector)

        @app.task(name="nothing")
        async def nothing(number: int) -> int:
            return number

        async with app.open_async():
            await app.schema_manager.apply_schema_async()
            begun = time.perf_counter()
            await nothing.batch_defer_async(*({"number": number} for number in range(jobs)))
            await app.run_worker_async(wait=False, concurrency=CONCURRENCY)
            return jobs / (time.perf_counter() - begun)


if __name__ == "__main__":
    main()
