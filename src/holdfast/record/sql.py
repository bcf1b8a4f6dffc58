"""The statements that every store understands, and what their rows mean.

A value's place is written `?`; a store that writes it otherwise changes that.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

from holdfast.contract.event_kinds import MAKES_RUNNABLE
from holdfast.contract.journal import JournalUnusable, TooNew
from holdfast.contract.session_state import SessionState
from holdfast.record.codec import Stored
from holdfast.record.rows import Brief, Desk, PartRow, SessionRow, brief_of

SESSION_COLUMNS = (
    "id, created_at, updated_at, sequence, hash, state_json, epoch, holder, until, number, due"
)
_PART_COLUMNS = (
    'id, message_id, session_id, "index", type, data_json, tool_call_id, tool_state,'
    " created_at, updated_at"
)
SESSION_NAMES = tuple(SESSION_COLUMNS.split(", "))
PART_NAMES = tuple(_PART_COLUMNS.split(", "))
_MESSAGE_COLUMNS = 'id, session_id, "index", role, created_at, updated_at'
MESSAGE_NAMES = tuple(_MESSAGE_COLUMNS.split(", "))
BRIEF_NAMES = Brief._fields
_BRIEF_COLUMNS = ", ".join(BRIEF_NAMES)
_EVENT_COLUMNS = "place, id, micros, wake_id, type, version, body, previous, hash, processed_at"

SPAN = 1 << 32
"""How many places a session has. An event's place is behind that of its session."""
FIRST = f"number * {SPAN}"
"""Where the places of a session begin."""
_OF_SESSION = f"chat_sessions.id = ? AND place > {FIRST} AND place < {FIRST} + {SPAN}"
_BEHIND = f"chat_sessions.id = ? AND place > {FIRST} + ? AND place < {FIRST} + {SPAN}"
FOUND_EVENTS = (
    f"chat_sessions.id, place - {FIRST}, events.id, micros, wake_id, type, version, body, previous,"
    " events.hash"
)
_TOLD_EVENTS = f"SELECT {FOUND_EVENTS}, processed_at FROM chat_sessions, events"

SESSION = f"SELECT {SESSION_COLUMNS} FROM chat_sessions WHERE id = ?"
PART = f'SELECT {_PART_COLUMNS} FROM chat_parts WHERE message_id = ? AND "index" = ?'
EVENT_EXISTS = f"SELECT 1 FROM chat_sessions, events WHERE {_OF_SESSION} AND events.id = ?"
WAS_CALLED = (
    "SELECT 1 FROM chat_messages JOIN chat_parts ON message_id = chat_messages.id"
    " WHERE chat_messages.session_id = ? AND tool_call_id = ?"
)

