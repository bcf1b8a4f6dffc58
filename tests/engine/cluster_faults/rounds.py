"""Rounds of faults over real servers and real workers, each judged by its journals.

What is planned is the same for the same seed; what the machine makes of it is not.
"""

import signal
import time
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import anyio
import psycopg
from anyio import to_thread
from engine.cluster_faults.disks import Disk, can_be_full, disk
from engine.cluster_faults.effects import KEY, PACE, REPLICAS, TENANT
from engine.cluster_faults.oracle import Outage, broken, effects_in, takeover_in
from engine.cluster_faults.plan import Fault, Kind, Round, Said
from engine.cluster_faults.postgres_node import PostgresNode, running_node
from engine.cluster_faults.relay import Relay
from engine.cluster_faults.workers import Place, Worker, working
from nats_server import NatsNode, NatsServers, running_nats
from postgres_server import PASSWORD, USER

from holdfast.contract.events import Payload, SessionCreated, UserMessage
from holdfast.contract.journal import JournalError, JournalUnavailable, UnknownSession
from holdfast.contract.session_state import due_micros
from holdfast.contract.wake_events import WakeQueued
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.cluster.announcing import Announcer
from holdfast.engine.cluster.door import LinkError
from holdfast.engine.cluster.door import NatsServers as Servers
from holdfast.engine.cluster.link import Link, linked
from holdfast.engine.cluster.tenants import Tenant
from holdfast.record.codec import Chain
from holdfast.record.postgres.door import open_postgres
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

STUCK_SECONDS = 60.0
"""Whatever has not come to rest by then, with everything healed, is stuck."""
TAKEN_BY_LEASE_END: frozenset[Kind] = frozenset(
    {"kill", "zombie", "lost nats", "mute nats", "lost postgres", "mute postgres"}
)
"""Where nothing but a worker is in trouble, another one has to be there when its lease ends."""
_AGAIN_SECONDS = 0.1
_AT_WORK_SECONDS = 1.0
_ROOM = "256m"
_NO_ROOM = "no space left on device"
LONG_BYTES = 6_000
# What a server tells of itself would lead clients around the relays: nobody listens there.
_NO_WAY_AROUND = 'client_advertise: "127.0.0.1:9"\n'
_clock = SystemClock()
_numbers = count(1)


async def _nobody(session_id: str, /) -> WakeEnd:
    """Whoever says something runs nothing."""
    return WakeEnd(session_id=session_id, executed=False, reason="not_ours")


class Farm:
    """The servers, for many tests."""

    def __init__(self, postgres: PostgresNode, nats: NatsServers, small: Disk | None) -> None:
        self.postgres = postgres
        self.nats = nats
        self.small = small
        """Of the first server of NATS."""


@contextmanager
def farm() -> Generator[Farm]:
    with (
        disk(_ROOM) as small,
        running_node() as postgres,
        running_nats(REPLICAS, _NO_WAY_AROUND, small) as nats,
    ):
        yield Farm(postgres, nats, small)


