"""A store that is not there: no file, an empty one, or a database without tables."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from holdfast.record.sql import Row


class AbsentStore:
    """Answers like a store in which nothing is left."""

    def rows(self, _statement: str, _values: Sequence[object], /) -> list[Row]:
        """Nothing."""
        return []

    @contextmanager
    def snapshot(self) -> Generator["AbsentStore"]:
        """It is the same at every moment."""
        yield self

    def close(self) -> None:
        """There is nothing to let go of."""
