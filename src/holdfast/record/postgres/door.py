"""The door to PostgreSQL: what is behind it is loaded when it is opened, as its client is an extra.

Whoever composes imports this module alone.
"""

from importlib import import_module
from types import ModuleType

from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.versions import MAX_CONTENT_BYTES
from holdfast.record.anchors import NO_ANCHORS, Anchors
from holdfast.record.codec import Chain
from holdfast.record.journal import Reader
from holdfast.record.store import Store, StoreHealth
from holdfast.record.versions import Versions, VersionTables


def load(module: str) -> ModuleType:
    """A module of this package; JournalUnavailable where the client is not installed."""
    try:
        return import_module(f"holdfast.record.postgres.{module}")
    except ImportError as problem:
        raise JournalUnavailable(
            f"stores in PostgreSQL need a package more ({problem});"
            " install it with: pip install 'holdfast[postgres]'"
        ) from None


def open_postgres(
    url: str, chain: Chain, clock: Clock, ids: IdSource, anchors: Anchors = NO_ANCHORS
) -> Store:
    """The sessions in a database. Blocking; JournalUnavailable."""
    opened: Store = load("journal").open_postgres(url, chain, clock, ids, anchors)
    return opened


def read_postgres(url: str) -> Reader:
    """A database that is only read. Blocking; JournalUnavailable."""
    reader: Reader = load("journal").read_postgres(url)
    return reader


def check_postgres(url: str) -> StoreHealth:
    """How a database is, without changing it. Blocking; JournalUnavailable."""
    found: StoreHealth = load("health").check_postgres(url)
    return found


def holders_in(url: str) -> tuple[str, ...]:
    """Whoever runs a session in a database now. Blocking; JournalUnavailable."""
    found: tuple[str, ...] = load("health").holders_in(url)
    return found


def open_versions(
    url: str, clock: Clock, ids: IdSource, most_bytes: int = MAX_CONTENT_BYTES
) -> Versions:
    """The versions in a database. Blocking; JournalUnavailable."""
    tables: VersionTables = load("versions").PostgresVersionTables(url)
    return Versions(tables, clock, ids, most_bytes)
