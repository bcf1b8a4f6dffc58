"""The journal port on any store: works go to its one writer, questions to its readers."""

import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Protocol, TypeVar

import msgspec
from anyio import to_thread

from holdfast.contract.events import Event, Payload
from holdfast.contract.journal import (
    MOST_EVENTS,
    EventQuery,
    JournalUnavailable,
    JournalUnusable,
    Lease,
    Session,
    UnknownSession,
)
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.session_state import urgency
from holdfast.record import appending, sql
from holdfast.record.anchors import NO_ANCHORS, Anchors
from holdfast.record.appending import Appending, SessionWork, Term, lease_of
from holdfast.record.codec import Chain, Stored, Unwritten, event_of, moment_of, place_in, text_of
from holdfast.record.group_commit import Committer, GroupCommit
from holdfast.record.rows import Desk, SessionRow

_T = TypeVar("_T")
_PAGE = 2000
_MOST_RANKED = 1000
"""Sessions that are due, of which the most urgent are looked for."""
MOST_AT_ONCE = 32
"""Events that an event loop may wait for."""
_MOST_BYTES_AT_ONCE = 1 << 16


class Rows(Protocol):
    """How a store answers questions. Blocking."""

    def rows(self, statement: str, values: Sequence[object], /) -> list[sql.Row]:
        """What a statement finds; JournalUnavailable."""
        ...


class Reader(Rows, Protocol):
    """Answers from any thread, several at a time."""

    def snapshot(self) -> AbstractContextManager[Rows]:
        """The store as it is at one moment, whatever is written meanwhile."""
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...


class StoreParts(msgspec.Struct, frozen=True):
    """What a journal is put together from."""

    committer: Committer[Desk]
    reader: Reader
    chain: Chain
    clock: Clock
    ids: IdSource
    quick: bool
    """A commit, or a look at a few rows, is so quick that whoever asks for it may do it."""
    anchors: Anchors = NO_ANCHORS
    """Is told how far each session has come."""


class StoreJournal:
    """Opened when it is made; closed once."""

    def __init__(self, parts: StoreParts, also: Callable[[], None] | None = None) -> None:
        """``also``: closes what was opened beside it. Blocking."""
        self._parts = parts
        self._also = also
        self._closing: threading.Thread | None = None
        self.writer = GroupCommit(parts.committer, at_once=parts.quick)

    async def create(self, session_id: str, payloads: Sequence[Payload], /) -> tuple[Event, ...]:
        """Begin a session with its first events; one that exists is a JournalError."""
        events = _unwritten(self._parts, payloads, None)
        return await self._append(Appending(session_id, events, self._parts.chain, creates=True))

    async def append(
        self,
        session_id: str,
        payloads: Sequence[Payload],
        /,
        *,
        epoch: int | None = None,
        wake_id: str | None = None,
        ids: Sequence[str] | None = None,
    ) -> tuple[Event, ...]:
        """Append, all or none; what does not fit is refused by NotFitting.

        With an epoch, only while it is the newest one: StaleEpoch. With ids of one's own, an event
        whose id is there already is left out: it can be tried again.
        """
        events = _unwritten(self._parts, payloads, wake_id, ids)
        named = ids is not None
        return await self._append(
            Appending(session_id, events, self._parts.chain, epoch, named=named)
        )

    async def events(
        self, session_id: str, /, *, after: int = 0, limit: int = MOST_EVENTS
    ) -> tuple[Event, ...]:
        """The events behind a number, in order."""
        find = _few if limit <= MOST_AT_ONCE else _rows
        rows = await find(self._parts, sql.EVENTS_AFTER, session_id, after, limit)
        if rows:
            page_end(rows[-1][1], after, session_id)
        return tuple(map(_event, rows))

    async def find(self, session_id: str, query: EventQuery, /) -> tuple[Event, ...]:
        """The events that fit, in order."""
        rows = await to_thread.run_sync(_found, self._parts.reader, session_id, query)
        return tuple(map(_event, reversed(rows)))

    async def session(self, session_id: str, /) -> Session:
        """Where a session stands; UnknownSession."""
        found = await _few(self._parts, sql.SESSION, session_id)
        if not found:
            raise UnknownSession.named(session_id)
        return session_of(sql.session_of(found[0]))

    async def due(self, before_micros: int, /, *, limit: int) -> tuple[Session, ...]:
        """The sessions that have to be run by then, the most urgent first, then by their ids."""
        rows = await _rows(self._parts, sql.DUE, before_micros, max(limit, _MOST_RANKED))
        found = (_readable(row) for row in rows)
        sessions = [session for session in found if session is not None]
        sessions.sort(key=lambda one: (urgency(one.state, before_micros), one.id))
        return tuple(sessions[:limit])

    async def next_due(self) -> int | None:
        """When the first session has to be run, in microseconds since 1970; None: not for now."""
        ((first,),) = await _rows(self._parts, sql.NEXT_DUE)
        return first

    async def lease(self, session_id: str, holder: str, seconds: float, /) -> Lease:
        """Take the right to run it, under a new epoch; LeaseHeld while another has it."""
        term = _term(self._parts.clock, seconds)
        return await self._do(session_id, partial(appending.lease, session_id, holder, term))

    async def take_over(self, lost: Lease, holder: str, seconds: float, /) -> Lease:
        """Take it from somebody who is known to be gone; LeaseHeld when another was faster."""
        term = _term(self._parts.clock, seconds)
        return await self._do(lost.session_id, partial(appending.take_over, lost, holder, term))

    async def renew(self, lease: Lease, seconds: float, /) -> Lease:
        """Keep it for longer; StaleEpoch when it was lost."""
        term = _term(self._parts.clock, seconds)
        return await self._do(lease.session_id, partial(appending.renew, lease, term))

    async def release(self, lease: Lease, /) -> None:
        """Give it back; harmless when it was lost."""
        await self._do(lease.session_id, partial(appending.release, lease))

    async def close(self) -> None:
        """Wait for what was begun, and let go of the store. Given up, it goes on by itself."""
        if self._closing is None:
            self._closing = threading.Thread(
                target=_let_go, args=(self.writer, self._parts, self._also), name="holdfast closing"
            )
            self._closing.start()
        await to_thread.run_sync(self._closing.join)

    def _do(self, session_id: str, work: Callable[[Desk], _T]) -> Coroutine[object, object, _T]:
        return self.writer.do(SessionWork(session_id, work))

    async def _append(self, wanted: Appending) -> tuple[Event, ...]:
        anchors = self._parts.anchors
        anchors.look()
        rows = await self.writer.do(wanted, at_once=_is_small(wanted.events))
        if rows:
            anchors.note(wanted.session_id, rows[-1].sequence, rows[-1].hash)
        events = wanted.events
        if len(rows) < len(events):  # some were there before
            told = {event.id: event for event in reversed(events)}
            events = [told[row.id] for row in rows]
        pairs = zip(rows, events, strict=True)
        return tuple([event_of(row, sql.processed_at(row), event.payload) for row, event in pairs])


