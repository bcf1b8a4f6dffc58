"""Versions that are opened when somebody first asks for one: most sessions never do."""

import threading
from collections.abc import Callable
from typing import Protocol

from anyio import to_thread

from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.versions import (
    ANYTHING,
    Expected,
    Kept,
    Mode,
    Origin,
    Version,
    VersionedStore,
)


class ClosedAnywhere(VersionedStore, Protocol):
    """Versions that a thread can close, too."""

    def let_go(self) -> None:
        """Close them. Blocking."""
        ...


Opening = Callable[[], ClosedAnywhere]
"""Opens them. Blocking; JournalUnavailable."""


class LaterVersions:
    """Stands for a VersionedStore. Event loops of several threads may use it."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._lock = threading.Lock()
        self._opened: ClosedAnywhere | None = None
        self._closed = False

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
        versions = await self._versions()
        return await versions.write(
            space, target, content, origin=origin, mode=mode, expected=expected
        )

    async def restore(
        self, space: str, version_id: str, /, *, origin: Origin, expected: Expected = ANYTHING
    ) -> Version:
        """Write an older version's content as the newest of its target; UnknownVersion, too."""
        versions = await self._versions()
        return await versions.restore(space, version_id, origin=origin, expected=expected)

    async def newest(self, space: str, target: str, /) -> Kept | None:
        """What a target holds now; None where nothing was ever written."""
        return await (await self._versions()).newest(space, target)

    async def read(self, space: str, version_id: str, /) -> Kept:
        """One version; UnknownVersion."""
        return await (await self._versions()).read(space, version_id)

    async def history(self, space: str, target: str, /, *, limit: int = 10) -> tuple[Version, ...]:
        """The versions of a target, the newest first."""
        return await (await self._versions()).history(space, target, limit=limit)

    async def targets(self, space: str, /) -> tuple[Version, ...]:
        """The newest version of each target, by name."""
        return await (await self._versions()).targets(space)

    async def close(self) -> None:
        """Wait for what was begun, and let go of the store."""
        await to_thread.run_sync(self.let_go)

    def let_go(self) -> None:
        """The same. Blocking."""
        with self._lock:
            self._closed = True
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.let_go()

    async def _versions(self) -> VersionedStore:
        return self._opened or await to_thread.run_sync(self._made)

    def _made(self) -> VersionedStore:
        with self._lock:
            if self._closed:
                raise JournalUnavailable("the store is closed")
            if self._opened is None:
                self._opened = self._opening()
            return self._opened
