"""The files in which a session's own memory is shown to its hand and to people: never read back.

They lie where the hand can read and not write. One that cannot be written is told in the log.
"""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from anyio import to_thread

from holdfast.contract.managed.spaces import MemoryTarget
from holdfast.execution.files.shown import show
from holdfast.execution.sidecars import folder_name, make_private

FOLDER = "memory"
FILES: Mapping[MemoryTarget, str] = {
    "session_state": "session-state.md",
    "working_buffer": "working-buffer.md",
    "checkpoint": "checkpoint.json",
    "shell_state": "shell-state.json",
}
_log = logging.getLogger("holdfast")


class MemoryFiles:
    """Of any session."""

    def __init__(self, sessions: Path, clean: Callable[[str], str]) -> None:
        """``sessions``: where the folders of sessions are."""
        self._sessions = sessions
        self._clean = clean

    def path(self, session_id: str, target: MemoryTarget) -> str:
        """Where a store is shown."""
        return str(self._folder(session_id) / FOLDER / FILES[target])

    async def show(self, session_id: str, target: MemoryTarget, text: str) -> None:
        """Have its file say this."""
        folder, content = self._folder(session_id), self._clean(text).encode()

        def shown() -> None:
            make_private(folder)
            show(folder, (FOLDER,), FILES[target], content)

        try:
            await to_thread.run_sync(shown)
        except OSError as problem:
            path = self.path(session_id, target)
            _log.warning("%s was not written: %s", path, problem.strerror or problem)

    def _folder(self, session_id: str) -> Path:
        return self._sessions / folder_name(session_id)
