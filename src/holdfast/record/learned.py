"""What agents learned, found in the events themselves: an index leads to those alone.

Nothing is kept beside the events, so that nothing can differ from them. What is made of it is not
known here.
"""

from collections.abc import Collection
from typing import cast

import msgspec

from holdfast.contract.archive import Learned
from holdfast.contract.wake_events import LearningCaptured
from holdfast.record.codec import GENESIS, Stored, event_of
from holdfast.record.journal import Reader, Rows
from holdfast.record.sql import SPAN

_LEARNERS = (
    "SELECT number, id, state_json FROM chat_sessions WHERE number IN"
    f" (SELECT place / {SPAN} FROM events WHERE type = 'learning.captured')"
)
_LEARNED = (
    "SELECT place, id, micros, wake_id, type, version, body FROM events"
    " WHERE type = 'learning.captured' ORDER BY micros, place"
)


class _Whose(msgspec.Struct):
    """Of a session's state, whose it is."""

    agent_id: str | None = None


_whose = msgspec.json.Decoder(_Whose).decode


def learned(reader: Reader, agents: Collection[str | None]) -> tuple[Learned, ...]:
    """What these agents learned in all their sessions, the oldest first. Blocking."""
    with reader.snapshot() as seen:
        ours = _ours(seen, agents)
        return tuple(
            _learned(ours[row[0] // SPAN], row)
            for row in (seen.rows(_LEARNED, ()) if ours else ())
            if row[0] // SPAN in ours
        )


def _ours(seen: Rows, agents: Collection[str | None]) -> dict[int, str]:
    """The sessions of these agents in which something was learned, by their numbers."""
    return {
        number: session_id
        for number, session_id, state in seen.rows(_LEARNERS, ())
        if _agent_of(state) in agents
    }


def _agent_of(state: str) -> str | None:
    """A row that cannot be read is nobody's: verifying tells of it."""
    try:
        return _whose(state).agent_id
    except (msgspec.MsgspecError, UnicodeError):
        return ""


def _learned(session_id: str, row: tuple[int, str, int, str | None, str, int, bytes]) -> Learned:
    place, event_id, micros, wake_id, kind, version, body = row
    stored = Stored(
        *(session_id, place % SPAN, event_id, micros, wake_id, kind, version, body),
        *(GENESIS, GENESIS),
    )
    event = event_of(stored)
    said = cast("LearningCaptured", event.payload)  # no other kind was asked for
    return Learned(
        event_id=event.id, session_id=session_id, wake_id=wake_id, at=event.at, said=said
    )
