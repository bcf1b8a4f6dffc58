"""An opened store: the journal that is written, and the archive that is read, over one of each."""

from typing import NamedTuple

from holdfast.contract.archive import Archive
from holdfast.contract.journal import Journal
from holdfast.record.archive import Index, StoreArchive
from holdfast.record.journal import StoreJournal, StoreParts


class Store(NamedTuple):
    """Closed by closing the journal."""

    journal: Journal
    archive: Archive


class StoreHealth(NamedTuple):
    """A store that can be written."""

    place: str
    """Where it is, without a password."""
    version: int | None
    """Of its tables; None: there are none yet."""
    newest: int
    """The version that this program makes."""


def store_of(parts: StoreParts, index: Index) -> Store:
    """Put a store together."""
    journal = StoreJournal(parts)
    archive = StoreArchive(parts.reader, journal.writer, parts.chain, index)
    return Store(journal, archive)
