"""Workers of a cluster, opened for a test, with a store and a connection to NATS."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta

import anyio
from record.store_places import StorePlace

from holdfast.contract.events import Payload, SessionCreated, UserMessage
from holdfast.contract.journal import Journal
from holdfast.contract.json_value import JsonObject
from holdfast.contract.outbox import Outbox
from holdfast.contract.ports import Clock
from holdfast.contract.wake_events import Priority, WakeQueued
from holdfast.contract.wakes import WakeRunner
from holdfast.engine.cluster.door import NatsServers
from holdfast.engine.cluster.engine import ClusterEngine
from holdfast.engine.cluster.link import Link, linked
from holdfast.engine.cluster.tenants import ClusterPace, Tenant
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.testing.engine_kit import EngineMaker

WORD = UserMessage(message="go")
SELDOM = ClusterPace(look_seconds=30, sweep_seconds=600)
"""Looks so seldom that a test that relies on looking does not end."""


class Fleet:
    """One store, one NATS, and as many workers as a test likes."""

    def __init__(self, servers: NatsServers, url: str) -> None:
        self.servers = servers
        self.place = StorePlace(url)
        self.clock = SystemClock()
        self.store: Store
        self.link: Link
        self._stack = AsyncExitStack()

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator["Fleet"]:
        async with self._stack:
            self.store = await self._stack.enter_async_context(self.place.opened())
            self.link = await self._stack.enter_async_context(linked(self.servers))
            yield self

    @property
    def journal(self) -> Journal:
        return self.store.journal

    @property
    def outbox(self) -> Outbox:
        assert self.store.outbox is not None
        return self.store.outbox

    def tenant(self, runner: WakeRunner, name: str = "one") -> Tenant:
        return Tenant(name=name, journal=self.journal, outbox=self.outbox, runner=runner)

    def engine(self, runner: WakeRunner, pace: ClusterPace = SELDOM) -> ClusterEngine:
        return ClusterEngine(self.link, [self.tenant(runner)], self.clock, pace)

    @asynccontextmanager
    async def working(
        self, runner: WakeRunner, pace: ClusterPace = SELDOM
    ) -> AsyncGenerator[ClusterEngine]:
        async with running(self.engine(runner, pace)) as engine:
            yield engine

    @asynccontextmanager
    async def another(self) -> AsyncGenerator["Fleet"]:
        """The same store and NATS, by connections of their own."""
        async with Fleet(self.servers, self.place.where).opened() as fleet:
            yield fleet

    def make(self) -> EngineMaker:
        @asynccontextmanager
        async def make(runner: WakeRunner, concurrency: int) -> AsyncGenerator[ClusterEngine]:
            pace = ClusterPace(concurrency=concurrency, look_seconds=30, sweep_seconds=600)
            yield self.engine(runner, pace)

        return make

    async def made(self, name: str, *payloads: Payload, label: str | None = None) -> None:
        metadata: JsonObject = {} if label is None else {"runs_on": label}
        created = SessionCreated(agent_id="kit", metadata=metadata)
        await self.journal.create(name, [created, *payloads])


@asynccontextmanager
async def running(engine: ClusterEngine) -> AsyncGenerator[ClusterEngine]:
    """One that runs until the end of the block."""
    async with anyio.create_task_group() as group:
        group.start_soon(engine.run)
        yield engine
        await engine.stop()


def wake(due: datetime, priority: Priority = "normal", number: int = 1) -> WakeQueued:
    return WakeQueued(queued_wake_id=f"qwk_{number}", due_at=due, reason="kit", priority=priority)


def soon(clock: Clock, seconds: float) -> datetime:
    return clock.now() + timedelta(seconds=seconds)


async def until(holds: Callable[[], bool], seconds: float = 12.0) -> None:
    with anyio.fail_after(seconds):
        while not holds():  # noqa: ASYNC110 - what is waited for tells nobody
            await anyio.sleep(0.01)
