"""What sessions are listed by, in a table of its own: narrow, as all of it is looked at."""

from typing import LiteralString

from holdfast.record.brief_step import found_briefs
from holdfast.record.postgres.patience import Connection
from holdfast.record.postgres.statements import query
from holdfast.record.sql import BRIEF_CHANGED

_TABLE: LiteralString = """
CREATE TABLE holdfast.session_briefs (
    number bigint PRIMARY KEY,
    id text COLLATE "C" NOT NULL,
    agent_id text COLLATE "C" NOT NULL,
    parent_id text COLLATE "C",
    status text NOT NULL,
    requires_action bigint NOT NULL,
    setup text,
    outcome_title text,
    outcome_status text NOT NULL,
    outcome_trend text,
    promotion_ready bigint NOT NULL,
    rested_at bigint NOT NULL
)
"""
_INDEXES: tuple[LiteralString, ...] = (
    "CREATE INDEX briefs_of_agent ON holdfast.session_briefs (agent_id)",
    "CREATE INDEX briefs_of_parent ON holdfast.session_briefs (parent_id, agent_id)"
    " WHERE parent_id IS NOT NULL",
)


def add_briefs(connection: Connection) -> None:
    """Add it, with what the sessions there are are listed by."""
    connection.execute(_TABLE)
    for values in found_briefs(
        lambda asked, given: connection.execute(query(asked), given).fetchall()
    ):
        connection.cursor().executemany(query(BRIEF_CHANGED), values)
    for index in _INDEXES:
        connection.execute(index)
