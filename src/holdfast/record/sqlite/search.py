"""Full text of a SQLite file's events: it lags behind the journal, and catches up when asked.

Events are read and taken apart before anything is locked; whoever appends waits for the writing
alone, and that is short. Whoever looks for any of some words waits for a bounded part of it; the
rest is taken up by a thread, which ends with it.
"""

import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

from holdfast.contract.archive import Found, Near, WordQuery
from holdfast.contract.journal import JournalUnavailable
from holdfast.record import indexing, nearness, sql
from holdfast.record.owner import Owner
from holdfast.record.sqlite.connection import is_busy, open_tidier, told
from holdfast.record.sqlite.legible import fetched
from holdfast.record.words import Phrase, phrases_of

_PLACE = "SELECT sequence FROM search_places WHERE session_id = ?"
_SAME = f"{sql.EVENT_AT} AND events.hash = ?"
_WORDS = "INSERT INTO search (rowid, words, marks) VALUES (?, ?, ?)"
_FIND = (
    f"SELECT {sql.FOUND_EVENTS} FROM search JOIN events ON place = search.rowid"
    f" JOIN chat_sessions ON number = place / {sql.SPAN}"
    " WHERE search MATCH ? ORDER BY rank, search.rowid DESC LIMIT ?"
)
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH ? LIMIT ?)"
_EVERY = "SELECT rowid, marks FROM search WHERE search MATCH ? ORDER BY rowid DESC"
_LIST = "SELECT rowid FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?"
_AT = (
    f"SELECT {sql.FOUND_EVENTS}, place FROM events"
    f" JOIN chat_sessions ON number = place / {sql.SPAN}"
    " WHERE place IN (SELECT value FROM json_each(?))"
)
_NOBODY = "nobody"
"""No name at all fits nothing."""
_MOST_REMEMBERED = 200
"""Words whose events are kept in mind until something is written: questions come together."""
_PATIENCE_MS = 200
"""How long a question waits for somebody else who writes, before it does without the newest."""


class SqliteIndex:
    """Finds words. Blocking; one at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._owner = Owner()
        self._kept: sqlite3.Connection | None = None
        """For questions that are asked often: it remembers what it has read."""
        self._seen = -1
        """The version of the file in which nothing was behind."""
        self._known: _Known | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = threading.Event()

    def find(self, words: str, session_id: str | None, limit: int, /) -> list[Found]:
        """The events that hold all the words, the best first."""
        wanted = phrases_of(words)
        if not wanted:
            return []
        asked = _all_of(wanted)
        if session_id is not None:
            asked += f" AND marks : {_mark('s', session_id)}"
        with self._lock, told(self._path), closing(open_tidier(self._path)) as connection:
            _catch_up(connection)
            rows = fetched(connection, _FIND, (asked, max(0, limit)))
        return indexing.found_among(rows, wanted)

    def near(self, wanted: WordQuery, /) -> Near:
        """The events that hold any of the words; the rest of what it lags behind is left to a
        thread."""
        self._owner.check()
        asked = nearness.asked_of(wanted)
        scope = nearness.scope_of(wanted)
        with self._lock, told(self._path):
            connection = self._connection()
            try:
                behind = self._taken_up(connection)
                words = _Words(connection, scope, self._remembered(connection))
                places = nearness.nearest(words, asked, wanted.limit)
                rows = _at(connection, places)
            except BaseException:
                self._let_go()
                raise
        return Near(tuple(indexing.worded(rows)), behind)

    def close(self) -> None:
        """Let go of the file, and end what is taken up."""
        if not self._owner.is_here:
            return
        self._is_closed.set()
        thread = self._thread
        if thread is not None:
            thread.join()
        with self._lock:
            self._let_go()

    def _connection(self) -> sqlite3.Connection:
        if self._is_closed.is_set():
            raise JournalUnavailable("the store is closed")
        if self._kept is None:
            self._kept = open_tidier(self._path)
            self._kept.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
        return self._kept

    def _remembered(self, connection: sqlite3.Connection) -> "_Known":
        version = _version(connection)
        known = self._known
        if known is None or known.version != version or len(known.counts) > _MOST_REMEMBERED:
            known = self._known = _Known(version, {}, {})
        return known

    def _let_go(self) -> None:
        kept, self._kept = self._kept, None
        self._seen = -1
        if kept is not None:
            kept.close()

    def _taken_up(self, connection: sqlite3.Connection) -> int:
        """Take up a bounded part, unless a thread is at much; how many events are left."""
        version = _version(connection)
        if version == self._seen:
            return 0
        backlog = indexing.Backlog(partial(fetched, connection))
        behind = backlog.look()
        at_it = self._thread is not None and self._thread.is_alive()
        # A thread that is at it may have seen the last of it already: what is little is taken here.
        if behind and (behind <= indexing.AT_A_QUESTION or not at_it):
            with suppress(_Busy):
                taken = _take_up(connection, backlog)
                behind = behind - taken if taken else backlog.look()
                self._known = None
            if behind > 0 and not at_it:
                self._thread = threading.Thread(
                    target=self._goes_on, name="holdfast indexing", daemon=True
                )
                self._thread.start()
        # A row that is damaged stays behind for ever: there is nothing more to wait for.
        self._seen = version if behind <= 0 else -1
        return max(0, behind)

    def _goes_on(self) -> None:
        """Take up what is left. Whoever asks next does it where this fails."""
        with (
            suppress(JournalUnavailable),
            told(self._path),
            closing(open_tidier(self._path)) as connection,
        ):
            _catch_up(connection, self._is_closed)


class _Busy(Exception):
    """Somebody else writes, and does not end soon."""


class _Known(NamedTuple):
    """What is known of words in one version of the file."""

    version: int
    counts: dict[Phrase, int]
    marked: dict[Phrase, list[tuple[int, str]]]
    """The events that hold a word, with their marks."""


class _Words:
    """The words of a file, as far as certain marks go."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        scope: "nearness.Scope",
        known: _Known,
    ) -> None:
        self._connection = connection
        self._known = known
        self._wanted = [set(marks) for marks in _marks_of(scope)]
        but = [*_of_kinds(scope.agents, scope.but_types)]
        if scope.without is not None:
            but.append(_mark("s", scope.without))
        self._but = set(but)
        asked = " ".join(f"AND marks : ({' OR '.join(marks)})" for marks in _marks_of(scope))
        self._scope = f"{asked} NOT marks : ({' OR '.join(but)})" if but else asked

    def count(self, phrase: Phrase, most: int, /) -> int:
        counts = self._known.counts
        if phrase not in counts:
            asked = (_all_of([phrase]), most)
            (counts[phrase],) = self._connection.execute(_COUNT, asked).fetchone()
        return counts[phrase]

    def every(self, phrase: Phrase, /) -> Sequence[int]:
        marked = self._known.marked
        if phrase not in marked:
            marked[phrase] = self._connection.execute(_EVERY, (_all_of([phrase]),)).fetchall()
        return [place for place, marks in marked[phrase] if self._fits(marks.split(" "))]

    def places(self, phrases: Sequence[Phrase], most: int, /) -> Sequence[int]:
        asked = f"{_all_of(phrases)} {self._scope}"
        return [place for (place,) in self._connection.execute(_LIST, (asked, most))]

    def _fits(self, marks: list[str]) -> bool:
        is_wanted = not any(one.isdisjoint(marks) for one in self._wanted)
        return is_wanted and self._but.isdisjoint(marks)


