"""From tables that did not know what sessions are listed by to such that do, for every store.

A row that cannot be read is left to whoever mends it: verifying tells of it.
"""

from collections.abc import Callable, Iterator, Sequence

from holdfast.contract.journal import JournalUnusable
from holdfast.record import sql
from holdfast.record.rows import Brief, brief_of

_AT_ONCE = 500
_SESSIONS = (
    f"SELECT {sql.SESSION_COLUMNS} FROM chat_sessions WHERE id > ? ORDER BY id LIMIT {_AT_ONCE}"
)

Asked = Callable[[str, Sequence[object]], list[sql.Row]]
"""Answers a statement that every store understands."""


def found_briefs(asked: Asked) -> Iterator[list[Brief]]:
    """The values of BRIEF_CHANGED, page by page."""
    after = ""
    while page := asked(_SESSIONS, (after,)):
        after = page[-1][0]
        yield [brief for brief in map(_found, page) if brief is not None]


def _found(row: sql.Row) -> Brief | None:
    try:
        return brief_of(sql.session_of(row))
    except JournalUnusable:
        return None
