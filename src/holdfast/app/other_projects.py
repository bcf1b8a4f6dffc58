"""Whose rules bind a session: those of the project that it was begun in, and of no other one.

A program has read the files of one project. A session of another one is run by what was opened for
that one, with its own rules, profiles and tools; where nobody opens such, it is left to programs of
that project. What is read, and how a session runs, is not known here.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from anyio import Lock, to_thread

from holdfast.app.configuration import Configuration
from holdfast.app.locations import project_root
from holdfast.app.problems import ConfigurationError

OpenProject = Callable[[Path], Any]
"""Makes a `Holdfast` of a directory, with the files of its project read; it is opened here."""

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


class OtherProjects:
    """What was opened for places of other projects, each once. Used on one event loop; close it."""

    def __init__(self, make: OpenProject | None) -> None:
        """``make``: None: nothing is opened for others."""
        self._make = make
        self._opened: dict[Path, Any] = {}
        self._stack = AsyncExitStack()
        self._opening = Lock()

    async def of(self, session_id: str, workspace: str | None) -> Any | None:  # noqa: ANN401 - a Holdfast, which is above this room's parts
        """What was opened for the project of a session; None: nothing is. ConfigurationError."""
        if self._make is None or workspace is None:
            return None
        if not await to_thread.run_sync(Path(workspace).is_dir):
            raise ConfigurationError(_GONE.format(session_id, workspace))
        return await self.at(workspace)

    async def at(self, workspace: str) -> Any | None:  # noqa: ANN401 - the same
        """What is opened for the project around a directory; ConfigurationError."""
        if self._make is None:
            return None
        place = await to_thread.run_sync(_real, workspace)
        if place is None:
            raise ConfigurationError(f"{workspace} is no directory; make it, or name another")
        async with self._opening:
            if place not in self._opened:
                made = self._make(place)
                self._opened[place] = await self._stack.enter_async_context(made)
            return self._opened[place]

    async def close(self) -> None:
        """Close all of it."""
        self._opened = {}
        await self._stack.aclose()


def _real(workspace: str) -> Path | None:
    """A directory without links; None: it is none."""
    place = Path(workspace).resolve()
    return place if place.is_dir() else None
