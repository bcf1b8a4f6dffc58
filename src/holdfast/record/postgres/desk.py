"""A desk on a PostgreSQL: the rows of many sessions are read at once, and written at once.

Sessions are locked, and new ones inserted, in the order of their ids, so that processes never wait
for each other in a circle.
"""

from collections.abc import Iterable

from holdfast.contract.ports import SharedClock
from holdfast.record import sql
from holdfast.record.appending import Appending, SessionWork
from holdfast.record.group_commit import Work
from holdfast.record.postgres.patience import Connection
from holdfast.record.postgres.statements import NOW, query
from holdfast.record.rows import Desk, Loads, PartRow, SessionRow

_BEGIN = f"SELECT set_config('lock_timeout', %s, true), {NOW}"
"""Locks are waited for afterwards: a lease is never taken too early."""
_NOT_FOR_LONG = """SELECT CASE WHEN current_setting('transaction_timeout') = '0'
    THEN set_config('transaction_timeout', %s, true) END"""
"""Whoever stands still, or is cut off, in the middle of a transaction keeps sessions locked, which
nobody else can take over until that ends. What the URL or the server says already is left."""
_KNOWS_HOW_LONG = 170_000
"""The version of servers from which on that can be said."""
APPEND_SECONDS = 5.0
"""How long reading and writing what is appended may last, besides waiting for locks."""
_LOCKED = f"{sql.SESSION.replace('id = ?', 'id = ANY(?)')} ORDER BY id FOR UPDATE"
_NUMBER = "SELECT nextval('holdfast.session_numbers')"
_PARTS = sql.PART.replace(
    'message_id = ? AND "index" = ?',
    '(message_id, "index") IN (SELECT * FROM unnest(?::text[], ?::bigint[]))',
)


def session_of(work: Work[Desk]) -> str | None:
    """The session that a work is about."""
    return work.session_id if isinstance(work, Appending | SessionWork) else None


def desk_on(
    connection: Connection,
    works: Iterable[Work[Desk]],
    lock_seconds: float,
    clock: SharedClock | None = None,
) -> Desk:
    """A desk with the rows that works are going to ask for, locked and read at once.

    ``clock`` hears what time it is here, and leases are kept by that; None: by whoever asks.
    """
    works = tuple(works)
    wanted = sorted({name for name in map(session_of, works) if name is not None})
    # Other works may take as long as they need.
    most = lock_seconds + APPEND_SECONDS if all(map(_is_short, works)) else None
    now, rows = _locked(connection, wanted, lock_seconds, most)
    sessions = {row.id: row for row in rows}
    if clock is not None:
        clock.hear(now)
    places = {
        (call.message_id, call.part)
        for row in sessions.values()
        for call in row.state.calls.values()
    }
    parts = {(part.message_id, part.number): part for part in _parts(connection, places)}

    def one(statement: str, *values: object) -> sql.Row | None:
        return connection.execute(query(statement), values).fetchone()

    def session(session_id: str) -> SessionRow | None:
        return sessions.get(session_id)

    def part(message_id: str, number: int) -> PartRow | None:
        if (message_id, number) in parts:
            return parts[message_id, number]
        row = one(sql.PART, message_id, number)
        return None if row is None else sql.part_of(row)

    def has_event(session_id: str, event_id: str) -> bool:
        return one(sql.EVENT_EXISTS, session_id, event_id) is not None

    def was_called(session_id: str, call_id: str) -> bool:
        return one(sql.WAS_CALLED, session_id, call_id) is not None

    def new_number() -> int:
        (number,) = one(_NUMBER) or (1,)
        return number

    here = None if clock is None else now
    return Desk(Loads(session, part, has_event, was_called, new_number, here))


def _locked(
    connection: Connection, wanted: list[str], lock_seconds: float, most_seconds: float | None
) -> tuple[int, Iterable[SessionRow]]:
    with connection.pipeline():
        if most_seconds is not None and connection.info.server_version >= _KNOWS_HOW_LONG:
            connection.execute(_NOT_FOR_LONG, (_millis(most_seconds),))
        begun = connection.execute(_BEGIN, (_millis(lock_seconds),))
        found = connection.execute(query(_LOCKED), (wanted,))
    (_, now), *_ = begun.fetchall()
    return now, map(sql.session_of, found.fetchall())


def _is_short(work: Work[Desk]) -> bool:
    return isinstance(work, Appending) or (isinstance(work, SessionWork) and not work.is_long)


def _millis(seconds: float) -> str:
    return f"{int(seconds * 1000)}ms"


def _parts(connection: Connection, places: set[tuple[str, int]]) -> Iterable[PartRow]:
    if not places:
        return ()
    values = ([message for message, _ in places], [number for _, number in places])
    return map(sql.part_of, connection.execute(query(_PARTS), values).fetchall())


def write(desk: Desk, connection: Connection) -> None:
    """Write what is on a desk."""
    with connection.pipeline():
        cursor = connection.cursor()
        for statement, rows in sql.writes(desk):
            in_order = sorted(rows) if statement == sql.NEW_SESSION else rows
            cursor.executemany(query(statement), in_order)
