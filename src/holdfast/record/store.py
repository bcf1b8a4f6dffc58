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


def store_of(parts: StoreParts, index: Index) -> Store:
    """Put a store together."""
    journal = StoreJournal(parts)
    archive = StoreArchive(parts, journal.writer, index)
    return Store(journal, archive)
