"""The archive port on any store: sessions listed and read as conversations, put in, taken away."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol, TypeVar, cast

import msgspec
from anyio import to_thread

from holdfast.contract.archive import (
    LAST,
    Difference,
    EventTaken,
    Found,
    Learned,
    Message,
    Near,
    Part,
    SessionQuery,
    WordQuery,
)
from holdfast.contract.events import Event, Payload, StatusChanged
from holdfast.contract.journal import (
    JournalError,
    JournalUnavailable,
    LeaseHeld,
    Session,
    UnknownSession,
)
from holdfast.contract.json_value import JsonObject
from holdfast.contract.session_state import SessionState
from holdfast.contract.wake_events import PARKED_UNTIL, WakeDeferred
from holdfast.record import brief_listing, learned, rebuilding, sql
from holdfast.record.anchors import taken_away
from holdfast.record.appending import Appending, SessionWork, known, lease_of
from holdfast.record.codec import IMPORTED, Stored, Unwritten, micros_of, moment_of
from holdfast.record.group_commit import GroupCommit
from holdfast.record.journal import MOST_AT_ONCE, Reader, Rows, StoreParts, page_end, session_of
from holdfast.record.rows import Desk, PartRow, Rebuilt, text_suffix

_AT_ONCE = 500
_IMPORTED = "imported"
_TAKEN = "SELECT id, session_id FROM chat_messages WHERE id IN ({places})"
_HEADS = "SELECT id, sequence FROM chat_sessions WHERE id IN ({places})"
_T = TypeVar("_T")


class Index(Protocol):
    """Finds words. Blocking; it may lag behind, and catches up before it answers."""

    def find(self, words: str, session_id: str | None, limit: int, /) -> list[Found]:
        """The events that hold all the words, the best first."""
        ...

    def near(self, wanted: WordQuery, /) -> Near:
        """The events that hold any of the words; of what it lags behind, it takes up a bounded part
        before it answers."""
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...


class StoreArchive:
    """Shares the store of a journal, which closes it."""

    def __init__(self, parts: StoreParts, writer: GroupCommit[Desk], index: Index) -> None:
        self._reader = parts.reader
        self._chain = parts.chain
        self._anchors = parts.anchors
        self._clock = parts.clock
        self._ids = parts.ids
        self._writer = writer
        self._index = index

    async def sessions(self, query: SessionQuery, /) -> tuple[Session, ...]:
        """The sessions that fit, the last active first, or those that are like one of them."""
        if query == SessionQuery(limit=query.limit):
            asked, values = sql.SESSIONS, (query.limit,)
        else:
            asked, values = brief_listing.listed(query)
        rows = await to_thread.run_sync(self._reader.rows, asked, values)
        return tuple([session_of(sql.session_of(row)) for row in rows])

    async def child_counts(
        self, parents: Sequence[str], query: SessionQuery, /
    ) -> Mapping[str, int]:
        """How many of the sessions that fit stand directly below each; none: not told."""
        if not parents:
            return {}
        asked, values = brief_listing.counted(parents, query)
        return dict(await to_thread.run_sync(self._reader.rows, asked, values))

    async def heads(self, session_ids: Sequence[str], /) -> Mapping[str, int]:
        """The number of the last event of each of these; those that are not there are left out."""
        return await to_thread.run_sync(_heads, self._reader, session_ids)

    async def called(self, beginning: str, /) -> str:
        """The one session whose id begins like this, or the `last`; UnknownSession."""
        return await to_thread.run_sync(called, self._reader, beginning)

    async def messages(
        self, session_id: str, /, *, after: int = -1, limit: int = 1000
    ) -> tuple[Message, ...]:
        """The conversation behind a message's number, in order."""
        return await to_thread.run_sync(_conversation, self._reader, session_id, after, limit)

    async def search(
        self, words: str, /, *, session_id: str | None = None, limit: int = 20
    ) -> tuple[Found, ...]:
        """The events that hold all the words, the best first."""
        return tuple(await to_thread.run_sync(self._index.find, words, session_id, limit))

    async def learned(self, agents: Collection[str | None], /) -> tuple[Learned, ...]:
        """What agents learned in all their sessions, the oldest first."""
        return await to_thread.run_sync(learned.learned, self._reader, frozenset(agents))

    async def near(self, wanted: WordQuery, /) -> Near:
        """Events that hold any of the words, by how many and how rare ones; then the newest."""
        return await to_thread.run_sync(self._index.near, wanted)

    async def restore(self, session_id: str, events: Sequence[Event], /) -> None:
        """Put in a session as it was written down elsewhere: its own ids and times, new hashes.

        Nobody here has asked it for anything: it is not run before somebody does.
        """
        await to_thread.run_sync(_check_free, self._reader, session_id, events)
        told = [Unwritten(one.id, micros_of(one.at), one.wake_id, one.payload) for one in events]
        wanted = Appending(
            session_id, told, self._chain, creates=True, named=True, beginning=IMPORTED
        )
        left_id, now = self._ids.new("evt"), self._clock.unix_ns() // 1000

        def put_in(desk: Desk) -> Sequence[Stored]:
            rows = wanted(desk)
            kept = known(session_id, desk)
            if kept.due is not None:
                left = [Unwritten(left_id, now, None, one) for one in _left_alone(kept.state)]
                rows = Appending(session_id, left, self._chain)(desk)
            self._anchors.restoring(
                session_id
            )  # whatever ends this before it is told raises no alarm
            return rows

        work = SessionWork(session_id, put_in, is_long=True)
        rows = await self._writer.do(work, at_once=len(told) <= MOST_AT_ONCE)
        if rows:
            self._anchors.note(session_id, rows[-1].sequence, rows[-1].hash)

    async def delete(self, session_id: str, /, *, seen: Session | None = None) -> None:
        """Take a session away with all that belongs to it; UnknownSession, LeaseHeld.

        With the session as it was seen, whoever runs it, if nothing has happened to it since:
        JournalError otherwise.
        """
        now = self._clock.unix_ns() // 1000

        def removed(desk: Desk) -> None:
            row = known(session_id, desk)
            if seen is not None and session_of(row) != seen:
                raise JournalError(f"session {session_id} went on meanwhile; it was left alone")
            if seen is None and row.holder is not None and row.until > now:
                told = f"session {session_id} is run by {row.holder}; end that first"
                raise LeaseHeld(told, lease_of(row, row.holder))
            self._anchors.leaving(row.id, row.sequence, row.hash)
            desk.delete(row)

        await self._do(session_id, removed)
        taken_away(self._anchors, session_id)

    async def rebuild(self, session_id: str, /, *, repair: bool) -> tuple[Difference, ...]:
        """Add its events up again, and say where that is not what is kept beside them."""
        again, found = await to_thread.run_sync(_compared, self._reader, session_id)
        if found and repair:
            await self._do(session_id, partial(rebuilding.put_right, again))
        return found

    async def _do(self, session_id: str, work: Callable[[Desk], _T]) -> _T:
        return await self._writer.do(SessionWork(session_id, work, is_long=True))