def _let_go(writer: GroupCommit[Desk], parts: StoreParts, also: Callable[[], None] | None) -> None:
    writer.close()
    parts.reader.close()
    parts.anchors.close()
    if also is not None:
        also()


def _unwritten(
    parts: StoreParts,
    payloads: Sequence[Payload],
    wake_id: str | None,
    ids: Sequence[str] | None = None,
) -> tuple[Unwritten, ...]:
    micros = parts.clock.unix_ns() // 1000
    if ids is None:
        # Each gets its own by its place.
        ids = [parts.ids.new("evt")] * len(payloads)
    pairs = zip(ids, payloads, strict=True)
    return tuple([Unwritten(name, micros, wake_id, one, text_of(one)) for name, one in pairs])


async def _few(parts: StoreParts, statement: str, *values: object) -> list[sql.Row]:
    """A few rows: a quick store has them sooner than a thread could be asked for them."""
    if parts.quick:
        return parts.reader.rows(statement, values)
    return await _rows(parts, statement, *values)


async def _rows(parts: StoreParts, statement: str, *values: object) -> list[sql.Row]:
    return await to_thread.run_sync(parts.reader.rows, statement, values)


def _term(clock: Clock, seconds: float) -> Term:
    return Term(clock.unix_ns() // 1000, int(seconds * 1_000_000))


def _is_small(events: Sequence[Unwritten]) -> bool:
    """Whether it is written so quickly that an event loop may wait for it."""
    if len(events) > MOST_AT_ONCE:
        return False
    return sum(len(event.body or b"") for event in events) <= _MOST_BYTES_AT_ONCE


def session_of(row: SessionRow) -> Session:
    """A session as everybody sees it."""
    return Session(
        id=row.id,
        created_at=moment_of(row.created_at),
        updated_at=moment_of(row.updated_at),
        sequence=row.sequence,
        hash=row.hash,
        epoch=row.epoch,
        state=row.state,
        lease=None if row.holder is None else lease_of(row, row.holder),
    )


def stored_events(reader: Rows, session_id: str) -> Iterator[Stored]:
    """All events of a session in order, read in pages. Blocking; JournalUnavailable."""
    after = 0
    while page := reader.rows(sql.EVENTS_AFTER, (session_id, after, _PAGE)):
        for row in page:
            yield Stored(*row[:10])
        after = page_end(page[-1][1], after, session_id)


def page_end(last: int, after: int, session_id: str) -> int:
    """Where the next page begins; JournalUnavailable: it would be the same one again, for ever."""
    if last > after:
        return last
    raise JournalUnavailable(
        f"what is kept of session {session_id} is in disorder; restore the store from a copy"
    )


def _readable(row: sql.Row) -> Session | None:
    """None: its row is damaged, which must not keep all others from being run."""
    try:
        return session_of(sql.session_of(row))
    except JournalUnusable:
        return None


def _event(row: sql.Row) -> Event:
    return event_of(Stored(*row[:10]), row[10])


def _place(reader: Rows, session_id: str, event_id: str) -> int | None:
    """Where an event is: as its id says, or, if somebody else named it, after a long look."""
    place = place_in(event_id)
    if place is not None:
        found = reader.rows(sql.EVENT_AT, (session_id, place))
        if found and found[0][0] == event_id:
            return place
    found = reader.rows(sql.PLACE_OF_EVENT, (session_id, event_id))
    return found[0][0] if found else None


def _found(reader: Rows, session_id: str, query: EventQuery) -> list[sql.Row]:
    """The last events that fit, the newest first."""
    more: list[str] = []
    values: list[object] = []

    def place(event_id: str | None) -> int | None:
        return None if event_id is None else _place(reader, session_id, event_id)

    around = place(query.around)
    if around is not None:
        behind, before = around - query.before_limit - 1, around + query.after_limit + 1
    else:
        behind, before = place(query.after) or 0, place(query.before) or sql.SPAN
    if query.types:
        more.append(f"AND type IN ({', '.join('?' * len(query.types))})")
        values += query.types
    if query.wake_id is not None:
        more.append("AND wake_id = ?")
        values.append(query.wake_id)
    if query.processed is not None:
        more.append(f"AND processed_at IS {'NOT ' * query.processed}NULL")
    statement = sql.LAST_EVENTS.format(more=" ".join(more))
    bounds = (session_id, max(behind, 0), min(before, sql.SPAN))
    return reader.rows(statement, (*bounds, *values, query.limit))
