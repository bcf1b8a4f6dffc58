"""What comes to a session from outside, whoever runs it: words, answers, results, wakes.

None of it needs a lease: it is written into the journal, and whoever runs the session, or runs it
next, takes it into account. Secrets are taken out before. Nothing of a session runs here, and who
has to hear of it at once is for others to tell.
"""

from datetime import datetime

import msgspec

from holdfast.app.answering import checked_answer, confirmation, write_answer
from holdfast.contract.events import (
    CustomToolResult,
    Event,
    OutcomeDefined,
    Payload,
    UserInterrupt,
    UserMessage,
    WantedOutcome,
)
from holdfast.contract.journal import Journal, NotFitting
from holdfast.contract.json_value import clean_text
from holdfast.contract.ports import Answer, IdSource
from holdfast.contract.session_state import SessionState
from holdfast.contract.wake_events import Priority, QueuedWake, WakeQueued, WakesCompleted
from holdfast.envelope.redact import Redactor
from holdfast.record.codec import micros_of
from holdfast.runtime.trail import without_secrets

MOST_WAITING = 1000
"""Messages, or queued wakes, that may wait for one session: more is a program gone wild."""


class LaterRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run of a session that somebody wants later."""

    due_at: datetime
    reason: str
    note: str | None = None
    dedupe_key: str | None = None
    """While one of this key is queued, no other is."""
    priority: Priority = "normal"


async def send_message(
    journal: Journal, session_id: str, message: str, redactor: Redactor
) -> Event:
    """Say something to a session; NotFitting when it is over, UnknownSession."""
    if not message.strip():
        raise NotFitting("the message is empty; say what the session is to do")
    state = await _going_on(journal, session_id)
    if len(state.pending) >= MOST_WAITING:
        raise NotFitting(
            f"{len(state.pending)} messages wait for session {session_id} already; let it run first"
        )
    return await _written(journal, session_id, UserMessage(message=_clean(message, redactor)))


async def interrupt(
    journal: Journal, session_id: str, redactor: Redactor, note: str | None = None
) -> Event:
    """Stop what runs, is blocked or scheduled; a note says what to do instead."""
    await _going_on(journal, session_id)
    said = UserInterrupt(note=None if note is None else _clean(note, redactor))
    return await _written(journal, session_id, said)


async def define_outcome(journal: Journal, session_id: str, outcome: WantedOutcome) -> Event:
    """Say what is to come of a session; NotFitting when it is over. Secrets are out already."""
    await _going_on(journal, session_id)
    return await _written(journal, session_id, OutcomeDefined(outcome=outcome))


async def custom_result(
    journal: Journal, session_id: str, request_id: str, output: str, redactor: Redactor
) -> Event:
    """Give a session what it asked the application for; NotFitting when it does not wait for it."""
    asked = (await _going_on(journal, session_id)).custom
    name = "" if asked is None else asked.name
    if asked is None or asked.id != request_id:
        waits = "nothing" if asked is None else f"{asked.id}, the output of {name}"
        raise NotFitting(
            f"session {session_id} does not wait for {request_id}: it waits for {waits}"
        )
    given = CustomToolResult(request_id=request_id, tool_name=name, output=_clean(output, redactor))
    return await _written(journal, session_id, given)


async def confirm(
    journal: Journal, session_id: str, request_id: str, answer: Answer, redactor: Redactor
) -> None:
    """Answer a request to confirm; NotFitting when it does not wait, or not any more.

    Where a call waits for it, the same answer is that to its question.
    """
    told = checked_answer(answer)
    state = (await journal.session(session_id)).state
    if any(call.approval_id == request_id for call in state.calls.values()):
        await write_answer(journal, session_id, request_id, told, redactor)
        return
    asked = state.confirmation
    if asked is None or asked.id != request_id:
        raise NotFitting(
            f"session {session_id} does not wait for a confirmation of {request_id};"
            f" see: holdfast sessions questions {session_id}"
        )
    await _written(journal, session_id, confirmation(asked, without_secrets(told, redactor)))


async def queue_wake(
    journal: Journal, session_id: str, wanted: LaterRun, ids: IdSource, redactor: Redactor
) -> QueuedWake:
    """Have a session run later; the wake that is queued, which may be one of before.

    NotFitting when it is over, or cannot be so; UnknownSession.
    """
    if not wanted.reason.strip():
        raise NotFitting("a wake needs a reason; say what it is for")
    state = await _going_on(journal, session_id)
    queued = _of_key(state, wanted.dedupe_key)
    if queued is not None:
        return queued
    if len(state.wakes) >= MOST_WAITING:
        raise NotFitting(
            f"{len(state.wakes)} wakes of session {session_id} are queued already; cancel some"
        )
    said = WakeQueued(
        queued_wake_id=ids.new("wak"),
        due_at=wanted.due_at,
        reason=_clean(wanted.reason, redactor),
        note=None if wanted.note is None else _clean(wanted.note, redactor),
        dedupe_key=wanted.dedupe_key,
        priority=wanted.priority,
    )
    event = await _written(journal, session_id, said)
    # Somebody else may have queued one of this key a moment before.
    state = (await journal.session(session_id)).state
    there = (one for one in state.wakes if one.id == said.queued_wake_id)
    return next(there, None) or _of_key(state, said.dedupe_key) or _over_already(event, said)


async def cancel_wakes(
    journal: Journal, session_id: str, wake_ids: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    """Cancel queued wakes of a session, or all of them; which they were.

    NotFitting when one of them is not queued.
    """
    queued = tuple(one.id for one in (await journal.session(session_id)).state.wakes)
    unknown = [one for one in wake_ids or () if one not in queued]
    if unknown:
        there = ", ".join(queued) or "none"
        raise NotFitting(
            f"session {session_id} has no wake {unknown[0]} in its queue; queued are: {there}"
        )
    wanted = queued if wake_ids is None else wake_ids
    if wanted:
        await _written(journal, session_id, WakesCompleted(queued_wake_ids=wanted, cancelled=True))
    return wanted


async def _going_on(journal: Journal, session_id: str) -> SessionState:
    state = (await journal.session(session_id)).state
    if state.status == "terminated":
        raise NotFitting(
            f"session {session_id} is over; open it again with"
            f" Holdfast(session={session_id!r}), or begin another one"
        )
    return state


async def _written(journal: Journal, session_id: str, said: Payload) -> Event:
    (event,) = await journal.append(session_id, [said])
    return event


def _of_key(state: SessionState, key: str | None) -> QueuedWake | None:
    return next((one for one in state.wakes if key is not None and one.dedupe_key == key), None)


def _over_already(event: Event, said: WakeQueued) -> QueuedWake:
    """It was queued, and a run has taken it into account by now."""
    return QueuedWake(
        id=said.queued_wake_id,
        created_micros=micros_of(event.at),
        due_micros=micros_of(said.due_at),
        reason=said.reason,
        note=said.note,
        dedupe_key=said.dedupe_key,
        priority=said.priority,
    )


def _clean(text: str, redactor: Redactor) -> str:
    plain = clean_text(text)
    return redactor.text(plain) if redactor.active else plain
