"""Whose rules bind a session: those of the project that it was begun in, and of no other one.

A program has read the files of one project. A session of another one is run by what was opened for
that one, with its own rules, profiles and tools; where nobody opens such, it is left to programs of
that project. What is read, and how a session runs, is not known here.
"""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from anyio import CancelScope, Lock, sleep, to_thread

from holdfast.app.configuration import Configuration
from holdfast.app.locations import project_root
from holdfast.app.problems import ConfigurationError
from holdfast.contract.journal import JournalError
from holdfast.contract.ports import Clock

OpenProject = Callable[[Path], Any]
"""Makes a `Holdfast` of a directory, with the files of its project read; it is opened here."""

IDLE_SECONDS = 600
"""So long one stays open that nobody uses."""
MOST_UNUSED = 4
"""So many of them, at most."""
_TIDY_SECONDS = 60.0
_log = logging.getLogger("holdfast")

_OTHERS = (
    "session {0} works in {1}, which is another project than {2}, whose rules are in force here;"
    " run it there, with: holdfast worker --workspace {1}"
)
_GONE = "session {0} works in {1}, which is no directory any more; make it again, or close it"


def is_of_another(configuration: Configuration, workspace: str | None) -> bool:
    """Whether a place is outside the project whose files were read."""
    ours = configuration.project
    if ours is None or workspace is None:  # no file of a project counts here, or it has no place
        return False
    return project_root(Path(workspace)) != ours


def refuse_other_project(
    configuration: Configuration, session_id: str, workspace: str | None
) -> None:
    """ConfigurationError for a session of another project than the one that was read."""
    if is_of_another(configuration, workspace):
        raise ConfigurationError(_OTHERS.format(session_id, workspace, configuration.project))


class _Opened(msgspec.Struct):
    """What was opened for one place."""

    holdfast: Any
    stack: AsyncExitStack
    folder: tuple[int, int]
    """Which folder stood there then: another one may hold another project."""
    users: int = 0
    """Whoever works with it now: a run, or a request."""
    used_at: int = 0
    """Ticks of the clock when the last one left."""


class OtherProjects:
    """What was opened for places of other projects, each once. Used on one event loop; close it.

    Whoever uses one keeps it open. What nobody used for a while is closed, and of the rest that
    nobody uses only so many are kept: each may hold servers and models of its own.
    """

    def __init__(self, make: OpenProject | None, clock: Clock) -> None:
        """``make``: None: nothing is opened for others."""
        self._make = make
        self._clock = clock
        self._opened: dict[Path, _Opened] = {}
        self._opening = Lock()

    @asynccontextmanager
    async def of(self, session_id: str, workspace: str | None) -> AsyncGenerator[Any | None]:
        """What is open for the project of a session; None: nothing is. ConfigurationError."""
        if self._make is None or workspace is None:
            yield None
            return
        if not await to_thread.run_sync(Path(workspace).is_dir):
            raise ConfigurationError(_GONE.format(session_id, workspace))
        async with self.at(workspace) as there:
            yield there

    @asynccontextmanager
    async def at(self, workspace: str) -> AsyncGenerator[Any | None]:
        """What is open for the project around a directory, at least until this is left;
        ConfigurationError."""
        if self._make is None:
            yield None
            return
        place = await to_thread.run_sync(_real, workspace)
        if place is None:
            raise ConfigurationError(f"{workspace} is no directory; make it, or name another")
        used = await self._taken(*place, self._make)
        try:
            async with self._opening:
                await self._close_some()
            yield used.holdfast
        finally:
            used.users -= 1
            used.used_at = self._clock.ticks()

    async def _taken(self, place: Path, folder: tuple[int, int], make: OpenProject) -> _Opened:
        async with self._opening:
            known = self._opened.get(place)
            if known is not None and known.folder != folder and not known.users:
                await self._let_go(place)
                known = None
            if known is None:
                stack = AsyncExitStack()
                known = _Opened(await stack.enter_async_context(make(place)), stack, folder)
                self._opened[place] = known
            known.users += 1  # nothing is awaited from here to where it is taken back
            return known

    async def tidied(self) -> None:
        """Close what was not used for a while, from time to time, until this is cancelled."""
        while True:
            await sleep(_TIDY_SECONDS)
            async with self._opening:
                await self._close_some()

    async def _close_some(self) -> None:
        """Whoever opens one meanwhile waits."""
        longest = self._clock.ticks() - IDLE_SECONDS * 1_000_000_000
        unused = sorted(
            (one.used_at, place) for place, one in self._opened.items() if not one.users
        )
        too_many = len(unused) - MOST_UNUSED
        for number, (used_at, place) in enumerate(unused):
            if number < too_many or used_at < longest:
                await self._let_go(place)

    async def _let_go(self, place: Path) -> None:
        gone = self._opened.pop(place)
        with CancelScope(shield=True):
            try:
                await gone.stack.aclose()
            except (JournalError, OSError) as problem:
                _log.warning("%s could not be closed in order: %s", place, problem)

    async def close(self) -> None:
        """Close all of it."""
        async with self._opening:
            for place in list(self._opened):
                await self._let_go(place)


def _real(workspace: str) -> tuple[Path, tuple[int, int]] | None:
    """A directory without links, and which one it is; None: it is none."""
    place = Path(workspace).resolve()
    if not place.is_dir():
        return None
    found = place.stat()
    return place, (found.st_dev, found.st_ino)
