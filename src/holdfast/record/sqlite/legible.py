"""Reading rows of which one may be damaged: it must not hide all others.

A text that is none any more is shown as far as it can be read; which row it is, its hash tells.
"""

import sqlite3
from collections.abc import Sequence

from holdfast.record.sql import Row

_NO_TEXT = "Could not decode to UTF-8"


def fetched(connection: sqlite3.Connection, statement: str, values: Sequence[object]) -> list[Row]:
    """What a statement finds."""
    try:
        return connection.execute(statement, values).fetchall()
    except sqlite3.OperationalError as problem:
        if not str(problem).startswith(_NO_TEXT):
            raise
    connection.text_factory = _legible
    try:
        return connection.execute(statement, values).fetchall()
    finally:
        connection.text_factory = str


def _legible(content: bytes) -> str:
    return content.decode("utf-8", "replace")
