"""Rounds in which a worker is hit while a confined process of one of its tools runs.

What is watched are the processes themselves: each writes down that it runs, and when. None may run
any more when another worker writes the first event of its session.
"""

import re
import signal
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count, pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple, get_args

import anyio
import psycopg
from anyio import to_thread
from engine.cluster_faults import tooled
from engine.cluster_faults.disks import Disk, disk
from engine.cluster_faults.rounds import STUCK_SECONDS, Farm
from engine.cluster_faults.tooled import BEATS, LEASE_SECONDS, TIMES
from engine.cluster_faults.workers import Place, Worker, working
from postgres_server import PASSWORD, USER

from holdfast import Holdfast
from holdfast.contract.events import AgentMessage, CallSettled, Event
from holdfast.contract.journal import Session
from holdfast.contract.session_state import due_micros
from holdfast.record.store import Store

Hit = Literal[
    "zombie",  # it stands still for longer than its lease lasts
    "kill",
    "mute postgres",  # it cannot reach PostgreSQL for longer than its lease lasts
    "mute nats",
    "full home",  # the disk with its own files is full
]
HITS: tuple[Hit, ...] = get_args(Hit)
SESSIONS = 3
_ROOM = "64m"
_REFUSED_SECONDS = 10.0
_LOST = re.compile("the lease of session (\\S+) was lost")
_numbers = count(1)


class Beat(NamedTuple):
    """A sign of a process: for what it was run, of which worker."""

    mark: str
    worker: str
    number: int
    at: int
    """In nanoseconds."""


class Watched(NamedTuple):
    """What came of a round."""

    wrong: list[str]
    late: list[float]
    """By how many seconds sessions were taken over too late."""
    ended_before: list[float]
    """How long before that the last sign of their processes was."""
    hit: int
    """What was hit: sessions that were taken over, packets that were lost, or results of which
    no room was left for the whole."""
    taken_over: list[str]


class Ward:
    """Workers with tools, and somebody who watches."""

    def __init__(self, workers: list[Worker], hf: Holdfast, place: Place) -> None:
        self.workers = workers
        self._hf = hf
        self._file = place.folder / "work" / BEATS
        self._disks = place.disks

    async def play(self, seed: int, number: int) -> Watched:
        """A round, whose kind follows from its number."""
        dice = Random(f"beats {seed}/{number}")
        hit = HITS[number % len(HITS)]
        store = await self._hf.agents.all_sessions()
        marks = [f"m{seed}x{number}x{at}" for at in range(SESSIONS)]
        sessions = {mark: await self._said(mark) for mark in marks}
        victim = await self._at_work({*sessions}, hit)
        seen: dict[str, int] = {}
        left: list[str] = []
        lost = 0
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, store, sessions, victim, seen)
            lost = await self._hit(hit, victim, dice)
            left = await self._left(store, sessions)
            group.cancel_scope.cancel()
        if left:
            return Watched([f"stuck: {one}" for one in left], [], [], 0, [])
        found = await self._judged(store, sessions, seen)
        if hit == "zombie":
            found.wrong.extend(await self._not_refused(victim, found.taken_over))
        return found._replace(hit=lost or found.hit)

    async def _said(self, mark: str) -> str:
        """To a new session; which one."""
        session = await self._hf.new_session()
        await session.send(mark)
        await session.close()
        return session.id

    async def _at_work(self, marks: set[str], hit: Hit) -> Worker:
        """One whose process is seen to run."""
        with anyio.fail_after(STUCK_SECONDS):
            while True:
                busy = {beat.worker for beat in self._beats() if beat.mark in marks}
                for worker in self.workers:
                    if worker.name in busy and (hit != "full home" or worker.name in self._disks):
                        return worker
                if hit == "full home" and busy:
                    return self.workers[0]
                await anyio.sleep(0.02)

    async def _hit(self, hit: Hit, victim: Worker, dice: Random) -> int:
        """How many packets were lost by it."""
        lasts = LEASE_SECONDS + dice.uniform(0.5, 3)
        match hit:
            case "zombie":
                victim.signal(signal.SIGSTOP)
                await anyio.sleep(lasts)
                victim.signal(signal.SIGCONT)
            case "kill":
                victim.kill()
                await anyio.sleep(dice.uniform(0.1, lasts))
                victim.start()
            case "mute postgres" | "mute nats":
                ways = [victim.postgres] if hit == "mute postgres" else victim.nats
                for way in ways:
                    await way.mute()
                await anyio.sleep(lasts)
                return sum([await way.heal() for way in ways])
            case "full home":
                small = self._disks.get(victim.name)
                if small is not None:
                    await to_thread.run_sync(small.fill)
                    await anyio.sleep(2 * LEASE_SECONDS + lasts)  # until the call has ended
                    await to_thread.run_sync(small.empty)
        return 0

    async def _watch(
        self, store: Store, sessions: dict[str, str], victim: Worker, seen: dict[str, int]
    ) -> None:
        """Note until when the victim's leases last."""
        holders: dict[str, str] = {}
        beating = {beat.mark for beat in self._beats() if beat.worker == victim.name}
        while True:
            for mark in beating & {*sessions}:
                lease = (await store.journal.session(sessions[mark])).lease
                if lease is not None and holders.setdefault(mark, lease.holder) == lease.holder:
                    seen[mark] = lease.until_micros
            await anyio.sleep(0.05)

    async def _standing(self, store: Store, sessions: dict[str, str]) -> list[Session]:
        return [await store.journal.session(one) for one in sessions.values()]

    async def _left(self, store: Store, sessions: dict[str, str]) -> list[str]:
        """What has not come to rest in the end."""
        left: list[str] = []
        with anyio.move_on_after(STUCK_SECONDS):
            while True:
                left = [
                    f"{one.id} at {one.sequence}, {one.state.status}, lease {one.lease}"
                    for one in await self._standing(store, sessions)
                    if due_micros(one.state) is not None or one.state.status != "idle"
                ]
                if not left:
                    break
                await anyio.sleep(0.05)
        return left

    async def _judged(
        self, store: Store, sessions: dict[str, str], seen: dict[str, int]
    ) -> Watched:
        beats = self._beats()
        found = Watched([], [], [], 0, [])
        cut_short = 0
        for mark, session in sessions.items():
            mine = [beat for beat in beats if beat.mark == mark]
            events = await store.journal.events(session)
            found.wrong.extend(f"{session}: {one}" for one in _broken(mine, events))
            found.wrong.extend(
                f"{session}: {one}" for one in await store.archive.rebuild(session, repair=False)
            )
            cut_short += sum(_is_cut_short(event) for event in events)
            taken = _taken_up(events)
            if not mine or len(mine) == TIMES or taken is None:
                continue
            found.taken_over.append(session)
            before = taken / 1e6 - mine[-1].at / 1e9
            found.ended_before.append(before)
            if before < 0:
                found.wrong.append(f"{session}: its process ran {-before:.3f} s after that")
            if mark in seen:
                found.late.append((taken - seen[mark]) / 1e6)
        return found._replace(hit=len(found.taken_over) + cut_short)

    async def _not_refused(self, victim: Worker, sessions: list[str]) -> list[str]:
        """Of those that a zombie ran: those of which it was not told that they are another's.

        It is by its first append or by its first renewal, whatever comes first.
        """
        refused: set[str] = set()
        with anyio.move_on_after(_REFUSED_SECONDS):
            while not refused >= {*sessions}:
                refused |= {line.split()[1] for line in victim.lines() if "refused" in line}
                refused |= {*_LOST.findall(victim.trouble())}
                await anyio.sleep(0.05)
        return [
            f"{one}: what stood still was not refused" for one in sessions if one not in refused
        ]

    def _beats(self) -> list[Beat]:
        words = [line.split() for line in self._file.read_text("utf-8").splitlines()]
        return [Beat(one[0], one[1], int(one[2]), int(one[3])) for one in words if len(one) == 4]


