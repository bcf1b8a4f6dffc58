"""When each session has to be run, beside it: the first one is found without looking at all."""

from typing import LiteralString

from holdfast.record.due_step import FOUND_DUE, found_due
from holdfast.record.postgres.patience import Connection
from holdfast.record.postgres.statements import query

_COLUMN: LiteralString = "ALTER TABLE holdfast.chat_sessions ADD COLUMN due bigint"
_INDEX: LiteralString = (
    "CREATE INDEX sessions_due ON holdfast.chat_sessions (due) WHERE due IS NOT NULL"
)


def add_due(connection: Connection) -> None:
    """Add it, with what it is for the sessions there are."""
    connection.execute(_COLUMN)
    for values in found_due(
        lambda asked, given: connection.execute(query(asked), given).fetchall()
    ):
        connection.cursor().executemany(query(FOUND_DUE), values)
    connection.execute(_INDEX)
