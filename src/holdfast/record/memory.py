"""A store that is gone with the process: the same tables and works as a file, in memory.

For tests, and for whoever drives calls again without leaving a trace.
"""

import sqlite3
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import NoReturn

from holdfast.contract.archive import Found, Near, Worded, WordQuery
from holdfast.contract.events import Event
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.upkeep import Swept
from holdfast.record import nearness, searching, sql
from holdfast.record.codec import Chain, Stored, event_of
from holdfast.record.group_commit import Work
from holdfast.record.journal import Reader, StoreParts
from holdfast.record.rows import Desk
from holdfast.record.sqlite.schema import migrate
from holdfast.record.sqlite.tables import loads_from, write
from holdfast.record.store import Store, store_of
from holdfast.record.words import Phrase, excerpt, phrases_of, words_of

_ALL_EVENTS = (
    "SELECT session_id, sequence, id, micros, wake_id, type, version, body, previous, hash"
    " FROM session_events WHERE ? IS NULL OR session_id = ? ORDER BY session_id, sequence"
)


def memory_store(clock: Clock, ids: IdSource) -> Store:
    """An empty one. Its events vouch for nothing outside of it."""
    parts = memory_parts(clock, ids)
    return store_of(parts, PlainIndex(parts.reader), NothingToSweep(), _no_versions)


def _no_versions() -> NoReturn:
    raise JournalUnavailable("nothing that is gone with its process has versions")


def memory_parts(clock: Clock, ids: IdSource) -> StoreParts:
    """What such a store is put together from."""
    memory = Memory()
    return StoreParts(
        committer=memory, reader=memory, chain=Chain(bytes(32)), clock=clock, ids=ids, quick=True
    )


class Memory:
    """One database, one connection, one at a time. It commits, and it reads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = False
        self._connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False
        )
        self._connection.execute("PRAGMA foreign_keys = ON")
        migrate(self._connection)
        self._loads = loads_from(self._connection)

    def commit(
        self, works: Sequence[Work[Desk]], /, *, wait: bool
    ) -> Sequence[object | Exception] | None:
        """Do each in a transaction of its own: nothing is gained by sharing one."""
        if not self._lock.acquire(blocking=wait):
            return None
        try:
            return [self._done(work) for work in works]
        finally:
            self._lock.release()

    def rows(self, statement: str, values: Sequence[object], /) -> list[sql.Row]:
        """What a statement finds; JournalUnavailable."""
        with self._lock:
            if self._closed:
                raise JournalUnavailable("the journal is closed")
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def snapshot(self) -> Generator["Memory"]:
        """Whoever drives calls in memory looks when they are done."""
        yield self

    def is_untidy(self) -> bool:
        """It never is."""
        return False

    def tidy(self) -> None:
        """Nothing to be done."""

    def end_tidying(self) -> None:
        """Nothing to be done."""

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._closed = True
            self._connection.close()

    def _done(self, work: Work[Desk]) -> object | Exception:
        connection = self._connection
        connection.execute("BEGIN")
        try:
            desk = Desk(self._loads)
            found = work(desk)
            write(desk, connection)
        except Exception as problem:  # noqa: BLE001 - whoever asked has to hear of it
            connection.execute("ROLLBACK")
            if isinstance(problem, sqlite3.Error):
                return JournalUnavailable(f"the journal in memory: {problem}")
            return problem
        connection.execute("COMMIT")
        return found


class PlainIndex:
    """Finds words by looking at everything, the newest of a session first."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def find(self, words: str, session_id: str | None, limit: int, /) -> list[Found]:
        """The events that hold all the words."""
        wanted = phrases_of(words)
        if not wanted:
            return []
        rows = self._reader.rows(_ALL_EVENTS, (session_id, session_id))
        found = (_found(Stored(*row), wanted) for row in reversed(rows))
        return [one for one in found if one is not None][:limit]

    def near(self, wanted: WordQuery, /) -> Near:
        """The events that hold any of the words. It never lags behind."""
        rows = self._reader.rows(_ALL_EVENTS, (None, None))
        states = {
            row[0]: sql.session_of(row).state.agent_id or ""
            for row in self._reader.rows(sql.SESSIONS, (len(rows) + 1,))
        }
        words = _PlainWords(map(Stored._make, rows), states, nearness.scope_of(wanted))
        places = nearness.nearest(words, nearness.asked_of(wanted), wanted.limit)
        return Near(tuple(words.worded[place] for place in places))

    def close(self) -> None:
        """There is nothing to let go of."""


class _PlainWords:
    """The words of all events."""

    def __init__(
        self, rows: Iterable[Stored], agents: Mapping[str, str], scope: "nearness.Scope"
    ) -> None:
        self.worded = [_worded(row) for row in rows]
        self._said = [words_of(one.text) for one in self.worded]
        self._within = [_is_within(one.event, agents, scope) for one in self.worded]

    def count(self, phrase: Phrase, most: int, /) -> int:
        return min(most, sum(_stands_in(phrase, said) for said in self._said))

    def every(self, phrase: Phrase, /) -> Sequence[int]:
        return self.places([phrase], len(self._said))

    def places(self, phrases: Sequence[Phrase], most: int, /) -> Sequence[int]:
        found = (
            at
            for at, said in reversed([*enumerate(self._said)])
            if self._within[at] and all(_stands_in(phrase, said) for phrase in phrases)
        )
        return list(islice(found, most))


class NothingToSweep:
    """What is in memory is gone with it."""

    def sweep(self, *, dry: bool) -> Swept:  # noqa: ARG002 - nothing either way
        """There is nothing that nobody refers to."""
        return Swept()

    def compact(self) -> int:
        """There is no file to make smaller."""
        return 0


def _worded(row: Stored) -> Worded:
    event = event_of(row)
    return Worded(event, searching.searchable(event.payload))


def _is_within(event: Event, agents: Mapping[str, str], scope: "nearness.Scope") -> bool:
    kinds = {event.type, searching.kind_of(event.payload)}
    return (
        agents[event.session_id] in scope.agents
        and (not scope.types or not kinds.isdisjoint(scope.types))
        and kinds.isdisjoint(scope.but_types)
        and (scope.sessions is None or event.session_id in scope.sessions)
        and event.session_id != scope.without
    )


def _found(row: Stored, wanted: Sequence[Phrase]) -> Found | None:
    event = event_of(row)
    text = searching.searchable(event.payload)
    said = words_of(text)
    if not all(_stands_in(phrase, said) for phrase in wanted):
        return None
    return Found(
        session_id=row.session_id,
        sequence=row.sequence,
        event_id=row.id,
        type=row.type,
        at=event.at,
        excerpt=excerpt(text, wanted),
    )


def _stands_in(phrase: Phrase, said: Sequence[str]) -> bool:
    size = len(phrase)
    return any(tuple(said[at : at + size]) == phrase for at in range(len(said) - size + 1))