def _broken(beats: list[Beat], events: tuple[Event, ...]) -> list[str]:
    """Effects that were had twice, or an end that is not one."""
    found: list[str] = []
    if len({beat.worker for beat in beats}) > 1:
        found.append(f"its process ran on { ({beat.worker for beat in beats}) }")
    twice = [number for number, times in Counter(one.number for one in beats).items() if times > 1]
    if twice:
        found.append(f"had its effects twice: {twice}")
    ends = Counter(
        event.payload.message for event in events if isinstance(event.payload, AgentMessage)
    )
    if ends != Counter({"Done.": 1}):
        found.append(f"ended as {ends}")
    return found


def _is_cut_short(event: Event) -> bool:
    """A result of which not all could be kept."""
    payload = event.payload
    return isinstance(payload, CallSettled) and b'"dropped_bytes"' in bytes(payload.envelope)


def _taken_up(events: tuple[Event, ...]) -> int | None:
    """When the first event behind an intended call was written, in microseconds."""
    for before, after in pairwise(events):
        if before.type == "call.intended":
            return int(after.at.timestamp() * 1_000_000)
    return None


@asynccontextmanager
async def ward(farm: Farm, count: int = 2) -> AsyncGenerator[Ward]:
    """So many workers with tools, the first one with a disk of its own."""
    name = f"beats{next(_numbers)}_{time.time_ns() % 10**9}"
    server = farm.postgres.server
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="hf-")))
        small: Disk | None = stack.enter_context(disk(_ROOM))
        (folder / "work").mkdir()
        (folder / "work" / BEATS).touch()
        place = Place(
            folder,
            server.folder,
            f"postgresql://{USER}:{PASSWORD}@/{name}",
            farm.nats.nodes,
            name,
            Path(tooled.__file__),
            {} if small is None else {"w0": small},
        )
        settings = tooled.settings_of(server.url(name), ",".join(farm.nats.urls), name)
        hf = tooled.opened(settings, folder, folder / "home", "nobody")
        await stack.enter_async_context(hf)
        await hf.agents.all_sessions()
        workers = await stack.enter_async_context(working(place, count))
        yield Ward(workers, hf, place)
