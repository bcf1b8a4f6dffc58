"""A sandbox's own directories: made when it is opened, gone when it is closed."""

import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from holdfast.execution.processes.confinement import Scratch
from holdfast.execution.sidecars import make_private


def make_scratch(folder: Path, home: str | None) -> Scratch:
    """Make them below a folder that is there for nothing else; raises OSError."""
    make_private(folder.parent)
    folder.mkdir(mode=0o700)
    root, temporary = folder / "root", folder / "tmp"
    for place in (root, temporary, temporary / "home"):
        place.mkdir(mode=0o700)
    return Scratch(str(root), str(temporary), home or str(temporary / "home"))


def remove_scratch(folder: Path) -> None:
    """Remove them, whatever was left in them; nothing runs there any more."""
    shutil.rmtree(folder, onerror=_once_more)


def _once_more(remove: Callable[..., object], path: str, _problem: object) -> None:
    """A directory may have been made unreadable; then what could not be removed is in it."""
    with suppress(OSError):
        above = Path(path).parent
        above.chmod(stat.S_IRWXU)
        if remove in (os.open, os.scandir, os.rmdir):
            Path(path).chmod(stat.S_IRWXU)
            shutil.rmtree(path, ignore_errors=True)
        else:
            remove(path)
