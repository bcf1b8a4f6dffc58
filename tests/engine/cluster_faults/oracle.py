"""What has to be so after a round, whatever went wrong: told by the journals and by the effects."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from engine.cluster_faults.plan import Round

from holdfast.contract.events import AgentMessage, Event, EventsProcessed, UserMessage
from holdfast.contract.journal import Journal
from holdfast.contract.wake_events import WakeQueued, WakesCompleted
from holdfast.record.store import Store


class Outage(NamedTuple):
    """When a store was there for nobody, in microseconds."""

    begun: int
    ended: int


class Takeover(NamedTuple):
    """A session went from one worker to another one, in microseconds."""

    session: str
    since: int
    """When the lease had ended and it was due."""
    until: int
    """When the first event of the other one was written."""

    def late_seconds(self, outages: Iterable[Outage]) -> float:
        """How long it could have been taken over and was not: it cannot while the store is away."""
        since = self.since
        for outage in outages:
            if outage.begun <= self.until and outage.ended > since:
                since = outage.ended
        return (self.until - since) / 1e6


def takeover_in(line: str) -> Takeover | None:
    """As a worker tells it; None: it tells something else."""
    words = line.split()
    if words[0] != "taken":
        return None
    return Takeover(words[1], int(words[2]), int(words[3]))


def effects_in(file: Path) -> Counter[str]:
    """How often each was had."""
    return Counter(line.split()[0] for line in file.read_text("utf-8").splitlines())


async def broken(store: Store, round_: Round, effects: Mapping[str, int]) -> list[str]:
    """Everything that is not as it has to be, in words."""
    found: list[str] = []
    for session in round_.sessions:
        events = await _all_events(store.journal, session)
        said = {one.id for one in round_.said if one.session == session}
        found.extend(f"{session}: {one}" for one in _broken(events, said, effects))
        differences = await store.archive.rebuild(session, repair=False)
        found.extend(f"{session}: {one}" for one in differences)
    return found


async def _all_events(journal: Journal, session: str) -> list[Event]:
    events: list[Event] = []
    while page := await journal.events(session, after=len(events)):
        events.extend(page)
    return events


def _broken(events: list[Event], said: set[str], effects: Mapping[str, int]) -> Iterator[str]:
    kept = {name for event in events for name in _said_by(event)}
    taken = Counter(name for event in events for name in _taken_by(event))
    had = Counter(
        event.payload.message for event in events if isinstance(event.payload, AgentMessage)
    )
    if kept != said:
        yield f"said and kept differ: {sorted(kept ^ said)}"
    for name in sorted(said):
        if taken[name] != 1:
            yield f"{name} was taken into account {taken[name]} times"
        if had[name] > 1:
            yield f"{name} was written down as done {had[name]} times"
        if effects.get(name, 0) > 1:
            yield f"{name} had its effect {effects[name]} times"
        if had[name] and not effects.get(name, 0):
            yield f"{name} was written down as done, and had no effect"


def _said_by(event: Event) -> tuple[str, ...]:
    if isinstance(event.payload, UserMessage):
        return (event.id,)
    return (event.payload.queued_wake_id,) if isinstance(event.payload, WakeQueued) else ()


def _taken_by(event: Event) -> tuple[str, ...]:
    if isinstance(event.payload, EventsProcessed):
        return event.payload.event_ids
    return event.payload.queued_wake_ids if isinstance(event.payload, WakesCompleted) else ()
