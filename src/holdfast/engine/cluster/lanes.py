"""Lanes: the hints of one tenant, of one urgency, for one label; who pulls from which, and when.

A lane that has hints is asked in its turn, for as many as there is room for. One that had none is
left a request that waits at the server: its next hint comes by itself. What is done with hints is
not known here.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec
from anyio import move_on_after

from holdfast.contract.ports import Clock
from holdfast.engine.cluster.door import Ends, Heard
from holdfast.engine.cluster.hints import Hint, hint_in
from holdfast.engine.cluster.link import Link
from holdfast.engine.cluster.streams import Streams
from holdfast.engine.cluster.subjects import CLASSES, Class
from holdfast.runtime.abort import Abort

_SECOND = 1_000_000_000
_ANSWER_SECONDS = 2.0
"""How long a server may take to say that there is nothing."""
_SILENT_SECONDS = 1
"""A lane that does not answer is asked again so much later."""
_STATUS = "Status"
_DESCRIPTION = "Description"
_NOBODY = "503"
_REMOVED = "Consumer Deleted"
_REMOVED_SECONDS = 10
"""Nobody changes a leader for so long: it is made again, which does no harm where it is there."""
_LANES_A_SECOND = 20
"""Requests that wait are made again, so many a second at the most."""
_HEARTBEAT = "100"


class Lane(msgspec.Struct, eq=False):
    """One, and what was asked of it."""

    number: int
    tenant: str
    kind: Class
    consumer: str
    subject: str
    left: int = 0
    """Of what was asked for and waited for: how many may still come."""
    waits_until: int = 0
    """A request of it waits at the server until then, in ticks of the clock."""
    answers: bool = True
    """It did when it was asked last. One of which nothing is heard is asked for nothing that waits:
    whoever is deaf would be handed hints that others could have."""
    answered: Abort = msgspec.field(default_factory=Abort)
    nobody_since: int | None = None
    """Since when nobody hands out what it has, in ticks of the clock: as servers change their
    leader, or as it was removed."""


class Lanes:
    """All from which a worker takes hints."""

    def __init__(
        self, link: Link, streams: Streams, clock: Clock, came: Callable[[Hint], None]
    ) -> None:
        """``came`` is told of each hint, on the event loop."""
        self._link = link
        self._streams = streams
        self._clock = clock
        self._came = came
        self._inbox = ""
        self._ends: Ends | None = None
        self._turn = 0
        self.all = tuple(self._made())
        self._by_consumer = {lane.consumer: lane for lane in self.all}

    async def open(self) -> None:
        """Make what is not there, and listen; harmless when that was done. LinkError."""
        await self._link.have(self._streams)
        if self._ends is None:
            self._inbox = self._link.client.inbox()
            self._ends = await self._link.client.subscribe(f"{self._inbox}.*", self._heard)

    async def close(self) -> None:
        """Hear nothing more."""
        ends, self._ends = self._ends, None
        if ends is not None:
            await ends()

    def forget_waiting(self) -> None:
        """The connection was lost: no request waits anywhere."""
        for lane in self.all:
            lane.waits_until = 0

    @property
    def all_wait(self) -> bool:
        """Whether the next hint of each comes by itself."""
        ticks = self._clock.ticks()
        return all(lane.answers and lane.waits_until > ticks for lane in self.all)

    def in_turn(self, left_alone: Collection[str] = ()) -> Iterator[Sequence[Lane]]:
        """Each tenant's lanes that may have hints, the most urgent first: another tenant is the
        first one every time. ``left_alone``: tenants that are not asked for any."""
        ticks = self._clock.ticks()
        tenants = self._streams.tenants
        first = self._turn % max(1, len(tenants))
        self._turn += 1
        for tenant in (*tenants[first:], *tenants[:first]):
            if tenant not in left_alone:
                open_ones = [
                    lane for lane in self.all if lane.tenant == tenant and lane.waits_until <= ticks
                ]
                if open_ones:
                    yield open_ones

    def next_seconds(self, left_alone: Collection[str] = ()) -> float:
        """When a lane has to be asked again, at the latest."""
        ticks = self._clock.ticks()
        asked = (lane for lane in self.all if lane.tenant not in left_alone)
        moments = [max(lane.waits_until, ticks) for lane in asked]
        return (min(moments, default=ticks + _SECOND) - ticks) / _SECOND

    async def ask(self, lane: Lane, most: int) -> bool:
        """Take so many hints of a lane, those that there are; whether it may have more.
        LinkError."""
        lane.left, lane.answered = most, Abort()
        await self._request(lane, {"batch": most, "no_wait": True})
        with move_on_after(_ANSWER_SECONDS) as waiting:
            await lane.answered.wait()
        had_all, lane.left = lane.left == 0, 0
        lane.answers = not waiting.cancelled_caught and lane.nobody_since is None
        if not lane.answers:
            lane.waits_until = self._clock.ticks() + _SILENT_SECONDS * _SECOND
        return had_all

    async def have_more(self) -> bool:
        """Whether the stream has hints that nobody was handed. LinkError.

        A server that has taken one may say for a moment that there is none.
        """
        names, link = self._streams.names, self._link
        for lane in self.all:
            handed_out = await link.handed_out(names.wakes, lane.consumer)
            if await link.next(names.wakes, lane.subject, handed_out) is not None:
                return True
        return False

    async def wait_at(self, lane: Lane, seconds: float) -> None:
        """Have its next hint come by itself. LinkError."""
        seconds = max(seconds, len(self.all) / _LANES_A_SECOND)
        await self._request(lane, {"batch": 1, "expires": int(seconds * _SECOND)})
        lane.waits_until = self._clock.ticks() + int(seconds * _SECOND)

    async def _request(self, lane: Lane, asked: dict[str, object]) -> None:
        stream = self._streams.names.wakes
        await self._link.client.publish(
            f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{lane.consumer}",
            msgspec.json.encode(asked),
            reply=f"{self._inbox}.{lane.number}",
            headers={},
        )

    def _heard(self, heard: Heard) -> None:
        hint = hint_in(self._streams.names, heard, self._clock.ticks())
        if hint is not None:
            lane = self._by_consumer.get(hint.consumer)
            if lane is not None:
                lane.nobody_since = None
                self._count(lane)
            self._came(hint)
        elif heard.headers.get(_STATUS, _HEARTBEAT) != _HEARTBEAT:
            self._is_over(heard)

    def _count(self, lane: Lane) -> None:
        """One of those that were asked for came."""
        if lane.left == 0:
            lane.waits_until = 0
            return
        lane.left -= 1
        if lane.left == 0:
            lane.answered.set()

    def _is_over(self, heard: Heard) -> None:
        """No more comes for a request: all of it came, its time is over, or it was refused."""
        number = heard.subject.rpartition(".")[2]
        if not number.isdigit() or int(number) >= len(self.all):
            return
        lane = self.all[int(number)]
        self._note(lane, heard.headers)
        if lane.left:
            lane.answered.set()
        elif lane.nobody_since is None:
            lane.waits_until = 0
        else:
            lane.waits_until = self._clock.ticks() + _SILENT_SECONDS * _SECOND

    def _note(self, lane: Lane, said: Mapping[str, str]) -> None:
        """Whether there is anybody who hands out its hints."""
        ticks = self._clock.ticks()
        if said[_STATUS] != _NOBODY:
            lane.nobody_since = None
        elif lane.nobody_since is None:
            lane.nobody_since = ticks
        is_removed = _REMOVED in said.get(_DESCRIPTION, "")
        since = lane.nobody_since
        if is_removed or (since is not None and ticks - since > _REMOVED_SECONDS * _SECOND):
            lane.nobody_since = ticks
            self._link.forget()

    def _made(self) -> Iterator[Lane]:
        number = 0
        names = self._streams.names
        for tenant in self._streams.tenants:
            for kind in CLASSES:
                for label in self._streams.labels:
                    consumer = names.consumer(tenant, kind, label)
                    yield Lane(number, tenant, kind, consumer, names.lane(tenant, kind, label))
                    number += 1
