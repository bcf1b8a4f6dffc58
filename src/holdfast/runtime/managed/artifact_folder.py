"""The folder in which a session's own hand can read what is known of it: shown, never read back.

Each file is put in place as a whole, through no link, without known secrets; one that cannot be
written is told in the log and nothing else. What the files say is not known here.
"""

import logging
from collections.abc import Callable
from pathlib import Path

from anyio import to_thread

from holdfast.contract.json_value import encode_json
from holdfast.contract.managed.artifact_names import ARTIFACTS
from holdfast.execution.files.shown import show

_log = logging.getLogger("holdfast")


class ArtifactFolder:
    """Of one session."""

    def __init__(
        self, workspace: Path, names: tuple[str, ...], clean: Callable[[str], str]
    ) -> None:
        """``names``: of the folders below the workspace, each inside of the one before."""
        self._workspace = workspace
        self._names = names
        self._clean = clean
        self._shown: dict[str, str] = {}
        """What each file says: the same is not written again."""

    @property
    def path(self) -> Path:
        """Where they are."""
        return self._workspace.joinpath(*self._names)

    def paths(self, what: str) -> tuple[str, ...]:
        """The files that show something, by its name in ARTIFACTS."""
        return tuple(str(self.path / name) for name in ARTIFACTS[what])

    async def show_json(self, name: str, value: object) -> None:
        """Write one file of JSON; a value that msgspec can encode."""
        await self.show_text(name, f"{encode_json(value).decode()}\n")

    async def show_text(self, name: str, text: str) -> None:
        """Write one file."""
        clean = self._clean(text)
        if self._shown.get(name) == clean:
            return
        try:
            await to_thread.run_sync(show, self._workspace, self._names, name, clean.encode())
        except OSError as problem:
            _log.warning("%s was not written: %s", self.path / name, problem.strerror or problem)
            return
        self._shown[name] = clean
