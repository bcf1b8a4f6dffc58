"""What a cluster costs: wakes by number of workers, idle workers, room for sessions and for wakes.

Each worker is a process (`cluster_worker`); three NATS servers keep each message thrice; PostgreSQL
waits for the disk. What design/0031 says is counted from these figures.

    python bench/cluster_figures.py [--quick]      prints JSON
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import cast

import psycopg

from cluster_worker import KEY, TENANT, word_of
from holdfast.contract.events import ApprovalAsked, CallAsked, Payload, SessionCreated, UserMessage
from holdfast.contract.wake_events import WakeQueued
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.cluster.announcing import Announcer
from holdfast.engine.cluster.door import LinkError, NatsServers
from holdfast.engine.cluster.link import Link, linked
from holdfast.engine.cluster.tenants import ClusterPace, Tenant
from holdfast.record.codec import Chain
from holdfast.record.postgres.door import open_postgres
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from nats_server import running_nats
from postgres_server import PostgresServer, running_server

WORKERS = (1, 2, 4)
CONCURRENCY = 64
THINKING_CONCURRENCY = 16
THINKING_SECONDS = 0.05
"""As long as a quick model thinks."""
NODES = 3
WAITING = 1_000
SELDOM = 600.0
"""Nobody finds by looking what is told."""
CLOCK = SystemClock()
Figures = dict[str, object]
_SCHEDULED = 2
"""Of the clocks of a process: the one of the scheduler."""
_CHILD = Path(__file__).with_name("cluster_worker.py")


class Cluster:
    """A store, three servers of NATS, and who says something."""

    def __init__(self, url: str, servers: Sequence[str], store: Store, link: Link) -> None:
        self.url = url
        self.servers = servers
        self.store = store
        self.link = link
        outbox = store.outbox
        assert outbox is not None
        tenant = Tenant(name=TENANT, journal=store.journal, outbox=outbox, runner=_nobody)
        self.announcer = Announcer(link, tenant, CLOCK, ClusterPace())

    async def begin(self, names: Sequence[str], *payloads: Payload) -> None:
        created = SessionCreated(agent_id="bench")
        await _all(names, lambda name: self.store.journal.create(name, [created, *payloads]))

    async def say(self, names: Sequence[str]) -> None:
        word = UserMessage(message="go")
        journal = self.store.journal
        await _all(names, lambda name: journal.append(name, [word], ids=[word_of(name)]))

    def asked(self, statement: str) -> int:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("SET search_path = holdfast")
            row = connection.execute(statement.encode()).fetchone()
            assert row is not None
            return int(row[0])

    @contextmanager
    def workers(
        self, count: int, look: float, concurrency: int = CONCURRENCY, waits: float = 0
    ) -> Generator[list["subprocess.Popen[bytes]"]]:
        numbers = (NODES, concurrency, look, waits)
        asked = [self.url, ",".join(self.servers), *map(str, numbers)]
        begun = [
            subprocess.Popen(
                [sys.executable, _CHILD, *asked], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            for _ in range(count)
        ]
        try:
            for one in begun:
                assert one.stdout is not None
                assert one.stdout.readline() == b"ready\n"
            yield begun
        finally:
            for one in begun:
                one.communicate()


async def _all(names: Sequence[str], do: Callable[[str], Awaitable[object]]) -> None:
    for first in range(0, len(names), 500):
        await asyncio.gather(*map(do, names[first : first + 500]))


async def _nobody(session_id: str, /) -> WakeEnd:
    return WakeEnd(session_id=session_id, executed=False, reason="not_ours")


@asynccontextmanager
async def cluster(server: PostgresServer) -> AsyncGenerator[Cluster]:
    with running_nats(NODES) as nats, server.database() as url:
        store = open_postgres(url, Chain(KEY), CLOCK, TimeIds(CLOCK))
        try:
            async with linked(NatsServers(servers=nats.urls, replicas=NODES)) as link:
                yield Cluster(url, nats.urls, store, link)
        finally:
            await store.journal.close()


async def dispatched(
    server: PostgresServer, workers: int, wakes: int, concurrency: int, waits: float
) -> Figures:
    """Wakes a second; told by this process, and counted until nothing is due."""
    async with cluster(server) as at:
        names = [f"ses_{number}" for number in range(wakes)]
        await ready(at)
        await at.begin(names)
        with at.workers(workers, SELDOM, concurrency, waits) as begun:
            size = at.asked(_SIZE)
            await at.say(names)
            assert at.asked(_DUE) == wakes
            before = [_cpu(one.pid) for one in begun]
            started, idle_before = time.perf_counter(), _idle_seconds()
            telling = asyncio.create_task(at.announcer.tell_untold())
            while at.asked(_DUE):  # noqa: ASYNC110 - a store tells nobody
                await asyncio.sleep(0.05)
            passed = time.perf_counter() - started
            cores = os.cpu_count() or 1
            busy = 1 - (_idle_seconds() - idle_before) / passed / cores
            await telling
            used = [_cpu(one.pid) - was for one, was in zip(begun, before, strict=True)]
            return {
                "workers": workers,
                "wakes": wakes,
                "per_second": round(wakes / passed),
                "cores_busy_percent": round(100 * busy),
                "cpu_ms_per_wake": round(1000 * sum(used) / wakes, 3),
                "worker_memory_mb": round(_memory(begun[0].pid)),
                "bytes_a_wake": round((at.asked(_SIZE) - size) / wakes),
                "connections": at.asked(_CONNECTIONS),
                "stream_messages_per_wake": round((await _stream(at))["last_seq"] / wakes, 2),
            }


async def ready(at: Cluster) -> None:
    """Three servers that were begun a moment ago have no leader yet."""
    for _ in range(10):
        try:
            await at.link.have(at.announcer.streams)
        except LinkError:
            continue
        return


async def idle(server: PostgresServer, sessions: int, seconds: float) -> Figures:
    """What a worker uses while so many sessions wait for a person."""
    async with cluster(server) as at:
        names = [f"ses_{number}" for number in range(sessions)]
        await at.begin(names, *_WAITS)
        with at.workers(1, ClusterPace().look_seconds) as begun:
            await asyncio.sleep(3)
            before = _cpu(begun[0].pid)
            await asyncio.sleep(seconds)
            used = _cpu(begun[0].pid) - before
            share = round(100 * used / seconds, 2)
            return {"sessions": sessions, "seconds": seconds, "cpu_percent": share}


async def room(server: PostgresServer, sessions: int) -> Figures:
    """What sessions that wait for a person, and wakes that are due later, take."""
    async with cluster(server) as at:
        at.asked("SELECT count(*) FROM chat_sessions")
        empty = at.asked(_SIZE)
        names = [f"ses_{number}" for number in range(sessions)]
        await at.begin(names, *_WAITS)
        size = at.asked(_SIZE) - empty
        await ready(at)
        before = max(map(_memory, _servers()))
        due = CLOCK.now() + timedelta(seconds=3000)
        later = WakeQueued(queued_wake_id="qwk", due_at=due, reason="later")
        journal = at.store.journal
        await _all(names, lambda name: journal.append(name, [later]))
        begun = time.perf_counter()
        await at.announcer.tell_untold()
        told = time.perf_counter() - begun
        stream = await _stream(at)
        begun = time.perf_counter()
        await at.announcer.tell_untold()
        look = time.perf_counter() - begun
        return {
            "sessions": sessions,
            "bytes_a_session": round(size / sessions),
            "events_a_session": 1 + len(_WAITS),
            "scheduled": stream["messages"],
            "bytes_a_scheduled_wake_on_each_server": round(stream["bytes"] / sessions),
            "memory_of_a_server_mb": [round(before), round(max(map(_memory, _servers())))],
            "scheduled_per_second": round(sessions / told),
            "look_at_nothing_ms": round(1000 * look, 1),
        }


async def _stream(at: Cluster) -> dict[str, int]:
    asked = f"$JS.API.STREAM.INFO.{at.link.names.wakes}"
    answer = await at.link.client.request(asked, b"", {}, 5)
    state: dict[str, int] = json.loads(answer.body)["state"]
    return state


def _cpu(pid: int) -> float:
    """Seconds that it ran, by its own clock: ticks would miss what is short."""
    return time.clock_gettime((~pid << 3) | _SCHEDULED)


def _idle_seconds() -> float:
    """How long processors had nothing to do, all together."""
    fields = Path("/proc/stat").read_text("ascii").split("\n", 1)[0].split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text("ascii"))
    return int(found.group(1)) / 1024 if found else 0


def _servers() -> list[int]:
    """The processes of NATS that this one began, through shells that keep them."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text("utf-8").rpartition(")")[2].split()
            parents[int(stat.parent.name)] = int(fields[1])
    keepers = {one for one, parent in parents.items() if parent == os.getpid()}
    mine = [one for one, parent in parents.items() if parent in keepers]
    return [one for one in mine if "nats" in Path(f"/proc/{one}/comm").read_text("utf-8")]