class Rig:
    """Some workers on a farm, and somebody who says something to sessions."""

    def __init__(
        self,
        farm: Farm,
        workers: list[Worker],
        store: Store,
        link: Link,
        effects: Path,
        patience: float,
    ) -> None:
        self.workers = workers
        self.late: dict[str, list[float]] = defaultdict(list)
        """By how many seconds sessions were taken over too late, by what went wrong."""
        self.last_late: list[float] = []
        """The same of the last round."""
        self.played: Counter[Kind] = Counter()
        self.hits: Counter[Kind] = Counter()
        """How many faults of a kind had something to hit."""
        self.rested: list[float] = []
        """How many seconds after the last fault all was done."""
        self._sessions: tuple[str, ...] = ()
        """Of the round that is played."""
        self._outages: list[Outage] = []
        """When PostgreSQL was there for nobody."""
        self._farm = farm
        self._store = store
        self._effects = effects
        self._patience = patience
        assert store.outbox is not None
        self._outbox = store.outbox
        self._happens: dict[Kind, Callable[[Fault, Worker], Awaitable[int]]] = {
            "kill": self._killed,
            "zombie": self._stopped,
            "nats": self._without_a_server,
            "postgres": self._without_postgres,
            "full": self._full,
            "full nats": self._full_nats,
            "lost nats": self._lost,
            "lost postgres": self._lost,
            "mute nats": self._mute,
            "mute postgres": self._mute,
        }
        tenant = Tenant(name=TENANT, journal=store.journal, outbox=store.outbox, runner=_nobody)
        self._announcer = Announcer(link, tenant, _clock, PACE)

    async def play(self, round_: Round) -> list[str]:
        """Have a round happen; everything that is not as it has to be afterwards, in words."""
        self._sessions = round_.sessions
        for session in round_.sessions:
            await self._begun(session)
        async with anyio.create_task_group() as group:
            for said in round_.said:
                group.start_soon(self._say, said)
            for fault in round_.faults:
                group.start_soon(self._fault, fault)
        healed = _clock.ticks()
        left = await self._left(round_)
        self.rested.append((_clock.ticks() - healed) / 1e9)
        if left:
            return [f"stuck: {one}" for one in left]
        wrong = await broken(self._store, round_, effects_in(self._effects))
        wrong.extend("a worker ended by itself" for one in self.workers if one.has_ended)
        self._note(round_)
        return wrong

    def trouble(self) -> str:
        """The last of what the workers complained about."""
        return "\n".join(worker.trouble()[-4000:] for worker in self.workers)

    def _note(self, round_: Round) -> None:
        taken = [takeover_in(line) for worker in self.workers for line in worker.lines()]
        late = [one.late_seconds(self._outages) for one in taken if one is not None]
        # Before the end of a lease nobody takes over: whoever had it gave it back in that moment.
        self.last_late = [round(one, 2) for one in late if one >= 0]
        self.late[round_.told].extend(one for one in late if one >= 0)

    async def _left(self, round_: Round) -> list[str]:
        """What has not come to rest in the end."""
        left: list[str] = []
        with anyio.move_on_after(self._patience):
            while True:
                try:
                    standing = await self._outbox.standing(round_.sessions)
                    left = [
                        f"{one.id} at {one.sequence}, {one.state.status}, lease {one.lease}"
                        for one in standing.values()
                        if due_micros(one.state) is not None or one.state.status != "idle"
                    ]
                    if not left:
                        return []
                except JournalUnavailable as problem:
                    left = [str(problem)]
                await anyio.sleep(0.05)
        return left

    async def _begun(self, session: str) -> None:
        while True:
            try:
                await self._store.journal.create(session, [SessionCreated(agent_id="faults")])
            except JournalUnavailable:
                await anyio.sleep(_AGAIN_SECONDS)
                if await self._is_there(session):
                    return
            else:
                return

    async def _is_there(self, session: str) -> bool:
        try:
            await self._store.journal.session(session)
        except (UnknownSession, JournalUnavailable):
            return False
        return True

    async def _say(self, said: Said) -> None:
        """Until it is kept: it has an id of its own, so it is kept once."""
        await anyio.sleep(said.at)
        # So long that it needs room of its own on the disk.
        long = Random(said.id).randbytes(LONG_BYTES).hex()
        payload: Payload = UserMessage(message=long)
        if said.later is not None:
            due = _clock.now() + timedelta(seconds=said.later)
            payload = WakeQueued(queued_wake_id=said.id, due_at=due, reason=long)
        while True:
            try:
                await self._store.journal.append(said.session, [payload], ids=[said.id])
                break
            except JournalUnavailable:
                await anyio.sleep(_AGAIN_SECONDS)
        if said.told:
            try:
                found = await self._outbox.standing([said.session])
                await self._announcer.tell([*found.values()])
            except (JournalError, LinkError):
                return  # whoever looks finds it

    async def _fault(self, fault: Fault) -> None:
        await anyio.sleep(fault.at)
        worker = self.workers[fault.whom % len(self.workers)]
        if fault.kind in {"kill", "zombie"}:
            worker = await self._at_work(fault.whom) or worker
        hit = await self._happens[fault.kind](fault, worker)
        self.played[fault.kind] += 1
        self.hits[fault.kind] += hit > 0

    async def _at_work(self, whom: int) -> Worker | None:
        """One of the workers that run a session; None: nobody does, or nobody can tell."""
        with anyio.move_on_after(_AT_WORK_SECONDS):
            while True:
                busy = await self._busy()
                if busy:
                    return busy[whom % len(busy)]
                await anyio.sleep(0.02)
        return None

    async def _busy(self) -> list[Worker]:
        try:
            standing = await self._outbox.standing(self._sessions)
        except JournalUnavailable:
            return []
        now = time.time_ns() // 1000
        leases = [one.lease for one in standing.values()]
        holders = {one.holder for one in leases if one is not None and one.until_micros > now}
        return [one for one in self.workers if one.holder in holders]

    async def _killed(self, fault: Fault, worker: Worker) -> int:
        held = await self._holds(worker)
        worker.kill()
        await anyio.sleep(fault.lasts)
        worker.start()
        return held

    async def _stopped(self, fault: Fault, worker: Worker) -> int:
        held = await self._holds(worker)
        worker.signal(signal.SIGSTOP)
        await anyio.sleep(fault.lasts)
        worker.signal(signal.SIGCONT)
        return held

    async def _without_a_server(self, fault: Fault, worker: Worker) -> int:
        del worker
        nodes = self._farm.nats.nodes
        carried = [sum(one.nats[at].carries for one in self.workers) for at in range(len(nodes))]
        used = [at for at, number in enumerate(carried) if number] or [0]
        at = used[fault.whom % len(used)]
        node, connected = nodes[at], carried[at]
        await to_thread.run_sync(node.kill)
        await anyio.sleep(fault.lasts)
        await _started(node)
        return connected

    async def _without_postgres(self, fault: Fault, worker: Worker) -> int:
        del worker
        postgres = self._farm.postgres
        begun = time.time_ns() // 1000
        connected = sum(one.postgres.carries for one in self.workers)
        await to_thread.run_sync(postgres.end)
        await anyio.sleep(fault.lasts)
        await to_thread.run_sync(postgres.start)
        self._outages.append(Outage(begun, time.time_ns() // 1000))
        return connected

    async def _full(self, fault: Fault, worker: Worker) -> int:
        del worker
        if not can_be_full():
            return 0
        begun, before = time.time_ns() // 1000, self._farm.postgres.complaints(_NO_ROOM)
        await to_thread.run_sync(self._farm.postgres.fill)
        await anyio.sleep(fault.lasts)
        await to_thread.run_sync(self._farm.postgres.empty)
        self._outages.append(Outage(begun, time.time_ns() // 1000))
        return self._farm.postgres.complaints(_NO_ROOM) - before

    async def _full_nats(self, fault: Fault, worker: Worker) -> int:
        """It gives up its streams until it is started again."""
        del worker
        small, node = self._farm.small, self._farm.nats.nodes[0]
        if small is None:
            return 0
        before = node.complaints(_NO_ROOM)
        await to_thread.run_sync(small.fill)
        await anyio.sleep(fault.lasts)
        await to_thread.run_sync(small.empty)
        await to_thread.run_sync(node.kill)
        await _started(node)
        return node.complaints(_NO_ROOM) - before

    async def _lost(self, fault: Fault, worker: Worker) -> int:
        ways = _ways(fault.kind, worker)
        ended = sum(way.lose() for way in ways)
        await anyio.sleep(fault.lasts)
        for way in ways:
            await way.heal()
        return ended

    async def _mute(self, fault: Fault, worker: Worker) -> int:
        ways = _ways(fault.kind, worker)
        for way in ways:
            await way.mute(fault.direction)
        await anyio.sleep(fault.lasts)
        return sum([await way.heal() for way in ways])

    async def _holds(self, worker: Worker) -> bool:
        return worker in await self._busy()


@asynccontextmanager
async def rig(farm: Farm, count: int = 2, patience: float = STUCK_SECONDS) -> AsyncGenerator[Rig]:
    """So many workers, in a namespace and on a database of their own."""
    name = f"faults{next(_numbers)}"
    servers = Servers(servers=farm.nats.urls, namespace=name, replicas=REPLICAS)
    server = farm.postgres.server
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
    store = open_postgres(server.url(name), Chain(KEY), _clock, TimeIds(_clock))
    # The paths of sockets are short: the folders of tests are not.
    with TemporaryDirectory(prefix="hf-") as folder:
        place = Place(
            Path(folder),
            server.folder,
            f"postgresql://{USER}:{PASSWORD}@/{name}",
            farm.nats.nodes,
            name,
        )
        try:
            async with linked(servers) as link, working(place, count) as workers:
                yield Rig(farm, workers, store, link, place.effects, patience)
        finally:
            await store.journal.close()


def _ways(kind: Kind, worker: Worker) -> Sequence[Relay]:
    return [worker.postgres] if kind.endswith("postgres") else worker.nats


async def _started(node: NatsNode) -> None:
    node.start()
    await to_thread.run_sync(node.wait)
