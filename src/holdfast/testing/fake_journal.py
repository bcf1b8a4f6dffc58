"""A journal in memory, for whoever tests what writes one: it does exactly what the stores do."""

from holdfast.contract.archive import Archive
from holdfast.contract.ports import Clock, IdSource
from holdfast.record.archive import StoreArchive
from holdfast.record.journal import StoreJournal
from holdfast.record.memory import PlainIndex, memory_parts
from holdfast.testing.fakes import FakeClock, FakeIds


class FakeJournal(StoreJournal):
    """Gone with the process, or when it is closed."""

    def __init__(self, clock: Clock | None = None, ids: IdSource | None = None) -> None:
        parts = memory_parts(clock or FakeClock(), ids or FakeIds())
        super().__init__(parts)
        index = PlainIndex(parts.reader)
        self.archive: Archive = StoreArchive(parts, self.writer, index)
        """The same sessions, to look at."""
