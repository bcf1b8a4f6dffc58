"""One append, and the leases that fence it: written once, for every store.

Everything is looked at before anything is put on the desk, so that a refusal leaves nothing behind.
When and how often a desk is written is decided elsewhere.
"""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

import msgspec

from holdfast.contract.events import Payload
from holdfast.contract.journal import (
    JournalError,
    Lease,
    LeaseHeld,
    StaleEpoch,
    UnknownSession,
)
from holdfast.record.chat import project
from holdfast.record.codec import GENESIS, Chain, Stored, Unwritten, placed_id, stored_as
from holdfast.record.fold import folded
from holdfast.record.ingress import check
from holdfast.record.rows import Desk, Draft, SessionRow, fresh

_T = TypeVar("_T")


class Appending(msgspec.Struct, frozen=True):
    """Events to be appended, all or none: a work on one session."""

    session_id: str
    events: Sequence[Unwritten]
    chain: Chain
    epoch: int | None = None
    creates: bool = False
    named: bool = False
    """Whoever appends gave the ids: an event that is there already is left out."""
    beginning: bytes = GENESIS
    """What the first event of a session follows that is created."""

    def __call__(self, desk: Desk) -> Sequence[Stored]:
        """Do it."""
        return append(self, desk)


class SessionWork(msgspec.Struct, Generic[_T], frozen=True):
    """Work on one session: which one is known before it is done."""

    session_id: str
    do: Callable[[Desk], _T]
    is_long: bool = False
    """It may take as long as it needs."""

    def __call__(self, desk: Desk) -> _T:
        """Do it."""
        return self.do(desk)


def append(wanted: Appending, desk: Desk) -> Sequence[Stored]:
    """Give events their places behind the last one, with all that follows from them."""
    row = _begun(wanted, desk) if wanted.creates else known(wanted.session_id, desk)
    if wanted.epoch is not None and wanted.epoch != row.epoch:
        raise StaleEpoch(
            f"session {row.id} is run by another since: this is epoch"
            f" {wanted.epoch}, the newest is {row.epoch}"
        )
    events = wanted.events
    if wanted.named:
        once = {event.id: event for event in reversed(events)}
        kept = (event for event in events if once[event.id] is event)
        events = [event for event in kept if not desk.has_event(row.id, event.id)]
    if not events:
        if wanted.creates:
            desk.put_session(row)
        return ()
    draft = Draft(desk, row)
    session_id, sequence, previous, chain = row.id, row.sequence, row.hash, wanted.chain
    for event in events:
        check(draft, event.payload)
        sequence += 1
        event_id = event.id if wanted.named else placed_id(event.id, sequence)
        written = stored_as(event_id, event, session_id, sequence, previous, chain)
        previous = written.hash
        draft.events.append(written)
        applied(draft, written, event.payload)
    draft.kept(events[-1].micros)
    return draft.events


def applied(draft: Draft, row: Stored, payload: Payload) -> None:
    """What follows from one event: for the state, then for the conversation."""
    draft.state = folded(draft.state, row, payload)
    project(draft, row, payload)


class Term(NamedTuple):
    """For how long a lease is asked for."""

    asked_at: int
    """By the clock of whoever asks: it counts where the store has none of its own."""
    micros: int

    def begins(self, desk: Desk) -> int:
        """From when on, by the clock that all who share the store go by."""
        return self.asked_at if desk.now is None else desk.now

    def ends(self, desk: Desk) -> int:
        """Until when."""
        return self.begins(desk) + self.micros


def lease(session_id: str, holder: str, term: Term, desk: Desk) -> Lease:
    """Take the right to run a session, under a new epoch."""
    row = known(session_id, desk)
    if row.holder is not None and row.until > term.begins(desk):
        raise LeaseHeld(f"session {session_id} is run by {row.holder}", lease_of(row, row.holder))
    return _taken(row, holder, term, desk)


def take_over(lost: Lease, holder: str, term: Term, desk: Desk) -> Lease:
    """Take it from a holder that is known to be gone, if nobody else did."""
    row = known(lost.session_id, desk)
    if row.holder is not None and (row.epoch, row.holder) != (lost.epoch, lost.holder):
        raise LeaseHeld(f"session {row.id} is run by {row.holder}", lease_of(row, row.holder))
    return _taken(row, holder, term, desk)


def renew(held: Lease, term: Term, desk: Desk) -> Lease:
    """Keep it for longer."""
    row = known(held.session_id, desk)
    if (row.epoch, row.holder) != (held.epoch, held.holder):
        raise StaleEpoch(f"the lease of session {held.session_id} was lost to {row.holder}")
    until = term.ends(desk)
    desk.put_session(row._replace(until=until))
    return Lease(session_id=row.id, holder=held.holder, epoch=held.epoch, until_micros=until)


def release(held: Lease, desk: Desk) -> None:
    """Give it back, if it is still held."""
    row = known(held.session_id, desk)
    if (row.epoch, row.holder) == (held.epoch, held.holder):
        desk.put_session(row._replace(holder=None, until=0))


def lease_of(row: SessionRow, holder: str) -> Lease:
    """The lease that a row speaks of."""
    return Lease(session_id=row.id, holder=holder, epoch=row.epoch, until_micros=row.until)


def known(session_id: str, desk: Desk) -> SessionRow:
    """The session; UnknownSession."""
    row = desk.session(session_id)
    if row is None:
        raise UnknownSession.named(session_id)
    return row


def _begun(wanted: Appending, desk: Desk) -> SessionRow:
    if desk.session(wanted.session_id) is not None:
        raise JournalError(f"there is a session {wanted.session_id} already")
    at = wanted.events[0].micros if wanted.events else 0
    return fresh(wanted.session_id, at, desk.new_number(), wanted.beginning)


def _taken(row: SessionRow, holder: str, term: Term, desk: Desk) -> Lease:
    until = term.ends(desk)
    desk.put_session(row._replace(epoch=row.epoch + 1, holder=holder, until=until))
    return Lease(session_id=row.id, holder=holder, epoch=row.epoch + 1, until_micros=until)
