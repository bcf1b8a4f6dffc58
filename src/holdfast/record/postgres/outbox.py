"""The sessions of a database that somebody has to be told of."""

from collections.abc import Collection, Mapping, Sequence
from typing import LiteralString

from anyio import to_thread

from holdfast.contract.journal import JournalUnusable, Session
from holdfast.contract.ports import SharedClock
from holdfast.contract.session_state import due_micros, urgency
from holdfast.record import sql
from holdfast.record.journal import session_of
from holdfast.record.owner import Owner
from holdfast.record.postgres.connection import PostgresConnections
from holdfast.record.postgres.statements import NOW, query

_SESSIONS = f"SELECT {sql.SESSION_COLUMNS} FROM chat_sessions"
_NOW = f"SELECT {NOW}"
_NOBODY_RUNS_IT = "(holder IS NULL OR until <= ?)"
_UNTOLD = (
    f"{_SESSIONS} WHERE due <= ? AND announced IS NULL AND {_NOBODY_RUNS_IT}"
    " ORDER BY due, id LIMIT ?"
)
_OVERDUE = (
    f"{_SESSIONS} WHERE due <= ? AND announced IS NOT NULL AND {_NOBODY_RUNS_IT} AND id > ?"
    " ORDER BY id LIMIT ?"
)
_STANDING = f"{_SESSIONS} WHERE id = ANY(?)"
_TOLD: LiteralString = """
WITH free AS (
    SELECT id FROM holdfast.chat_sessions WHERE id = ANY(%s) ORDER BY id FOR UPDATE SKIP LOCKED
)
UPDATE holdfast.chat_sessions AS kept SET announced = CASE
    WHEN kept.due IS DISTINCT FROM told.due THEN NULL
    WHEN kept.sequence = told.sequence THEN told.due
    ELSE kept.announced
END
FROM free
JOIN unnest(%s::text[], %s::bigint[], %s::bigint[]) AS told (id, due, sequence) USING (id)
WHERE kept.id = free.id
"""
"""Nobody is waited for: who has a session locked is about to change it, and it stays untold. What
was told of another due moment than by now may have replaced what was told of this one."""


class PostgresOutbox:
    """On connections that are borrowed, in threads."""

    def __init__(self, connections: PostgresConnections, clock: SharedClock | None = None) -> None:
        """``clock``: hears what time it is at the server."""
        self._connections = connections
        self._clock = clock
        self._owner = Owner()

    async def untold(
        self, now_micros: int, before_micros: int, /, *, limit: int
    ) -> tuple[Session, ...]:
        """Those that are due by ``before_micros`` and were not told, the most urgent first."""
        found = await self._page(_UNTOLD, before_micros, now_micros, limit=limit)
        return tuple(sorted(found, key=lambda one: (urgency(one.state, now_micros), one.id)))

    async def told(self, sessions: Sequence[Session], /) -> None:
        """These were told, as they stood. One that stands otherwise by now is not."""
        if sessions:
            await to_thread.run_sync(self._note, sessions)

    async def overdue(
        self, now_micros: int, before_micros: int, /, *, after: str, limit: int
    ) -> tuple[Session, ...]:
        """Those that were told and are still due, in the order of their ids."""
        return tuple(await self._page(_OVERDUE, before_micros, now_micros, after, limit=limit))

    async def standing(self, session_ids: Collection[str], /) -> Mapping[str, Session]:
        """Where these stand, those that there are."""
        return {one.id: one for one in await self._found(_STANDING, list(session_ids))}

    async def _found(self, statement: str, *values: object) -> list[Session]:
        found, _ = await to_thread.run_sync(self._read, statement, values)
        return found

    async def _page(self, statement: str, *values: object, limit: int) -> list[Session]:
        """As many as were asked for, where there are so many: whoever gets fewer takes them for the
        last ones. Those that cannot be read do not count."""
        unreadable = 0
        while True:
            most = limit + unreadable
            found, rows = await to_thread.run_sync(self._read, statement, (*values, most))
            if rows < most or len(found) >= limit:
                return found[:limit]
            unreadable = rows - len(found)

    def _read(self, statement: str, values: Sequence[object]) -> tuple[list[Session], int]:
        """Those that can be read, and how many there are."""
        self._owner.check()
        with self._connections.borrowed() as connection:
            with connection.pipeline():
                begun = connection.execute(_NOW)
                found = connection.execute(query(statement), values)
            ((now,),) = begun.fetchall()
            rows = found.fetchall()
        if self._clock is not None:
            self._clock.hear(now)
        sessions = map(_readable, rows)
        return [session for session in sessions if session is not None], len(rows)

    def _note(self, sessions: Sequence[Session]) -> None:
        self._owner.check()
        names = [one.id for one in sessions]
        moments = [due_micros(one.state) for one in sessions]
        sequences = [one.sequence for one in sessions]
        with self._connections.borrowed() as connection:
            connection.execute(_TOLD, (names, names, moments, sequences))


def _readable(row: sql.Row) -> Session | None:
    """None: its row is damaged, which must not keep all others from being told."""
    try:
        return session_of(sql.session_of(row))
    except JournalUnusable:
        return None
