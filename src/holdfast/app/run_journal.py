"""A journal in memory that is led by a recording.

What came from elsewhere is put in at its recorded place, before whatever the run writes next; what
the run writes itself has to be what was recorded, and is kept under its recorded name and time. Why
the run writes it is not known here.
"""

from collections.abc import Callable, Sequence

from anyio import sleep_forever

from holdfast.agent.beginning import LOST
from holdfast.app.run_comparison import Comparison, RunDiverged
from holdfast.app.run_recording import RecordedWake, call_of
from holdfast.contract.events import (
    AgentChunk,
    ChildCreated,
    ChildIdle,
    Event,
    EventsProcessed,
    ModelRequested,
    Payload,
    UserInterrupt,
)
from holdfast.contract.journal import MOST_EVENTS, JournalError, Session
from holdfast.contract.managed_events import MANAGED_KINDS
from holdfast.contract.ports import IdPrefix
from holdfast.record.journal import StoreJournal
from holdfast.record.memory import memory_parts
from holdfast.runtime.replaying import ReplayClock

_NOBODYS = (ChildCreated, ChildIdle, AgentChunk, *MANAGED_KINDS)
"""What others write under the name of the run that is under way."""


class _EventIds:
    """Gives the recorded name of the event that is put in next."""

    def __init__(self) -> None:
        self.next = ""

    def new(self, prefix: IdPrefix) -> str:  # noqa: ARG002 - only events are named here
        return self.next


class LedJournal(StoreJournal):
    """The journal of one session, led by its recorded events."""

    def __init__(
        self, events: Sequence[Event], clock: ReplayClock, of_runs: frozenset[str]
    ) -> None:
        """``of_runs``: the calls that models asked for; others came from elsewhere."""
        self._event_ids = _EventIds()
        super().__init__(memory_parts(clock, self._event_ids))
        self._events = events
        self._clock = clock
        self._of_runs = of_runs
        self.comparison = Comparison(events)
        self.at = 0
        """How many events are in."""
        self.wake: RecordedWake | None = None
        """The run that is under way."""
        self.seen: int | None = None
        """The number of the last event that the run had seen when it began; None: as much as what
        it wrote next tells."""
        self.gone: Callable[[], None] = lambda: None
        """Told when the run would go on where its program was gone."""
        self.told: Callable[[Event], None] = lambda _event: None
        """Told of what is put in that whoever runs the session wrote."""

    @property
    def next(self) -> Event | None:
        """What was recorded next."""
        return self._events[self.at] if self.at < len(self._events) else None

    def ahead(self) -> Sequence[Event]:
        """What the run under way wrote from here on."""
        wake = self.wake
        return () if wake is None else wake.behind(self.at)

    async def feed_through(self, sequence: int) -> None:
        """Put in what was recorded, up to a number."""
        while self.at < sequence:
            await self._feed(self._events[self.at])

    async def feed_from_elsewhere(self, through: int | None = None) -> None:
        """Put in what others wrote here, up to a number where one is given."""
        while (event := self.next) is not None and self._came_from_elsewhere(event):
            if through is not None and event.sequence > through:
                return
            await self._feed(event)

    async def append(
        self,
        session_id: str,
        payloads: Sequence[Payload],
        /,
        *,
        epoch: int | None = None,
        wake_id: str | None = None,
        ids: Sequence[str] | None = None,  # noqa: ARG002 - the recorded ones count
    ) -> tuple[Event, ...]:
        """Take what the run writes, if it was written; RunDiverged."""
        if self.comparison.divergence is not None:
            raise RunDiverged(self.comparison.divergence)
        if self.wake is not None and self.wake.end is None and not self.ahead():
            self.gone()
            await sleep_forever()
        await self.feed_from_elsewhere()
        recorded = self.comparison.agreed(self.at, payloads, wake_id, self.wake)
        if not recorded:
            return ()
        self._clock.set(recorded[0].at)
        written = await super().append(
            *(session_id, [one.payload for one in recorded]),
            epoch=epoch,
            wake_id=wake_id,
            ids=[one.id for one in recorded],
        )
        self.at += len(recorded)
        self._look_ahead()
        return written

    async def events(
        self, session_id: str, /, *, after: int = 0, limit: int = MOST_EVENTS
    ) -> tuple[Event, ...]:
        """What is in; with what others had written when the run looked, as far as it tells."""
        await self.others_are_heard()
        return await super().events(session_id, after=after, limit=limit)

    async def session(self, session_id: str, /) -> Session:
        """Where it stands, with the same."""
        await self.others_are_heard()
        return await super().session(session_id)

    async def others_are_heard(self) -> None:
        """Put in what others had written by now, as far as what comes next tells that."""
        if self.seen is not None and self.wake is not None and self.at < self.wake.first.sequence:
            await self.feed_from_elsewhere(self.seen)
            return
        asked = (one.payload for one in self.ahead() if isinstance(one.payload, ModelRequested))
        turn = next((one for one in asked if one.purpose == "turn"), None)
        await self.feed_from_elsewhere(self._answered() if turn is None else turn.through)

    def _answered(self) -> int:
        """The number of the last event that the run has heard of when it comes to its end.

        It takes interrupts into account there, but for those that say what to do instead: one
        without such words that it leaves alone came too late for it.
        """
        said = [one.payload for one in self.ahead() if isinstance(one.payload, EventsProcessed)]
        if not said:
            return 0
        known = {name for one in said for name in one.event_ids}
        for event in self._events[self.at :]:
            stops = isinstance(event.payload, UserInterrupt) and not event.payload.note
            if not self._came_from_elsewhere(event) or (stops and event.id not in known):
                return event.sequence - 1
        return self._events[-1].sequence

    def _came_from_elsewhere(self, event: Event) -> bool:
        said = event.payload
        if event.wake_id is None:
            return True
        call_id = call_of(said)
        if call_id is not None and self.wake is not None:
            by_the_run = call_id in self._of_runs or self.wake.is_asked_by_the_run(call_id)
            return not by_the_run
        is_found_gone = isinstance(said, ChildIdle) and said.summary == LOST
        return isinstance(said, _NOBODYS) and not is_found_gone

    async def _feed(self, event: Event) -> None:
        self._clock.set(event.at)
        self._event_ids.next = event.id
        try:
            if self.at == 0:
                written = await self.create(event.session_id, [event.payload])
            else:
                written = await super().append(
                    *(event.session_id, [event.payload]), wake_id=event.wake_id, ids=[event.id]
                )
        except JournalError as problem:
            raise self.comparison.diverged(event, None, str(problem)) from None
        if not written:
            says = "an event of the same id stands before it"
            raise self.comparison.diverged(event, None, says)
        self.at += 1
        if event.wake_id is not None:
            self.told(written[0])
        self._look_ahead()

    def _look_ahead(self) -> None:
        """It is as late as when the run wrote next: until then it may look at the clock."""
        coming = self.ahead()
        if coming:
            self._clock.set(coming[0].at)
