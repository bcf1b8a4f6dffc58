"""The tables, in a schema of their own, and how older ones are brought up to date: forward only."""

from collections.abc import Callable
from typing import LiteralString, TypeAlias

from holdfast.contract.journal import JournalUnavailable, TooNew
from holdfast.record.postgres.brief_tables import add_briefs
from holdfast.record.postgres.carried import CARRIED
from holdfast.record.postgres.due_tables import add_due
from holdfast.record.postgres.journal_tables import JOURNAL
from holdfast.record.postgres.outbox_tables import OUTBOX
from holdfast.record.postgres.patience import Connection
from holdfast.record.postgres.place_tables import PLACES
from holdfast.record.postgres.search_tables import SEARCH, SEARCH_OF_AGENTS
from holdfast.record.postgres.version_tables import VERSIONS
from holdfast.record.store import not_up_to_date

Step: TypeAlias = LiteralString | Callable[[Connection], None]
"""Statements, or what does more than statements can."""

_OF_LEARNED: LiteralString = (
    "CREATE INDEX events_learned ON holdfast.events (micros, place)"
    " WHERE type = 'learning.captured'"
)
"""What was learned is found without a look at what else happened; see `record.learned`."""

MIGRATIONS: tuple[Step, ...] = (
    *(JOURNAL, VERSIONS, SEARCH, PLACES, add_due, add_briefs),
    *(_OF_LEARNED, SEARCH_OF_AGENTS, OUTBOX, CARRIED),
)
"""Each brings the schema from the version before to the next; what was published never changes."""

_LOCK = 0x686F6C64
"""Held while tables are made, so that two processes that start together do not make them twice."""
_LOCK_TIMEOUT: LiteralString = "SET LOCAL lock_timeout = '60s'"
"""Whoever makes them meanwhile may have much to move."""


_MAY_CHANGE: LiteralString = (
    "SELECT coalesce(bool_and(pg_has_role(relowner, 'USAGE')), true) FROM pg_class"
    " WHERE relnamespace = to_regnamespace('holdfast') AND relkind = 'r'"
)
"""Only whoever owns a table changes it, whatever else was granted."""


def migrate(connection: Connection, place: str = "the database") -> None:
    """Bring the tables up to date, whoever else does the same at this moment."""
    version = version_of(connection)
    if version == len(MIGRATIONS):
        return
    if not may_change(connection):
        raise not_theirs(version, place)
    with connection.transaction():
        connection.execute(_LOCK_TIMEOUT)
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        if version < 0:  # who owns the tables need not own the database
            connection.execute("CREATE SCHEMA IF NOT EXISTS holdfast")
        connection.execute("CREATE TABLE IF NOT EXISTS holdfast.schema (version integer NOT NULL)")
        for step in MIGRATIONS[max(0, version_of(connection)) :]:
            if callable(step):
                step(connection)
            else:
                connection.execute(step)
        connection.execute("DELETE FROM holdfast.schema")
        connection.execute("INSERT INTO holdfast.schema VALUES (%s)", (len(MIGRATIONS),))


def version_of(connection: Connection) -> int:
    """Which steps were taken; -1 before anything was. TooNew when they are more."""
    (table,) = connection.execute("SELECT to_regclass('holdfast.schema')").fetchone() or (None,)
    if table is None:
        return -1
    found = connection.execute("SELECT version FROM holdfast.schema").fetchone()
    version = -1 if found is None else int(found[0])
    if version > len(MIGRATIONS):
        raise TooNew(
            f"the database was written by a newer holdfast (version {version} of its tables,"
            f" this one knows {len(MIGRATIONS)}); update holdfast"
        )
    return version


def may_change(connection: Connection) -> bool:
    """Whether the user owns all tables that there are."""
    return connection.execute(_MAY_CHANGE).fetchone() == (True,)


def not_theirs(version: int, place: str) -> JournalUnavailable:
    """What to do about tables that are older, and somebody else's."""
    return JournalUnavailable(
        f"{place}: its tables are those of an older holdfast (version {version}, this one needs"
        f" {len(MIGRATIONS)}), and this user does not own them; have their owner bring them up to"
        " date, with its URL in HOLDFAST_STORE__URL: holdfast sessions"
    )


def check_up_to_date(connection: Connection, place: str) -> None:
    """Whoever only reads changes no tables, and says who does; JournalUnavailable."""
    version = version_of(connection)
    if version < len(MIGRATIONS):
        raise not_up_to_date(version, len(MIGRATIONS), place)
