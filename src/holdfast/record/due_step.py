"""From tables that did not know which sessions are due to such that do: the same for every store.

What waits was in the events alone; it is part of the state from here on, so that a session can be
found without reading them. A row that cannot be read stays as it is: verifying tells of it.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import msgspec
from msgspec.structs import replace

from holdfast.contract.session_state import SessionState, due_micros
from holdfast.record.sql import SPAN, Row

_AT_ONCE = 500
_WAITING = f"SELECT place / {SPAN}, id FROM events WHERE processed_at IS NULL ORDER BY place"
_SESSIONS = (
    f"SELECT id, number, state_json FROM chat_sessions WHERE id > ? ORDER BY id LIMIT {_AT_ONCE}"
)
FOUND_DUE = "UPDATE chat_sessions SET state_json = ?, due = ? WHERE id = ?"

Asked = Callable[[str, Sequence[object]], list[Row]]
"""Answers a statement that every store understands."""

_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(SessionState).decode


def found_due(asked: Asked) -> Iterator[list[Row]]:
    """The values of FOUND_DUE, page by page."""
    by_session = groupby(asked(_WAITING, ()), key=lambda row: row[0])
    waiting = {number: tuple(row[1] for row in rows) for number, rows in by_session}
    after = ""
    while page := asked(_SESSIONS, (after,)):
        after = page[-1][0]
        found = [_found(row, waiting.get(row[1], ())) for row in page]
        yield [row for row in found if row is not None]


def _found(row: Row, waiting: tuple[str, ...]) -> Row | None:
    session_id, _, text = row
    try:
        state = _decode(text)
    except (msgspec.DecodeError, UnicodeError, TypeError):
        return None
    state = replace(state, pending=waiting)
    due = due_micros(state)
    return (_encode(state).decode(), due, session_id) if waiting or due is not None else None
