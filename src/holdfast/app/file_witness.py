"""What tells that a file is as it was when it was read: its inode, size and times of change."""

import stat
from pathlib import Path

from holdfast.agent.asked import Arguments, read_arguments
from holdfast.agent.held_answers import Witness
from holdfast.agent.roles import PATH_ARGUMENTS


def file_witness(workspace: str | None) -> Witness | None:
    """For the files of a workspace; whatever is no plain file has none. None: no workspace."""
    if workspace is None:
        return None
    root = Path(workspace)

    def witness(_name: str, arguments: Arguments) -> str | None:
        given = read_arguments(arguments) or {}
        path = next((given[name] for name in PATH_ARGUMENTS if name in given), None)
        if not isinstance(path, str) or "\0" in path:
            return None
        return _state_of(root / path)

    return witness


def _state_of(path: Path) -> str | None:
    try:
        found = path.lstat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"
