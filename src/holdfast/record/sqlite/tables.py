"""A desk on a SQLite file: rows are read when they are asked for, and written at the end."""

import sqlite3

from holdfast.record import sql
from holdfast.record.rows import Desk, Loads, PartRow, SessionRow


def desk_on(connection: sqlite3.Connection) -> Desk:
    """A desk that reads from this connection."""

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

    return Desk(Loads(session, part, has_event, was_called))


def write(desk: Desk, connection: sqlite3.Connection) -> None:
    """Write what is on a desk."""
    many = connection.executemany
    if desk.new_sessions:
        many(sql.NEW_SESSION, map(sql.session_values, desk.new_sessions.values()))
    if desk.sessions:
        many(sql.SESSION_CHANGED, map(sql.session_changes, desk.sessions.values()))
    if desk.events:
        many(sql.NEW_EVENT, map(sql.event_values, desk.events))
    if desk.messages:
        many(sql.NEW_MESSAGE, desk.messages)
    if desk.new_parts:
        many(sql.NEW_PART, desk.new_parts.values())
    if desk.parts:
        many(sql.PART_CHANGED, map(sql.part_changes, desk.parts.values()))
    for at, session_id, event_ids in desk.marked:
        many(sql.MARKED, [(at, session_id, event_id) for event_id in event_ids])