def _at(connection: sqlite3.Connection, places: Sequence[int]) -> list[sql.Row]:
    """The events there, in this order; one that is gone is left out."""
    found = {row[-1]: row[:-1] for row in fetched(connection, _AT, (str(list(places)),))}
    return [found[place] for place in places if place in found]


def _catch_up(connection: sqlite3.Connection, ended: threading.Event | None = None) -> None:
    backlog = indexing.Backlog(partial(fetched, connection))
    tried: list[indexing.Reached] = []
    while batch := backlog.next():
        if batch.reached == tried or (ended is not None and ended.is_set()):
            return  # nobody else takes it up either: a row of it is damaged
        if not _added(connection, batch):
            tried = batch.reached
            backlog.forget()


def _take_up(connection: sqlite3.Connection, backlog: "indexing.Backlog") -> int:
    """Take up a bounded part; how many events that were. _Busy."""
    batch = backlog.next(indexing.AT_A_QUESTION)
    if batch is None:
        return 0
    try:
        return batch.size if _added(connection, batch) else 0
    except sqlite3.OperationalError as problem:
        if is_busy(problem):
            raise _Busy from None
        raise


def _added(connection: sqlite3.Connection, batch: "indexing.Batch") -> bool:
    """Keep it, unless somebody took some of it up meanwhile.

    What fails is taken back by whoever closes the connection.
    """
    connection.execute("BEGIN IMMEDIATE")
    is_next = all(_is_next(connection, one) for one in batch.reached)
    if is_next:
        connection.executemany(_WORDS, sorted(map(_row, batch.entries)))
        places = [(one.session_id, one.sequence) for one in batch.reached]
        connection.executemany(sql.INDEXED_TO, places)
    connection.execute("COMMIT")
    return is_next


def _is_next(connection: sqlite3.Connection, reached: "indexing.Reached") -> bool:
    """Whether nobody took it up meanwhile, and the session is still the one that was read."""
    (place,) = connection.execute(_PLACE, (reached.session_id,)).fetchone() or (0,)
    same = (reached.session_id, reached.sequence, reached.hash)
    return place == reached.before and connection.execute(_SAME, same).fetchone() is not None


def _version(connection: sqlite3.Connection) -> int:
    """Another one whenever somebody else has written."""
    (version,) = connection.execute("PRAGMA data_version").fetchone()
    return version


def _row(entry: "indexing.Entry") -> tuple[int, str, str]:
    marks = [_mark("s", entry.session_id)]
    if entry.agent is not None:
        kinds = dict.fromkeys([entry.kind, entry.kind.partition("/")[0]])
        marks += [_mark("a", entry.agent), *_of_kinds([entry.agent], kinds)]
    place = entry.number * sql.SPAN + entry.sequence
    return place, " ".join(entry.words), " ".join(marks)


@lru_cache(maxsize=1024)
def _mark(sort: str, name: str) -> str:
    """What stands for a name, which may hold any sign."""
    return f"{sort}{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:16]}"


def _marks_of(scope: "nearness.Scope") -> list[list[str]]:
    """Of each of these, an event has at least one."""
    agents = [_mark("a", agent) for agent in scope.agents]
    wanted = [[*_of_kinds(scope.agents, scope.types)] if scope.types else agents]
    if scope.sessions is not None:
        wanted.append([_mark("s", name) for name in scope.sessions])
    return [marks or [_NOBODY] for marks in wanted]


def _of_kinds(agents: Iterable[str], kinds: Iterable[str]) -> Iterator[str]:
    """Whose and of which kind in one mark: what nearly every event has would be looked through as
    a whole beside it."""
    return (_mark("t", f"{kind} {agent}") for agent, kind in product(agents, kinds))


def _all_of(wanted: Iterable[Phrase]) -> str:
    return f"words : ({' AND '.join(_quoted(phrase) for phrase in wanted)})"


def _quoted(phrase: Phrase) -> str:
    return '"' + " ".join(phrase) + '"'