NEW_SESSION = (
    f"INSERT INTO chat_sessions ({SESSION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
NEXT_NUMBER = (
    "SELECT max(coalesce((SELECT max(number) FROM chat_sessions), 0),"
    f" coalesce((SELECT max(place) FROM events), 0) / {SPAN}) + 1"
)
"""Nothing is kept under it, also where somebody took a session away and left its events."""
SESSION_CHANGED = (
    "UPDATE chat_sessions SET updated_at = ?, sequence = ?, hash = ?, state_json = ?,"
    " epoch = ?, holder = ?, until = ? WHERE id = ?"
)
SESSION_MOVED = SESSION_CHANGED.replace(" WHERE", ", due = ? WHERE")
"""Where it has to be run at another time. That is seldom: all other changes touch no index."""
BRIEF_CHANGED = (
    f"INSERT INTO session_briefs ({_BRIEF_COLUMNS}) VALUES ({', '.join('?' * len(BRIEF_NAMES))})"
    " ON CONFLICT (number) DO UPDATE SET"
    f" {', '.join(f'{name} = excluded.{name}' for name in BRIEF_NAMES[1:])}"
)
BRIEF = f"SELECT {_BRIEF_COLUMNS} FROM session_briefs WHERE number = ?"
NEW_EVENT = f"INSERT INTO events ({_EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
NEW_MESSAGE = f"INSERT INTO chat_messages ({_MESSAGE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
NEW_PART = f"INSERT INTO chat_parts ({_PART_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
PART_CHANGED = (
    "UPDATE chat_parts SET data_json = ?, tool_state = ?, updated_at = ?"
    ' WHERE message_id = ? AND "index" = ?'
)
MARKED = (
    "UPDATE events SET processed_at = ?"
    " WHERE processed_at IS NULL AND place > ? AND place < ? AND id = ?"
)
"""What was taken into account stays so: only what waits is marked."""

EVENTS_AFTER = f"{_TOLD_EVENTS} WHERE {_BEHIND} ORDER BY place LIMIT ?"
LAST_EVENTS = (
    f"{_TOLD_EVENTS} WHERE chat_sessions.id = ? AND place > {FIRST} + ? AND place < {FIRST} + ?"
    " {more} ORDER BY place DESC LIMIT ?"
)
EDGE_EVENTS = (
    f"{_TOLD_EVENTS} WHERE place IN ((SELECT min(place) FROM events), (SELECT max(place) FROM"
    f" events)) AND number = place / {SPAN}"
)
"""The first one of the first session, and the last one of the newest."""
EVENT_AT = (
    "SELECT events.id FROM chat_sessions, events"
    f" WHERE chat_sessions.id = ? AND place = {FIRST} + ?"
)
PLACE_OF_EVENT = (
    f"SELECT place - {FIRST} FROM chat_sessions, events WHERE {_OF_SESSION} AND events.id = ?"
)

SESSIONS = f"SELECT {SESSION_COLUMNS} FROM chat_sessions ORDER BY updated_at DESC, id DESC LIMIT ?"
DUE = f"SELECT {SESSION_COLUMNS} FROM chat_sessions WHERE due <= ? ORDER BY due, id LIMIT ?"
NEXT_DUE = "SELECT min(due) FROM chat_sessions WHERE due IS NOT NULL"
SESSION_IDS = "SELECT id FROM chat_sessions WHERE id >= ? AND id < ? ORDER BY id LIMIT 6"
NOTHING = "SELECT 1"
ALL_SESSION_IDS = "SELECT id FROM chat_sessions"
MESSAGES = (
    f'SELECT {_MESSAGE_COLUMNS} FROM chat_messages WHERE session_id = ? AND "index" > ?'
    ' ORDER BY "index" LIMIT ?'
)
PARTS_OF_MESSAGES = (
    f"SELECT {', '.join(f'chat_parts.{name}' for name in PART_NAMES)}"
    " FROM chat_messages JOIN chat_parts ON message_id = chat_messages.id"
    ' WHERE chat_messages.session_id = ? AND chat_messages."index" BETWEEN ? AND ?'
    ' ORDER BY chat_messages."index", chat_parts."index"'
)
ALL_MESSAGES = f"SELECT {_MESSAGE_COLUMNS} FROM chat_messages WHERE session_id = ?"
ALL_PARTS = (
    f"SELECT {', '.join(f'chat_parts.{name}' for name in PART_NAMES)}"
    " FROM chat_messages JOIN chat_parts ON message_id = chat_messages.id"
    " WHERE chat_messages.session_id = ?"
)
DECISIONS = (
    f"{_TOLD_EVENTS} WHERE {_BEHIND}"
    " AND type IN ('call.asked', 'approval.asked',"
    " 'call.intended', 'call.refused', 'approval.answered')"
    " ORDER BY place LIMIT ?"
)
"""What was decided, and what it was about."""
MARKS = f"SELECT events.id, processed_at FROM chat_sessions, events WHERE {_OF_SESSION}"
REMARKED = "UPDATE events SET processed_at = ? WHERE place = ?"
_NO_PARTS = (
    "DELETE FROM chat_parts WHERE message_id IN (SELECT id FROM chat_messages WHERE session_id = ?)"
)
_NO_MESSAGES = "DELETE FROM chat_messages WHERE session_id = ?"
_NO_EVENTS = "DELETE FROM events WHERE place > ? AND place < ?"
_NO_BRIEF = "DELETE FROM session_briefs WHERE number = ?"
_NO_SESSION = "DELETE FROM chat_sessions WHERE id = ?"

_PENDING = frozenset(str(kind.__struct_config__.tag) for kind in MAKES_RUNNABLE)
_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(SessionState).decode

Row: TypeAlias = tuple[Any, ...]
"""As a store gives it: the columns of a statement."""
Blob: TypeAlias = Callable[[bytes], object]
"""How a store wants to be given bytes."""


def session_of(row: Row) -> SessionRow:
    """A row of chat_sessions; JournalUnusable when it cannot be read."""
    session_id, created, updated, sequence, head, state, *rest = row
    try:
        told = _decode(state)
    except msgspec.ValidationError as problem:
        raise TooNew(
            f"the row of session {session_id} says what this holdfast does not know ({problem});"
            " a newer one wrote it, or it is damaged: update holdfast, or restore the store from a"
            " copy"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError) as problem:
        raise JournalUnusable(
            f"the row of session {session_id} is damaged ({problem}); restore the store from a copy"
        ) from None
    return SessionRow(session_id, created, updated, sequence, head, told, *rest)


def part_of(row: Row) -> PartRow:
    """A row of chat_parts."""
    return PartRow(*row)


def processed_at(row: Stored) -> int | None:
    """What people say waits to be taken into account; everything else happened."""
    return None if row.type in _PENDING else row.micros


def event_values(row: Stored, number: int, blob: Blob = bytes) -> Row:
    """The values of NEW_EVENT."""
    _, sequence, event_id, micros, wake_id, kind, version, body, previous, own = row
    return (
        *(number * SPAN + sequence, event_id, micros, wake_id, kind, version),
        *(blob(body), blob(previous), blob(own), processed_at(row)),
    )


def session_values(row: SessionRow) -> Row:
    """The values of NEW_SESSION."""
    return (*row[:5], _encode(row.state).decode(), *row[6:])


def _changes(row: SessionRow, blob: Blob = bytes) -> Row:
    """The values of SESSION_CHANGED, but for its id."""
    state = _encode(row.state).decode()
    return (row.updated_at, row.sequence, blob(row.hash), state, row.epoch, row.holder, row.until)


def _moved(row: SessionRow, blob: Blob = bytes) -> Row:
    """The values of SESSION_MOVED."""
    return (*_changes(row, blob), row.due, row.id)


def _session_writes(desk: Desk, blob: Blob) -> Iterator[tuple[str, Sequence[Row]]]:
    """Of sessions that were there before."""
    sessions = desk.sessions.values()
    if desk.due:
        yield SESSION_MOVED, [_moved(row, blob) for row in sessions if row.id in desk.due]
        sessions = [row for row in sessions if row.id not in desk.due]
    if sessions:
        yield SESSION_CHANGED, [(*_changes(row, blob), row.id) for row in sessions]


def part_changes(row: PartRow) -> Row:
    """The values of PART_CHANGED."""
    return (row.data, row.tool_state, row.updated_at, row.message_id, row.number)


def _removals(desk: Desk) -> Iterator[tuple[str, Sequence[Row]]]:
    for session_id, row in desk.deleted.items():
        yield _NO_EVENTS, [_places(row)]
        yield _NO_BRIEF, [(row.number,)]
        for statement in (_NO_PARTS, _NO_MESSAGES, _NO_SESSION):
            yield statement, [(session_id,)]
    for session_id, again in desk.rebuilt.items():
        yield _NO_PARTS, [(session_id,)]
        yield _NO_MESSAGES, [(session_id,)]
        yield SESSION_MOVED, [_moved(again.session)]
        yield NEW_MESSAGE, again.messages
        yield NEW_PART, again.parts
        first = again.session.number * SPAN
        yield REMARKED, [(at, first + sequence) for sequence, at in again.processed.values()]


def writes(desk: Desk, blob: Blob = bytes) -> Iterator[tuple[str, Sequence[Row]]]:
    """The statements that write what is on a desk, each with its values."""
    if desk.deleted or desk.rebuilt:
        yield from _removals(desk)
    if desk.new_sessions:
        yield NEW_SESSION, [session_values(row) for row in desk.new_sessions.values()]
    if desk.sessions:
        yield from _session_writes(desk, blob)
    if desk.briefs:
        yield BRIEF_CHANGED, [brief_of(row) for row in desk.briefs.values()]
    if desk.events:
        numbers = {
            row.id: row.number for row in (*desk.new_sessions.values(), *desk.sessions.values())
        }
        yield NEW_EVENT, [event_values(row, numbers[row.session_id], blob) for row in desk.events]
    if desk.messages:
        yield NEW_MESSAGE, desk.messages
    if desk.new_parts:
        yield NEW_PART, list(desk.new_parts.values())
    if desk.parts:
        yield PART_CHANGED, [part_changes(row) for row in desk.parts.values()]
    for at, session, event_ids in desk.marked:
        yield MARKED, [(at, *_places(session), event_id) for event_id in event_ids]


def _places(session: SessionRow) -> tuple[int, int]:
    """What is between them belongs to the session."""
    first = session.number * SPAN
    return first, first + SPAN


_UNSEARCHED = (
    " FROM chat_sessions LEFT JOIN search_places ON search_places.session_id = chat_sessions.id"
    " WHERE chat_sessions.sequence > coalesce(search_places.sequence, 0)"
)
BEHIND = (
    "SELECT chat_sessions.id, coalesce(search_places.sequence, 0), number, state_json,"
    " sum(chat_sessions.sequence - coalesce(search_places.sequence, 0)) OVER ()"
    f"{_UNSEARCHED} ORDER BY updated_at DESC, chat_sessions.id DESC LIMIT ?"
)
"""Sessions with events that cannot be found yet, the last active first; how far each can be, and
how many events that are of all sessions."""
UNINDEXED = (
    "SELECT coalesce(sum(chat_sessions.sequence - coalesce(search_places.sequence, 0)), 0)"
    f"{_UNSEARCHED}"
)
"""How many events cannot be found yet."""
INDEXED_TO = (
    "INSERT INTO search_places (session_id, sequence) VALUES (?, ?)"
    " ON CONFLICT (session_id) DO UPDATE SET sequence = excluded.sequence"
)
_WITH_SESSIONS = f"events JOIN chat_sessions ON number = place / {SPAN}"
EVENT_BYTES = (
    f"SELECT chat_sessions.id, SUM(LENGTH(body)) FROM {_WITH_SESSIONS} GROUP BY chat_sessions.id"
)
PART_BYTES = (
    "SELECT session_id, SUM(LENGTH(CAST(data_json AS BLOB))) FROM chat_parts GROUP BY session_id"
)
CARRIED_BYTES = "SELECT session_id, SUM(LENGTH(content)) FROM workspace_pieces GROUP BY session_id"
LOST_EVENTS = (
    f"SELECT place / {SPAN}, count(*) FROM events"
    f" LEFT JOIN chat_sessions ON number = place / {SPAN}"
    f" WHERE chat_sessions.id IS NULL OR place = {FIRST} GROUP BY place / {SPAN} ORDER BY 1"
)
"""Those that are of no session, or before the first one of theirs."""
WAITING = f"SELECT DISTINCT chat_sessions.id FROM {_WITH_SESSIONS} WHERE processed_at IS NULL"
LOST_ENTRIES = "session_id NOT IN (SELECT id FROM chat_sessions)"
LOST_CONTENTS = (
    "NOT EXISTS (SELECT 1 FROM versions WHERE versions.content_hash = version_contents.hash)"
)
