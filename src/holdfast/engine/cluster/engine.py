"""The engine of a worker: takes hints as there is room, and has their sessions run.

Tenants have their turn one after the other, and within one what is most urgent goes first. What is
due is known to the journals alone. A store that cannot be read, or a connection to NATS that is
lost, ends nothing: what cannot be done now is done later.
"""

import logging
from collections.abc import Sequence
from functools import partial

from anyio import create_task_group, move_on_after, sleep
from anyio.abc import TaskGroup

from holdfast.contract.journal import JournalError
from holdfast.contract.ports import Clock
from holdfast.engine.cluster.announcing import Announcer, is_leased
from holdfast.engine.cluster.attending import Attending
from holdfast.engine.cluster.door import LinkError
from holdfast.engine.cluster.hands import HELD_SECONDS, Hands
from holdfast.engine.cluster.lanes import Lane, Lanes
from holdfast.engine.cluster.link import Link
from holdfast.engine.cluster.present import Worker, answer
from holdfast.engine.cluster.streams import Streams
from holdfast.engine.cluster.subjects import ANY
from holdfast.engine.cluster.sweeping import Sweeper
from holdfast.engine.cluster.tenants import ClusterPace, Tenant, Who
from holdfast.engine.resting import causes_of
from holdfast.runtime.abort import Abort

_log = logging.getLogger("holdfast")

PACE = ClusterPace()
_TROUBLE_SECONDS = 1.0
_KEEPS = 4
"""How often it is said that a hint is in hand, in the time that a silent worker keeps it."""
_LONG_SECONDS = 3600.0
_MOMENT_SECONDS = 0.01
_MOST_DUE = 1000


