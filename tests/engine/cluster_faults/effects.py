"""A worker whose runs have effects that the journal cannot take back: a process of its own.

python effects.py URL SERVERS NAMESPACE NAME FILE

For each word and wake of a session, a run writes down its intent, has the effect (a line in FILE,
which all workers share), and writes down that it had it. What an earlier run intended and did not
write down as done is not done again. For each session that it took over from another worker, it
prints since when that could be, and when its own first event was written. It is gone when its input
ends.
"""

import os
import sys
import time
from contextlib import AsyncExitStack
from random import Random
from threading import Thread

import anyio
from msgspec.structs import replace

from holdfast.contract.events import (
    AgentMessage,
    EventsProcessed,
    Payload,
    SpanCompleted,
    SpanStarted,
    StatusChanged,
    StatusIdle,
)
from holdfast.contract.journal import Journal, JournalUnavailable, Lease, LeaseHeld
from holdfast.contract.session_state import SessionState, due_micros
from holdfast.contract.wake_events import WakesCompleted
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.cluster.door import LinkError, NatsServers
from holdfast.engine.cluster.engine import ClusterEngine
from holdfast.engine.cluster.link import Link, linked
from holdfast.engine.cluster.tenants import Tenant, pace_within
from holdfast.record.codec import Chain
from holdfast.record.postgres.door import open_postgres
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

KEY = b"k" * 32
LEASE_SECONDS = 1.5
REPLICAS = 3
TENANT = "one"
PACE = replace(pace_within(LEASE_SECONDS), look_seconds=0.5, sweep_seconds=5, most_in_vain=8)
_SLOWEST_SECONDS = 0.2
_AGAIN_SECONDS = 0.2


class Effects:
    """Runs sessions of one journal."""

    def __init__(self, journal: Journal, holder: str, file: int) -> None:
        self._journal = journal
        self._holder = holder
        self._file = file

    async def __call__(self, session_id: str, /) -> WakeEnd:
        before = await self._journal.session(session_id)
        try:
            lease = await self._journal.lease(session_id, self._holder, LEASE_SECONDS)
        except LeaseHeld:
            return WakeEnd(session_id=session_id, executed=False, reason="lease_contended")
        lost = before.lease
        since = None
        if lost is not None and lost.holder != self._holder:
            since = max(lost.until_micros, due_micros(before.state) or 0)
        try:
            executed = await self._run(lease, since)
        finally:
            await self._journal.release(lease)
        reason = None if executed else "idle"
        return WakeEnd(session_id=session_id, executed=executed, reason=reason)

    async def _run(self, lease: Lease, since: int | None) -> bool:
        state = (await self._journal.session(lease.session_id)).state
        if due_micros(state) is None:
            return False
        begun = StatusChanged(from_status=state.status, to_status="running", reason="effects")
        await self._append(lease, begun)
        if since is not None:
            _say(f"taken {lease.session_id} {since} {time.time_ns() // 1000}")
        events = await self._journal.events(lease.session_id)
        intended = {
            event.payload.span_id for event in events if isinstance(event.payload, SpanStarted)
        }
        for name, taken in _waiting(state):
            await self._have(lease, name, taken, was_intended=name in intended)
        await self._append(lease, StatusIdle(reason="idle", summary="done"))
        return True

    async def _have(self, lease: Lease, name: str, taken: Payload, *, was_intended: bool) -> None:
        if was_intended:
            given_up = SpanCompleted(span_id=name, span_kind="tool", name="effect", result="error")
            await self._append(lease, given_up, taken)
            return
        dice = Random(name)
        await self._append(lease, SpanStarted(span_id=name, span_kind="tool", name="effect"))
        await anyio.sleep(dice.uniform(0, _SLOWEST_SECONDS))
        os.write(self._file, f"{name} {self._holder} {lease.epoch}\n".encode())
        os.fsync(self._file)
        await anyio.sleep(dice.uniform(0, _SLOWEST_SECONDS))
        done = SpanCompleted(span_id=name, span_kind="tool", name="effect", result="success")
        await self._append(lease, AgentMessage(message=name, summary="effect"), done, taken)

    async def _append(self, lease: Lease, *payloads: Payload) -> None:
        await self._journal.append(lease.session_id, payloads, epoch=lease.epoch)


def _waiting(state: SessionState) -> list[tuple[str, Payload]]:
    """What is to be done, and what says that it was taken into account."""
    now = time.time_ns() // 1000
    words = [(one, EventsProcessed(event_ids=(one,))) for one in state.pending]
    wakes = [
        (one.id, WakesCompleted(queued_wake_ids=(one.id,)))
        for one in state.wakes
        if one.due_micros <= now
    ]
    return [*words, *wakes]


def _say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


async def main(url: str, servers: str, namespace: str, name: str, file: str) -> None:
    clock = SystemClock()
    store = await _opened(url, clock)
    assert store.outbox is not None
    shared = os.open(file, os.O_WRONLY | os.O_APPEND)
    runner = Effects(store.journal, f"{name}_{os.getpid()}", shared)
    asked = NatsServers(servers=tuple(servers.split(",")), namespace=namespace, replicas=REPLICAS)
    async with AsyncExitStack() as stack:
        link = await _linked(asked, stack)
        _say("begun")
        tenant = Tenant(name=TENANT, journal=store.journal, outbox=store.outbox, runner=runner)
        await ClusterEngine(link, [tenant], clock, PACE).run()


async def _opened(url: str, clock: SystemClock) -> Store:
    """As one that is started again and again until it can be."""
    while True:
        try:
            return open_postgres(url, Chain(KEY), clock, TimeIds(clock))
        except JournalUnavailable:
            await anyio.sleep(_AGAIN_SECONDS)


async def _linked(servers: NatsServers, stack: AsyncExitStack) -> Link:
    while True:
        try:
            return await stack.enter_async_context(linked(servers))
        except LinkError:
            await anyio.sleep(_AGAIN_SECONDS)


def _end_with_input() -> None:
    os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    Thread(target=_end_with_input, daemon=True).start()
    URL, SERVERS, NAMESPACE, NAME, FILE = sys.argv[1:]
    anyio.run(main, URL, SERVERS, NAMESPACE, NAME, FILE)
