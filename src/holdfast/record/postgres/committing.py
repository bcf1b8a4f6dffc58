"""Works on a PostgreSQL: those of many sessions in one transaction, each seeing the one before it.

Nothing is waited for without end. What the server is known to have refused, because others hold a
lock or were faster, is done session by session, so that whoever is in the way harms one session
alone. Whatever may have been lost with a connection is told as unavailable, and never tried a
second time.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus

from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.ports import SharedClock
from holdfast.record.group_commit import Work, result_of
from holdfast.record.postgres.connection import PostgresConnections
from holdfast.record.postgres.desk import desk_on, session_of, write
from holdfast.record.postgres.patience import PatientConnection
from holdfast.record.postgres.schema import migrate
from holdfast.record.rows import Desk

LOCK_SECONDS = 5.0
"""How long another client may keep a session locked."""
HELD_SECONDS = 0.1
"""The same for a session that was waited for in vain, until it is free again."""
_LOST = (psycopg.OperationalError, psycopg.InterfaceError)
"""The server is gone, or cannot: whether something was written is not known."""
_REFUSED = (errors.DeadlockDetected, errors.SerializationFailure, errors.PipelineAborted)
"""Of those, what is known not to have been written."""
_TIMES = 3
"""How often a work is done that others were faster than."""

_Batch = Mapping[int, Work[Desk]]
"""Works, by their numbers among all that were asked for."""
_Found = dict[int, object | Exception]
"""The result of each, or how it failed."""


class PostgresCommitter:
    """Does works in one transaction, on a connection of its own that is made again when lost."""

    def __init__(self, connections: PostgresConnections, clock: SharedClock | None = None) -> None:
        """``clock``: hears what time it is at the server, whose clock leases are kept by then."""
        self._connections = connections
        self._clock = clock
        self._connection: PatientConnection | None = connections.connect()
        self._held: set[str | None] = set()
        """Sessions that were waited for in vain: nobody else is to wait for them again."""
        try:
            with connections.told(), self._connection.patient_for(None):
                migrate(self._connection, connections.place)
        except BaseException:
            self._let_go()
            raise

    def commit(
        self, works: Sequence[Work[Desk]], /, *, wait: bool
    ) -> Sequence[object | Exception] | None:
        """Do all and commit once; what fails in an unforeseen way fails alone."""
        del wait  # who asks a server never does it on an event loop
        asked = dict(enumerate(works))
        held = {number: work for number, work in asked.items() if session_of(work) in self._held}
        free = {number: work for number, work in asked.items() if number not in held}
        found = self._done(free, LOCK_SECONDS) if free else {}
        found |= self._each_done(_by_session(held), waited=True)
        return [found[number] for number in asked]

    def is_untidy(self) -> bool:
        """The server tidies up by itself."""
        return False

    def tidy(self) -> None:
        """The server does that."""

    def end_tidying(self) -> None:
        """The server does that."""

    def close(self) -> None:
        """Let go of the connection."""
        self._let_go()

    def _done(self, batch: _Batch, seconds: float, times: int = _TIMES) -> _Found:
        """Do it all and commit, waiting so long for a lock; what cannot be done so, in parts."""
        sessions = set(map(session_of, batch.values()))
        try:
            found = self._together(batch, seconds)
        except errors.LockNotAvailable as problem:
            if len(sessions) > 1:
                return self._each_done(_by_session(batch), waited=True)
            self._held |= sessions
            return dict.fromkeys(batch, self._said(problem))
        except _NotConnected as problem:
            return dict.fromkeys(batch, problem.why)
        except Exception as problem:  # noqa: BLE001 - whoever asked has to hear of it
            if isinstance(problem, _LOST) and not isinstance(problem, _REFUSED):
                self._let_go()
                return dict.fromkeys(batch, self._said(problem))
            if len(batch) > 1:
                return self._each_done(_smaller(batch), waited=seconds < LOCK_SECONDS)
            if times > 1 and _was_overtaken(problem):
                return self._done(batch, seconds, times - 1)
            return dict.fromkeys(batch, self._said(problem))
        self._held -= sessions
        return found

    def _each_done(self, batches: Sequence[_Batch], *, waited: bool) -> _Found:
        """Each by itself. In vain they wait together hardly longer than one of them may.

        ``waited``: that was already done.
        """
        found: _Found = {}
        for at, batch in enumerate(batches):
            short = min(HELD_SECONDS, LOCK_SECONDS / len(batches))
            found |= self._done(batch, short if waited else LOCK_SECONDS)
            if self._connection is None:  # it is gone: not each of them has to find that out
                rest = [number for later in batches[at + 1 :] for number in later]
                return found | dict.fromkeys(rest, found[next(iter(batch))])
            waited = waited or not self._held.isdisjoint(map(session_of, batch.values()))
        return found

    def _together(self, batch: _Batch, seconds: float) -> _Found:
        connection = self._connected()
        with connection.transaction():
            desk = desk_on(connection, batch.values(), seconds, self._clock)
            found = {number: result_of(work, desk) for number, work in batch.items()}
            write(desk, connection)
        return found

    def _connected(self) -> PatientConnection:
        known = self._connection
        if known is not None and known.info.transaction_status == TransactionStatus.IDLE:
            return known
        self._let_go()
        try:
            self._connection = made = self._connections.connect()
        except JournalUnavailable as problem:
            raise _NotConnected(problem) from None
        return made

    def _said(self, problem: Exception) -> Exception:
        """The same, with what to do."""
        is_theirs = isinstance(problem, psycopg.Error)
        return self._connections.said(problem) if is_theirs else problem

    def _let_go(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
        self._connection = None


class _NotConnected(Exception):
    """Nothing was asked of the server, as there is none."""

    def __init__(self, why: JournalUnavailable) -> None:
        super().__init__(str(why))
        self.why = why


def _was_overtaken(problem: Exception) -> bool:
    """Whether others were faster: done again, it sees what they have done."""
    if isinstance(problem, errors.UniqueViolation):
        return problem.diag.constraint_name == "chat_sessions_pkey"
    return isinstance(problem, _REFUSED)


def _smaller(batch: _Batch) -> list[_Batch]:
    """Those of each session, or, if they are all of one, each."""
    sessions = _by_session(batch)
    return sessions if len(sessions) > 1 else [{number: work} for number, work in batch.items()]


def _by_session(batch: _Batch) -> list[_Batch]:
    sessions: dict[str | None, dict[int, Work[Desk]]] = {}
    for number, work in batch.items():
        sessions.setdefault(session_of(work), {})[number] = work
    return list(sessions.values())
