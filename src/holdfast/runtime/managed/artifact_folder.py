"""The folder in which a session's own hand can read what is known of it: shown, never read back.

Each file is put in place as a whole, through no link, without known secrets. One that says already
what it is to say is left alone, unless somebody changed it. What cannot be written is told in the
log and nothing else. What the files say is not known here.
"""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from anyio import Lock, to_thread

from holdfast.contract.json_value import encode_json
from holdfast.contract.managed.artifact_names import ARTIFACTS
from holdfast.execution.files.shown import Mark, mark_of, show

_log = logging.getLogger("holdfast")


class ArtifactFolder:
    """Of one session. Used on one event loop."""

    def __init__(
        self, workspace: Path, names: tuple[str, ...], clean: Callable[[str], str]
    ) -> None:
        """``names``: of the folders below the workspace, each inside of the one before."""
        self._workspace = workspace
        self._names = names
        self._clean = clean
        self._shown: dict[str, tuple[str, Mark]] = {}
        """What each file says, and the mark of the file that says it."""
        self._writing = Lock()
        self._problem: str | None = None
        """Why the last attempt failed: the same is not told again."""

    @property
    def path(self) -> Path:
        """Where they are."""
        return self._workspace.joinpath(*self._names)

    def paths(self, what: str) -> tuple[str, ...]:
        """The files that show something, by its name in ARTIFACTS."""
        return tuple(str(self.path / name) for name in ARTIFACTS[what])

    def has_shown(self, what: str) -> bool:
        """Whether all of these were written from here."""
        return all(name in self._shown for name in ARTIFACTS[what])

    async def show_json(self, name: str, value: object) -> None:
        """Write one file of JSON; a value that msgspec can encode."""
        await self.show({name: json_text(value)})

    async def show_text(self, name: str, text: str) -> None:
        """Write one file."""
        await self.show({name: text})

    async def show(self, files: Mapping[str, str]) -> None:
        """Write files, by their names."""
        async with self._writing:  # what is told last stays
            await self._show({name: self._clean(text) for name, text in files.items()})

    async def _show(self, files: Mapping[str, str]) -> None:
        problem = await to_thread.run_sync(self._write, files)
        if problem != self._problem and problem is not None:
            _log.warning("what is known of the session is not shown: %s", problem)
        self._problem = problem

    def _write(self, files: Mapping[str, str]) -> str | None:
        """Write those that do not say it already; why one of them could not be written."""
        problem = None
        for name, text in files.items():
            path = self.path / name
            if name in self._shown and self._shown[name] == (text, mark_of(path)):
                continue
            try:
                mark = show(self._workspace, self._names, name, text.encode())
            except OSError as error:
                problem = f"{path}: {error.strerror or error}"
            else:
                self._shown[name] = (text, mark)
        return problem


def json_text(value: object) -> str:
    """A value as a file of JSON."""
    return f"{encode_json(value).decode()}\n"
