"""Who allowed what: the decisions that stand in the journal, by the time they were made.

The journal words a decision for the model; who it was is read out of those words and of the answers
beside them. What is worded otherwise was decided by the policy.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Literal, NamedTuple

from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallRefused,
)
from holdfast.record import sql
from holdfast.record.codec import IMPORTED, Stored, event_of
from holdfast.record.journal import Reader, page_end

_PAGE = 1000
_ALLOWED_BY = re.compile(r"(?:approved|allowed) by (.+)|no rule speaks against it: (.+)", re.DOTALL)
_DENIED_BY = re.compile(
    r"Execution denied by policy for tool: .*?\."
    r" The ((?:\w+ rule|remembered answer) .+?\)) denies ",
    re.DOTALL,
)
_POLICY = "policy"
_NOBODY = "nobody was there"


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
    """The person or the rule; `policy` where it was neither."""
    reason: str
    """The grounds; of a person's answer their note, or else why they were asked."""
    arguments_hash: str | None
    """Of what runs, after repair."""
    arguments: str | None
    """As the model wrote them."""
    hash: str
    """What the event is known by in the chain."""
    imported: bool
    """The session was put in as somebody else told it: nobody here has seen it decided."""


def decisions(reader: Reader, session_id: str | None = None) -> Iterator[Decision]:
    """All of them, or those of one session, session by session. Blocking."""
    ids = (
        [session_id]
        if session_id
        else [str(row[0]) for row in reader.rows(sql.ALL_SESSION_IDS, ())]
    )
    for one in sorted(ids):
        first = reader.rows(sql.EVENTS_AFTER, (one, 0, 1))
        session = _Session(imported=any(Stored(*row[:10]).previous == IMPORTED for row in first))
        after = 0
        while page := reader.rows(sql.DECISIONS, (one, after, _PAGE)):
            for row in page:
                found = session.told(Stored(*row[:10]))
                if found is not None:
                    yield found
            after = page_end(page[-1][1], after, one)


def by_time(one: Decision) -> tuple[datetime, str, int]:
    """What decisions of several sessions are ordered by."""
    return (one.at, one.session_id, one.sequence)


class _Said(NamedTuple):
    """What one event decides."""

    decision: Literal["allowed", "denied", "approved", "rejected"]
    by: str
    reason: str


class _Session:
    """One session, from its first event on: what was asked is known when it is decided."""

    def __init__(self, *, imported: bool) -> None:
        self._imported = imported
        self._calls: dict[str, CallAsked] = {}
        self._questions: dict[str, ApprovalAsked] = {}
        self._answers: dict[str, ApprovalAnswered] = {}

    def told(self, row: Stored) -> Decision | None:
        """The next event; None: it decides nothing. UnreadableEvent."""
        event = event_of(row)
        said = event.payload
        match said:
            case CallAsked():
                self._calls[said.call_id] = said
                return None
            case ApprovalAsked():
                self._questions[said.approval_id] = said
                return None
            case ApprovalAnswered():
                self._answers[said.call_id] = said
                of_call = self._questions.get(said.approval_id)
                found = _answer(said, of_call)
            case CallIntended():
                of_call = said
                found = _Said("allowed", _allowed_by(said.grounds), said.grounds)
            case CallRefused():
                of_call = said
                found = _Said("denied", self._denied_by(said), said.reason)
            case _:
                raise TypeError(f"{event.type} is no decision")
        call = self._calls.get(said.call_id)
        named = of_call or call
        return Decision(
            at=event.at,
            session_id=row.session_id,
            sequence=row.sequence,
            call_id=said.call_id,
            tool=None if named is None else named.tool,
            decision=found.decision,
            by=found.by,
            reason=found.reason,
            arguments_hash=None if of_call is None else of_call.arguments_hash,
            arguments=None if call is None else call.arguments,
            hash=row.hash.hex(),
            imported=self._imported,
        )

    def _denied_by(self, said: CallRefused) -> str:
        answer = self._answers.get(said.call_id)
        if answer is not None and not answer.allowed:
            return answer.by or _NOBODY
        rule = _DENIED_BY.match(said.reason)
        return _POLICY if rule is None else f"the {rule.group(1)}"


def _answer(said: ApprovalAnswered, question: ApprovalAsked | None) -> _Said:
    why = "" if question is None else question.reason
    return _Said("approved" if said.allowed else "rejected", said.by or _NOBODY, said.note or why)


def _allowed_by(grounds: str) -> str:
    found = _ALLOWED_BY.fullmatch(grounds)
    return _POLICY if found is None else found.group(1) or found.group(2)
