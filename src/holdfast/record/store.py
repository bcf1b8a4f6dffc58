"""An opened store: the journal that is written, the archive that is read, versions, upkeep."""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from holdfast.contract import carried as carrying
from holdfast.contract import outbox as outboxes
from holdfast.contract.archive import Archive
from holdfast.contract.journal import Journal, JournalUnavailable
from holdfast.contract.upkeep import Upkeep
from holdfast.contract.versions import VersionedStore
from holdfast.record.archive import Index, StoreArchive
from holdfast.record.journal import StoreJournal, StoreParts
from holdfast.record.later_versions import LaterVersions, Opening
from holdfast.record.upkeep import Broom, StoreUpkeep


class Store(NamedTuple):
    """Closed by closing the journal."""

    journal: Journal
    archive: Archive
    upkeep: Upkeep
    versions: VersionedStore
    """Opened when they are first asked for."""
    outbox: "outboxes.Outbox | None" = None
    """None: many machines cannot share it."""
    carried: "Callable[[], carrying.CarriedStore] | None" = None
    """None: it keeps no files."""


class StoreHealth(msgspec.Struct, frozen=True):
    """A store that can be written."""

    place: str
    """Where it is, without a password."""
    version: int | None
    """Of its tables; None: there are none yet."""
    newest: int
    """The version that this program makes."""


def store_of(parts: StoreParts, index: Index, broom: Broom, versions: Opening) -> Store:
    """Put a store together."""
    later = LaterVersions(versions)

    def let_go() -> None:
        index.close()
        later.let_go()

    journal = StoreJournal(parts, let_go)
    archive = StoreArchive(parts, journal.writer, index)
    return Store(journal, archive, StoreUpkeep(parts.reader, broom), later)


class NoTables(JournalUnavailable):
    """There is a place for a store, and nothing was ever kept in it, or all of it is gone."""


def not_up_to_date(version: int, newest: int, place: str = "") -> JournalUnavailable:
    """What to do about tables that are older than this program reads."""
    at = f"{place}: " if place else ""
    if version <= 0:
        return NoTables(f"{at}it has no tables yet; make them with: holdfast sessions")
    return JournalUnavailable(
        f"{at}its tables are those of an older holdfast (version {version}, this one reads"
        f" {newest}); bring them up to date with: holdfast sessions"
    )
