"""How many wakes a cluster dispatches, beside no-op jobs of DBOS and procrastinate.

A wake is a session that somebody said something to; its run takes that into account, by one append,
and does nothing else. Counted from the first word to NATS until nothing is due: told, handed out,
looked at, run, looked at again, answered. A job of the peers returns at once. All use a PostgreSQL
of our own that waits for the disk; NATS is one server, or three that keep each message thrice.

    python bench/cluster.py [--quick]      prints JSON; peers that are not installed are left out
"""

import asyncio
import importlib
import json
import os
import statistics
import sys
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
CONCURRENCY = 256
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
    try:
        peers = importlib.import_module("cluster_peers")
    except ImportError as problem:
        print(f"cluster: without peers: {problem}", file=sys.stderr)
        return found
    return [*found, *peers.WAYS]


async def ours(server: PostgresServer, wakes: int, nodes: int) -> float:
    """One worker."""
    with running_nats(nodes) as nats, server.database() as url:
        store = open_postgres(url, Chain(b"k" * 32), CLOCK, TimeIds(CLOCK))
        journal, outbox = store.journal, store.outbox
        assert outbox is not None
        waiting: dict[str, str] = {}
        over = asyncio.Event()

        async def begin(number: int) -> None:
            payloads = [SessionCreated(agent_id="bench"), UserMessage(message="go")]
            made = await journal.create(f"ses_{number}", payloads)
            waiting[f"ses_{number}"] = made[1].id

        async def run(session_id: str, /) -> WakeEnd:
            taken = EventsProcessed(event_ids=(waiting.pop(session_id),))
            await journal.append(session_id, [taken])
            if not waiting:
                over.set()
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
                await over.wait()
                await engine.stop()
                await running
                passed = time.perf_counter() - begun
        finally:
            await journal.close()
    return wakes / passed


if __name__ == "__main__":
    main()