class ClusterEngine:
    """Runs sessions of some tenants, beside other workers. Once stopped, it is over."""

    def __init__(
        self,
        link: Link,
        tenants: Sequence[Tenant],
        clock: Clock,
        pace: ClusterPace = PACE,
        who: Who | None = None,
    ) -> None:
        """``who``: what it says of itself; None: it says nothing."""
        names = link.names
        self._who = who
        self._link = link
        self._tenants = tuple(tenants)
        self._clock = clock
        self._pace = pace
        self._announcers = [Announcer(link, one, one.clock or clock, pace) for one in tenants]
        self._sweepers = [
            Sweeper(link, tenant, announcer, tenant.clock or clock)
            for tenant, announcer in zip(tenants, self._announcers, strict=True)
        ]
        attending = {one.name: Attending(link, one, one.clock or clock, pace) for one in tenants}
        self._hands = Hands(attending, pace.concurrency, clock, self._ring)
        labels = tuple(dict.fromkeys((*pace.labels, ANY)))
        named = tuple(one.name for one in tenants)
        streams = Streams(names, link.replicas, pace.ack_seconds, named, labels)
        self._lanes = Lanes(link, streams, clock, self._hands.came)
        self._bell = Abort()
        self._stopping = False
        link.on_return(self._came_back)

    async def run(self) -> None:
        """Run what is due, as it becomes due, until `stop`."""
        async with create_task_group() as around:
            around.start_soon(self._keeping)
            if self._who is not None:
                since = self._clock.unix_ns() // 1000
                around.start_soon(answer, self._link, partial(self._told, self._who, since))
            for announcer in self._announcers:
                around.start_soon(announcer.run)
            for sweeper in self._sweepers:
                around.start_soon(sweeper.run, self._pace)
            async with create_task_group() as group:
                while not self._stopping:
                    bell = self._bell = Abort()
                    seconds = await self._tried_round(group)
                    if not self._stopping:
                        with move_on_after(seconds):
                            await bell.wait()
                await self._leave()
            around.cancel_scope.cancel()

    async def run_until_idle(self) -> int:
        """Run what is due now and whatever that makes due at once; how many wakes were executed.

        What stays due although it was run is not waited for; JournalError, LinkError.
        """
        before = self._hands.executed
        self._hands.away.open()
        unread: JournalError | LinkError | None = None
        async with create_task_group() as around:
            around.start_soon(self._keeping)
            async with create_task_group() as group:
                try:
                    await self._until_idle(group)
                except (JournalError, LinkError) as problem:
                    unread = problem  # what runs goes on to its end
                self._hands.away.stop()
            around.cancel_scope.cancel()
        if unread is not None:
            raise unread
        return self._hands.executed - before

    def poke(self, session_id: str, /) -> None:
        """Something may be due now: look at once. Safe to call from any thread."""
        for announcer in self._announcers:
            announcer.poke(session_id)

    @property
    def is_waiting(self) -> bool:
        """Whether it is connected, and everything it looked at was empty: its next hint comes by
        itself. For whoever tells that a worker is ready."""
        return self._link.client.is_connected and self._lanes.all_wait

    async def stop(self) -> None:
        """Begin nothing more, and wait for what runs."""
        self._stopping = True
        for part in (*self._announcers, *self._sweepers):
            part.stop()
        self._hands.away.stop()
        self._ring()
        while self._hands.is_running:
            await self._hands.wait_for_end()

    async def _until_idle(self, group: TaskGroup) -> None:
        await self._lanes.open()
        for tenant, announcer in zip(self._tenants, self._announcers, strict=True):
            told = await announcer.tell_untold()
            await announcer.tell_asked(told)
            await self._tell_due(tenant, announcer, told)
        while not self._stopping:
            was_empty = self._hands.is_empty
            may_have_more = await self._round(group, waits=False)
            if may_have_more or (was_empty and not self._hands.is_empty):
                continue
            if not self._hands.is_empty:
                await self._hands.wait_for_end()
            elif was_empty and not any([await one.tell_untold() for one in self._announcers]):
                if not await self._lanes.have_more():
                    return
                await sleep(_MOMENT_SECONDS)

    async def _tell_due(self, tenant: Tenant, announcer: Announcer, told: frozenset[str]) -> None:
        """Whatever is due and was told once: its hint may be lost, or wait for another moment."""
        now = (tenant.clock or self._clock).unix_ns() // 1000
        await announcer.tell_again(
            one
            for one in await tenant.journal.due(now, limit=_MOST_DUE)
            if one.id not in told
            and not is_leased(one, now)
            and not self._hands.is_left_alone((tenant.name, one.id), causes_of(one.state, now))
        )

    async def _tried_round(self, group: TaskGroup) -> float:
        """Take what there is room for; how long there is nothing else to do."""
        try:
            if not self._link.client.is_connected:
                return _TROUBLE_SECONDS
            if await self._round(group, waits=True):
                return 0
        except LinkError as problem:
            _log.warning("no hints can be taken: %s; trying again later", problem)
            return _TROUBLE_SECONDS
        if self._hands.holds:
            return HELD_SECONDS
        if self._hands.room <= 0:
            return _LONG_SECONDS
        return self._lanes.next_seconds(self._hands.away.tenants)

    async def _round(self, group: TaskGroup, *, waits: bool) -> bool:
        """Have every tenant take its turn; whether one may have more for which there is room.

        ``waits``: the next hint of a lane without any comes by itself.
        """
        await self._lanes.open()
        self._hands.begin(group)
        await self._hands.give_back()
        turns = list(self._lanes.in_turn(self._hands.away.tenants))
        share = max(1, self._hands.room // max(1, len(turns)))
        more = [await self._turn(lanes, share, group, waits=waits) for lanes in turns]
        return any(more) and self._hands.room > 0

    async def _turn(
        self, lanes: Sequence[Lane], share: int, group: TaskGroup, *, waits: bool
    ) -> bool:
        """The lanes of one tenant, up to its share; whether they may have more."""
        left = share
        for lane in lanes:
            most = min(left, self._hands.room)
            if most <= 0 or self._stopping:
                return True
            room = self._hands.room
            had_all = await self._lanes.ask(lane, most)
            left -= max(0, room - self._hands.room)
            self._hands.begin(group)
            if not had_all and waits and lane.answers:
                await self._lanes.wait_at(lane, self._pace.wait_seconds)
        return left <= 0

    async def _keeping(self) -> None:
        async with create_task_group() as group:
            while True:
                await sleep(self._pace.ack_seconds / _KEEPS)
                try:
                    await self._hands.keep(group)
                except LinkError as problem:
                    _log.warning("it is not told what is in hand: %s", problem)

    async def _leave(self) -> None:
        """Wait for what runs. Others have what was not begun, and what comes meanwhile as it was
        asked for before."""
        while True:
            bell = self._bell = Abort()
            is_over = not self._hands.is_running
            try:
                await self._hands.give_back(0)
                if is_over:
                    await self._lanes.close()
            except LinkError as problem:
                _log.warning("hints are not given back: %s; they come again by themselves", problem)
            if is_over:
                return
            await bell.wait()

    def _told(self, who: Who, since: int) -> Worker:
        """What it says of itself, at this moment."""
        return Worker(
            name=who.name,
            host=who.host,
            version=who.version,
            labels=self._pace.labels,
            tenants=tuple(one.name for one in self._tenants),
            concurrency=self._pace.concurrency,
            in_hand=self._pace.concurrency - self._hands.room,
            since=since,
            ends=self._stopping,
        )

    def _came_back(self) -> None:
        self._lanes.forget_waiting()
        self._ring()

    def _ring(self) -> None:
        self._bell.set()