_DUE = "SELECT count(*) FROM chat_sessions WHERE due IS NOT NULL"
_CONNECTIONS = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = 'holdfast'"
)
_SIZE = "SELECT pg_database_size(current_database())"
_WAITS = (
    CallAsked(call_id="call_1", tool="bash", arguments='{"command": "make deploy"}'),
    ApprovalAsked(
        approval_id="apr_1",
        call_id="call_1",
        tool="bash",
        arguments_hash="0" * 64,
        reason="it changes what others see",
    ),
)


async def by_workers(
    server: PostgresServer, wakes: int, rounds: int, concurrency: int, waits: float
) -> list[Figures]:
    """The median round of each number of workers; they take turns."""
    found: dict[int, list[Figures]] = {}
    for number in range(rounds):
        for count in WORKERS:
            figures = await dispatched(server, count, wakes, concurrency, waits)
            found.setdefault(count, []).append(figures)
            print(f"cluster figures: round {number + 1}, {count} workers", file=sys.stderr)
    return [
        sorted(each, key=lambda one: cast("int", one["per_second"]))[len(each) // 2]
        for each in found.values()
    ]


async def main(*, quick: bool) -> None:
    wakes, seconds, sessions, rounds = (
        (1_000, 5.0, 1_000, 1) if quick else (10_000, 20.0, 20_000, 3)
    )
    with running_server({"fsync": "on"}) as server:
        told = {
            "load": os.getloadavg()[0],
            "cores": os.cpu_count(),
            "thinking_ms": 1000 * THINKING_SECONDS,
            "thinking_concurrency": THINKING_CONCURRENCY,
            "nothing": await by_workers(server, wakes, rounds, CONCURRENCY, 0),
            "thinking": await by_workers(
                server, wakes // 4, rounds, THINKING_CONCURRENCY, THINKING_SECONDS
            ),
            "idle": [await idle(server, count, seconds) for count in (0, WAITING)],
            "room": await room(server, sessions),
            "load_after": os.getloadavg()[0],
        }
        print(json.dumps(told, indent=1))


if __name__ == "__main__":
    asyncio.run(main(quick="--quick" in sys.argv))
