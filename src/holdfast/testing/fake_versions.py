"""Versions in memory, for whoever tests what writes some."""

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
from holdfast.record.version_step import Stamp, Writing, check_names, check_writing, next_version
from holdfast.testing.fakes import FakeClock, FakeIds


class FakeVersions:
    """Gone with the process. What was kept lies open, in the order of writing."""

    def __init__(
        self,
        clock: Clock | None = None,
        ids: IdSource | None = None,
        most_bytes: int = MAX_CONTENT_BYTES,
    ) -> None:
        self._clock = clock or FakeClock()
        self._ids = ids or FakeIds()
        self._most_bytes = most_bytes
        self.kept: list[Kept] = []

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
        return self._written(Writing(space, target, content, origin, mode, expected))

    async def restore(
        self, space: str, version_id: str, /, *, origin: Origin, expected: Expected = ANYTHING
    ) -> Version:
        """Write an older version's content as the newest of its target; UnknownVersion, too."""
        older = await self.read(space, version_id)
        target = older.version.target
        return self._written(
            Writing(space, target, older.content, origin, "replace", expected, version_id)
        )

    async def newest(self, space: str, target: str, /) -> Kept | None:
        """What a target holds now; None where nothing was ever written."""
        check_names(space, target)
        return next(iter(self._of(space, target)), None)

    async def read(self, space: str, version_id: str, /) -> Kept:
        """One version; UnknownVersion."""
        check_names(space, version_id)
        for one in self.kept:
            if (one.version.space, one.version.id) == (space, version_id):
                return one
        raise UnknownVersion(f"there is no version {version_id} here; list those there are")

    async def history(self, space: str, target: str, /, *, limit: int = 10) -> tuple[Version, ...]:
        """The versions of a target, the newest first."""
        check_names(space, target)
        return tuple(one.version for one in self._of(space, target))[: max(0, limit)]

    async def targets(self, space: str, /) -> tuple[Version, ...]:
        """The newest version of each target, by name."""
        check_names(space)
        newest = {
            one.version.target: one.version for one in self.kept if one.version.space == space
        }
        return tuple(newest[name] for name in sorted(newest))

    async def close(self) -> None:
        """Nothing to let go of."""

    def _of(self, space: str, target: str) -> list[Kept]:
        wanted = (space, target)
        found = [one for one in self.kept if (one.version.space, one.version.target) == wanted]
        return found[::-1]

    def _written(self, writing: Writing) -> Version:
        check_writing(writing)
        newest = next(iter(self._of(writing.space, writing.target)), None)
        latest, before = (None, b"") if newest is None else (newest.version, newest.content)
        stamp = Stamp(self._ids.new("ver"), self._clock.unix_ns() // 1000)
        new = next_version(latest, before, writing, stamp, self._most_bytes)
        self.kept.append(new)
        return new.version