def called(reader: Rows, beginning: str, also: Iterable[str] = ()) -> str:
    """The one session whose id begins like this, or the `last`; UnknownSession. Blocking.

    ``also``: sessions that are known although they are not in the store.
    """
    if not beginning:
        raise UnknownSession("the name of the session is empty; give its id, or last")
    if beginning == LAST:
        newest = reader.rows(sql.SESSIONS, (1,))
        if not newest:
            raise UnknownSession("there is no session yet")
        return str(newest[0][0])
    rows = reader.rows(sql.SESSION_IDS, (beginning, beginning + "\x7f"))
    elsewhere = (one for one in also if one.startswith(beginning))
    ids = sorted({*(str(row[0]) for row in rows), *elsewhere})
    if beginning in ids or len(ids) == 1:
        return beginning if beginning in ids else ids[0]
    if ids:
        raise UnknownSession(f"several sessions begin with {beginning}: {', '.join(ids[:5])}")
    raise UnknownSession.named(beginning)


def _heads(reader: Rows, session_ids: Sequence[str]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for start in range(0, len(session_ids), _AT_ONCE):
        asked = session_ids[start : start + _AT_ONCE]
        places = ", ".join("?" * len(asked))
        found.update(reader.rows(_HEADS.format(places=places), tuple(asked)))
    return found


def _left_alone(state: SessionState) -> Iterator[Payload]:
    if state.status == "running":
        yield StatusChanged(from_status="running", to_status="idle", reason=_IMPORTED)
    yield WakeDeferred(until=PARKED_UNTIL, attempt=state.attempts, reason=_IMPORTED)


def _compared(reader: Reader, session_id: str) -> tuple[Rebuilt, tuple[Difference, ...]]:
    with reader.snapshot() as seen:
        again = rebuilding.rebuilt(seen, session_id)
        return again, rebuilding.differences(seen, again)


def _check_free(reader: Reader, session_id: str, events: Sequence[Event]) -> None:
    """A message is named after the event that made it: no two sessions may have the same."""
    for start in range(0, len(events), _AT_ONCE):
        names = {f"msg_{text_suffix(one.id)}": one.id for one in events[start : start + _AT_ONCE]}
        places = ", ".join("?" * len(names))
        taken = reader.rows(_TAKEN.format(places=places), tuple(names))
        for message_id, other in taken:
            if other != session_id:
                raise EventTaken(names[message_id], other)


def _said_by(row: PartRow) -> JsonObject:
    try:
        return cast("JsonObject", msgspec.json.decode(row.data, type=dict))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as problem:
        raise JournalUnavailable(
            f"the part {row.id} of session {row.session_id} is damaged ({problem}); make it again"
            f" from the events: holdfast sessions rebuild {row.session_id} --repair"
        ) from None


def _conversation(reader: Reader, session_id: str, after: int, limit: int) -> tuple[Message, ...]:
    messages = reader.rows(sql.MESSAGES, (session_id, after, limit))
    if not messages:
        return ()
    page_end(messages[-1][2], after, session_id)
    rows = reader.rows(sql.PARTS_OF_MESSAGES, (session_id, messages[0][2], messages[-1][2]))
    parts: dict[str, list[Part]] = {}
    for row in map(sql.part_of, rows):
        parts.setdefault(row.message_id, []).append(
            Part(
                id=row.id,
                number=row.number,
                type=row.type,
                data=_said_by(row),
                text=row.data,
                tool_call_id=row.tool_call_id,
                tool_state=row.tool_state,
                created_at=moment_of(row.created_at),
                updated_at=moment_of(row.updated_at),
            )
        )
    return tuple(
        Message(
            id=message_id,
            number=number,
            role=role,
            created_at=moment_of(created),
            updated_at=moment_of(updated),
            parts=tuple(parts.get(message_id, ())),
        )
        for message_id, _, number, role, created, updated in messages
    )
