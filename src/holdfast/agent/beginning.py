"""Why a wake is run, and what is written down before anything else happens in it."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import msgspec

from holdfast.agent.conversation import Conversation
from holdfast.agent.given_up import given_up
from holdfast.agent.keeping import Keeper
from holdfast.agent.place import Equipment, Workplace
from holdfast.agent.spans import WAKE_SPAN
from holdfast.contract.events import (
    ChildIdle,
    CustomToolResult,
    EventsProcessed,
    Payload,
    SpanStarted,
    StatusChanged,
    StatusIdle,
    ToolConfirmation,
    UserInterrupt,
)
from holdfast.contract.journal import Journal
from holdfast.contract.session_state import SessionState, urgency_of
from holdfast.contract.wake_events import (
    PARKED_UNTIL,
    QueuedWake,
    RunBounded,
    WakeDeferred,
    WakesCompleted,
)
from holdfast.runtime.recovery import as_it_stands
from holdfast.runtime.trail import Approved

INTERRUPTED = "User interrupted prior blocked or scheduled work"
TAKEN_UP = "taken up after its program ended"
LOST = "lost: the program that ran it is gone"
MOST_ATTEMPTS = 5
"""After so many failed runs in a row a person has to look."""
AT_ONCE = datetime(1970, 1, 1, tzinfo=UTC)
_ANSWERS = (ToolConfirmation, CustomToolResult, UserInterrupt)
"""What an interrupt makes void wherever it stands."""


class Beginning(msgspec.Struct, frozen=True):
    """A session that might be run."""

    place: Workplace
    equipment: Equipment
    talk: Conversation
    state: SessionState
    standing: Mapping[str, Approved]
    """Calls that have come as far as a person."""

    @property
    def interrupt(self) -> UserInterrupt | None:
        """The last interrupt that nobody has taken into account."""
        said = [one for one in self.talk.pending.values() if isinstance(one, UserInterrupt)]
        return said[-1] if said else None

    @property
    def interrupt_note(self) -> str | None:
        """What it says to do instead."""
        return None if self.interrupt is None else self.interrupt.note

    @property
    def due(self) -> tuple[QueuedWake, ...]:
        """The queued wakes whose time has come, the most urgent first."""
        now = self.place.clock.unix_ns() // 1000
        due = (one for one in self.state.wakes if one.due_micros <= now)
        return tuple(sorted(due, key=urgency_of))

    def told(self, reason: str, wake_id: str) -> list[Payload]:
        """What a run begins with."""
        status = self.state.status
        due = () if self.interrupt is not None else tuple(one.id for one in self.due)
        equipped = self.place.outfit.anew(self.talk.equipped)
        return [
            StatusChanged(from_status=status, to_status="running", reason=reason),
            SpanStarted(span_id=wake_id, span_kind="wake", name=WAKE_SPAN, summary=reason),
            *([RunBounded(limits=self.equipment.limits)] if self.equipment.goes_on else []),
            *([WakesCompleted(queued_wake_ids=due)] if due else []),
            *self._lost_children(),
            *([] if equipped is None else [equipped]),
            *([self._one_more_attempt()] if status == "running" else []),
        ]

    def _one_more_attempt(self) -> WakeDeferred:
        """The run before this one never came to an end: it may have taken its program with it.

        Should this one do the same, nobody takes the session up for ever.
        """
        attempt = self.state.attempts + 1
        # So many failed before only for what may pass, and is waited for.
        passes = self.state.attempts >= MOST_ATTEMPTS
        until = PARKED_UNTIL if not passes and attempt + 1 >= MOST_ATTEMPTS else AT_ONCE
        return WakeDeferred(until=until, attempt=attempt, reason=TAKEN_UP)

    def _lost_children(self) -> Iterator[Payload]:
        running = self.place.running_children()
        for child in sorted(self.talk.children):
            if child not in running:
                yield ChildIdle(
                    child_session_id=child,
                    child_stop_reason="terminated",
                    summary=LOST,
                    executed_cycles=0,
                )

    def interrupted(self) -> list[Payload]:
        """What an interrupt ends: whatever was blocked, scheduled or asked for."""
        note = self.interrupt_note
        said = f"{INTERRUPTED}: {note}" if note else INTERRUPTED
        queued = tuple(one.id for one in self.state.wakes)
        return [
            *given_up(self.place, self.talk.open_calls, self.state.calls, by_a_person=True),
            *([WakesCompleted(queued_wake_ids=queued, cancelled=True)] if queued else []),
            EventsProcessed(event_ids=stopped_by(self.talk.pending)),
            StatusIdle(reason="interrupted", summary=said),
        ]


async def looked_at(
    keeper: Keeper, journal: Journal, session_id: str
) -> tuple[SessionState, Mapping[str, Approved]]:
    """A session and its standing calls as of one moment, whoever writes meanwhile; what was said by
    then is taken in."""
    while True:
        session, standing = await as_it_stands(journal, session_id)
        await keeper.read_up_to(session.sequence)
        if keeper.talk.sequence == session.sequence:
            return session.state, standing


def stopped_by(pending: Mapping[str, Payload]) -> tuple[str, ...]:
    """What an interrupt has an end with: all that was said before it, and answers to what waits.

    What a person says behind it is what to do instead, and stays.
    """
    names = list(pending)
    stops = [place for place, name in enumerate(names) if isinstance(pending[name], UserInterrupt)]
    last = stops[-1] if stops else -1
    return tuple(
        name
        for place, name in enumerate(names)
        if place <= last or isinstance(pending[name], _ANSWERS)
    )


def reason_to_run(beginning: Beginning, *, goes_on: bool) -> str | None:
    """Why there is something to do; None: there is nothing, or it has to wait for a person."""
    talk, standing = beginning.talk, beginning.standing
    if beginning.interrupt is not None:
        return "interrupted by a person"
    if standing and all(_is_answered(one) for one in standing.values()):
        return "a person answered"
    if standing:
        return _asked_again(beginning)
    if talk.pending:
        number = len(talk.pending)
        return "1 new event" if number == 1 else f"{number} new events"
    if beginning.due:
        return beginning.due[0].reason
    if talk.children - beginning.place.running_children():
        return "work in the background was lost"
    if beginning.state.status == "running":
        return TAKEN_UP  # also where nothing is left to do but to come to rest
    return "told to go on" if goes_on and (talk.unseen or talk.open_calls) else None


def _asked_again(beginning: Beginning) -> str | None:
    """Somebody has yet to answer: whoever is here is asked, and elsewhere it has to be known."""
    if beginning.equipment.interactive:
        return "a person is asked again"
    return TAKEN_UP if beginning.state.status == "running" else None


def _is_answered(call: Approved) -> bool:
    return call.answer is not None
