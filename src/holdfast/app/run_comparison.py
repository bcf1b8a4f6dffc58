"""What a run writes, held against what was recorded in its place: byte for byte, as a journal has
it. Moments alone may be a little later than a run that was recorded looked at its clock.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from holdfast.app.run_recording import RecordedWake
from holdfast.contract.events import Event, ModelRequested, Payload, SpanStarted, StatusChanged
from holdfast.contract.journal import JournalError
from holdfast.contract.wake_events import WakeDeferred, WakeQueued
from holdfast.record.codec import text_of
from holdfast.record.divergence import Divergence, diverging, told

_NO_TIME = timedelta()
_ONE_ONCE, _ONE = "1 new events", "1 new event"
"""Why a run began, as journals of before say it, and as it is said now."""


class RunDiverged(JournalError):
    """The run does something else than was recorded."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(f"event {divergence.sequence} is another one")
        self.divergence = divergence


class Comparison:
    """How far two tellings of a session agree."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self.compared = 0
        """How many events the run has written as they were recorded."""
        self.requests = 0
        self.request_id = ""
        """Of the request that was written down last."""
        self.divergence: Divergence | None = None

    def agreed(
        self, at: int, payloads: Sequence[Payload], wake_id: str | None, wake: RecordedWake | None
    ) -> list[Event]:
        """The recorded events that stand from here on, if these are what the run writes;
        RunDiverged."""
        pairs = enumerate(payloads, at)
        found = [self._one(place, now, wake_id, wake) for place, now in pairs]
        self.compared += len(found)
        return found

    def _one(
        self, place: int, now: Payload, wake_id: str | None, wake: RecordedWake | None
    ) -> Event:
        if isinstance(now, ModelRequested):
            self.requests += 1
            self.request_id = now.request_id
        if place >= len(self._events):
            raise self._unrecorded(place, now)
        event = self._events[place]
        if event.wake_id != wake_id:
            whose = "nobody who runs the session" if event.wake_id is None else "another run"
            raise self.diverged(event, now, f"the run writes something here, and {whose} did")
        if text_of(now) == text_of(_as_said_today(event.payload)):
            return event
        if wake is not None and self._is_only_later(event, now, wake):
            return event
        raise self.diverged(event, now, self._about_request(event.payload, now))

    def diverged(self, event: Event, now: Payload | None, says: str | None = None) -> RunDiverged:
        """The run goes another way here; only the first time counts."""
        found = diverging(event, now, ())
        if found is None:  # the same JSON: its bytes differ, or who wrote it
            found = Divergence(
                sequence=event.sequence, event_id=event.id, kind=event.type, field="$"
            )
        return self.stopped(found if says is None else msgspec.structs.replace(found, says=says))

    def stopped(self, found: Divergence) -> RunDiverged:
        """The same, as somebody found it."""
        self.divergence = self.divergence or found
        return RunDiverged(self.divergence)

    def _unrecorded(self, place: int, now: Payload) -> RunDiverged:
        return self.stopped(
            Divergence(
                sequence=place + 1,
                event_id="",
                kind=str(now.__struct_config__.tag),
                field="$",
                after=told(now),
                says="the recording ends before it",
            )
        )

    def _about_request(self, said: Payload, now: Payload) -> str | None:
        if not isinstance(now, ModelRequested) or not isinstance(said, ModelRequested):
            return None
        if now.request_hash == said.request_hash:
            return None
        return (
            f"request {self.requests} tells the model something else: its hash is"
            f" {now.request_hash[:12]}, and was {said.request_hash[:12]}"
        )

    def _is_only_later(self, event: Event, now: Payload, wake: RecordedWake) -> bool:
        """Whether all that differs is a moment, counted from when a clock was looked at."""
        said = event.payload
        if isinstance(said, WakeQueued) and isinstance(now, WakeQueued):
            late = now.due_at - said.due_at
            alike = msgspec.structs.replace(now, due_at=said.due_at) == said
        elif isinstance(said, WakeDeferred) and isinstance(now, WakeDeferred):
            late = now.until - said.until
            alike = msgspec.structs.replace(now, until=said.until) == said
        else:
            return False
        return alike and _NO_TIME <= late <= self._slack(event, wake)

    def _slack(self, event: Event, wake: RecordedWake) -> timedelta:
        """How long before it wrote the run may have looked: before its first event, or this."""
        return max(one.at - self._before(one) for one in (wake.first, event))

    def _before(self, event: Event) -> datetime:
        """When something was written before it: what is written at once has one moment."""
        place = max(event.sequence - 2, 0)
        while place and self._events[place].at == event.at:
            place -= 1
        return self._events[place].at


def _as_said_today(said: Payload) -> Payload:
    """What was recorded, in the words of now: journals keep theirs."""
    if isinstance(said, StatusChanged) and said.reason == _ONE_ONCE:
        return msgspec.structs.replace(said, reason=_ONE)
    if isinstance(said, SpanStarted) and said.summary == _ONE_ONCE:
        return msgspec.structs.replace(said, summary=_ONE)
    return said
