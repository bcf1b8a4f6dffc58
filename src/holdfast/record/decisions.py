"""Who allowed what: the decisions that stand in the journal, one after the other."""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, NamedTuple

from holdfast.contract.events import ApprovalAnswered, CallIntended, CallRefused
from holdfast.record import sql
from holdfast.record.codec import Stored, event_of
from holdfast.record.journal import Reader

_PAGE = 1000


class Decision(NamedTuple):
    """One decision over one call."""

    at: datetime
    session_id: str
    sequence: int
    call_id: str
    tool: str | None
    decision: Literal["allowed", "denied", "approved", "rejected"]
    """``approved`` and ``rejected``: a person said so; otherwise what came of the call."""
    by: str
    """The rule, hook or person."""
    arguments_hash: str | None
    hash: str
    """What the event is known by in the chain."""


def decisions(reader: Reader, session_id: str | None = None) -> Iterator[Decision]:
    """All of them, or those of one session, session by session. Blocking."""
    ids = [session_id] if session_id else [row[0] for row in reader.rows(sql.ALL_SESSION_IDS, ())]
    for one in sorted(ids):
        after = 0
        while page := reader.rows(sql.DECISIONS, (one, after, _PAGE)):
            for row in page:
                yield _decision(Stored(*row[:10]))
            after = page[-1][1]


def _decision(row: Stored) -> Decision:
    event = event_of(row)
    said = event.payload
    tool: str | None = None
    arguments_hash: str | None = None
    match said:
        case CallIntended():
            decision, by = "allowed", said.grounds
            tool, arguments_hash = said.tool, said.arguments_hash
        case CallRefused():
            decision, by = "denied", said.reason
            tool, arguments_hash = said.tool, said.arguments_hash
        case ApprovalAnswered():
            decision = "approved" if said.allowed else "rejected"
            by = said.by or "nobody was there"
        case _:
            raise TypeError(f"{event.type} is no decision")
    return Decision(
        at=event.at,
        session_id=row.session_id,
        sequence=row.sequence,
        call_id=said.call_id,
        tool=tool,
        decision=decision,
        by=by,
        arguments_hash=arguments_hash,
        hash=row.hash.hex(),
    )
