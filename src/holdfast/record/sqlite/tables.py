"""A desk on a SQLite file: rows are read when they are asked for, and written at the end."""

import sqlite3

from holdfast.record import sql
from holdfast.record.rows import Desk, Loads, PartRow, SessionRow


def loads_from(connection: sqlite3.Connection) -> Loads:
    """How a desk reads from this connection."""

    def one(statement: str, *values: object) -> sql.Row | None:
        return connection.execute(statement, values).fetchone()

    def session(session_id: str) -> SessionRow | None:
        row = one(sql.SESSION, session_id)
        return None if row is None else sql.session_of(row)

    def part(message_id: str, number: int) -> PartRow | None:
        row = one(sql.PART, message_id, number)
        return None if row is None else sql.part_of(row)

    def has_event(session_id: str, event_id: str) -> bool:
        return one(sql.EVENT_EXISTS, session_id, event_id) is not None

    def was_called(session_id: str, call_id: str) -> bool:
        return one(sql.WAS_CALLED, session_id, call_id) is not None

    def new_number() -> int:
        (number,) = one(sql.NEXT_NUMBER) or (1,)
        return number

    return Loads(session, part, has_event, was_called, new_number)


def write(desk: Desk, connection: sqlite3.Connection) -> None:
    """Write what is on a desk.

    Bytes go as bytearrays: for every single value that is bytes, Python's module asks around how it
    is to be adapted, which costs more than a copy.
    """
    cursor = connection.cursor()
    for statement, rows in sql.writes(desk, bytearray):
        cursor.executemany(statement, rows)
