"""The port of versions over the tables of any store: its questions are asked in threads.

What a transaction is, and how others are kept out of it, is known to the tables.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from anyio import to_thread

from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.versions import (
    ANYTHING,
    MAX_CONTENT_BYTES,
    Expected,
    Kept,
    Mode,
    Origin,
    UnknownVersion,
    Version,
)
from holdfast.record.version_step import (
    Stamp,
    Writing,
    check_names,
    check_writing,
    kept,
    next_version,
)

_T = TypeVar("_T")
_MOST_LISTED = 10_000


class VersionRows(Protocol):
    """What can be asked and done while a transaction lasts."""

    def by_id(self, space: str, version_id: str, /) -> Version | None:
        """One version."""
        ...

    def history(self, space: str, target: str, limit: int, /) -> tuple[Version, ...]:
        """The newest first."""
        ...

    def targets(self, space: str, /) -> tuple[Version, ...]:
        """The newest of each target, by name."""
        ...

    def content(self, version: Version, /) -> bytes:
        """What it holds; nothing where it is lost, which its hash then tells."""
        ...

    def add(self, new: Kept, /) -> None:
        """Keep one more; its content only where it is not there yet."""
        ...


class VersionTables(Protocol):
    """Versions in a store. Blocking; all may raise JournalUnavailable."""

    def writing(self, space: str, target: str, /) -> AbstractContextManager[VersionRows]:
        """A transaction during which nobody else adds to the target; kept whole or not at all."""
        ...

    def reading(self) -> AbstractContextManager[VersionRows]:
        """Rows that can only be read."""
        ...

    def close(self) -> None:
        """Let go of the store, when nobody writes."""
        ...


class Versions:
    """A VersionedStore."""

    def __init__(
        self,
        tables: VersionTables,
        clock: Clock,
        ids: IdSource,
        most_bytes: int = MAX_CONTENT_BYTES,
    ) -> None:
        self._tables = tables
        self._clock = clock
        self._ids = ids
        self._most_bytes = most_bytes

    async def write(
        self,
        space: str,
        target: str,
        content: bytes,
        /,
        *,
        origin: Origin,
        mode: Mode = "replace",
        expected: Expected = ANYTHING,
    ) -> Version:
        """Write what comes next; PreconditionFailed, ContentTooLarge."""
        return await self._write(Writing(space, target, content, origin, mode, expected))

    async def restore(
        self, space: str, version_id: str, /, *, origin: Origin, expected: Expected = ANYTHING
    ) -> Version:
        """Write an older version's content as the newest of its target; UnknownVersion, too."""
        older = await self.read(space, version_id)
        target = older.version.target
        return await self._write(
            Writing(space, target, older.content, origin, "replace", expected, version_id)
        )

    async def newest(self, space: str, target: str, /) -> Kept | None:
        """What a target holds now; None where nothing was ever written."""

        def asked(rows: VersionRows) -> Kept | None:
            found = rows.history(space, target, 1)
            return kept(found[0], rows.content(found[0])) if found else None

        return await self._read(asked, space, target)

    async def read(self, space: str, version_id: str, /) -> Kept:
        """One version; UnknownVersion."""

        def asked(rows: VersionRows) -> Kept:
            found = rows.by_id(space, version_id)
            if found is None:
                raise UnknownVersion(f"there is no version {version_id} here; list those there are")
            return kept(found, rows.content(found))

        return await self._read(asked, space, version_id)

    async def history(self, space: str, target: str, /, *, limit: int = 10) -> tuple[Version, ...]:
        """The versions of a target, the newest first."""
        most = max(0, min(limit, _MOST_LISTED))
        return await self._read(lambda rows: rows.history(space, target, most), space, target)

    async def targets(self, space: str, /) -> tuple[Version, ...]:
        """The newest version of each target, by name."""
        return await self._read(lambda rows: rows.targets(space), space)

    async def close(self) -> None:
        """Wait for what was begun, and let go of the store."""
        await to_thread.run_sync(self.let_go)

    def let_go(self) -> None:
        """The same. Blocking."""
        self._tables.close()

    async def _write(self, writing: Writing) -> Version:
        check_writing(writing)
        return await to_thread.run_sync(self._written, writing)

    def _written(self, writing: Writing) -> Version:
        with self._tables.writing(writing.space, writing.target) as rows:
            newest = next(iter(rows.history(writing.space, writing.target, 1)), None)
            before = b""
            if newest is not None and writing.mode == "append":
                before = kept(newest, rows.content(newest)).content
            stamp = Stamp(self._ids.new("ver"), self._clock.unix_ns() // 1000)
            new = next_version(newest, before, writing, stamp, self._most_bytes)
            rows.add(new)
        return new.version

    async def _read(self, asked: Callable[[VersionRows], _T], *names: str) -> _T:
        check_names(*names)

        def answered() -> _T:
            with self._tables.reading() as rows:
                return asked(rows)

        return await to_thread.run_sync(answered)
