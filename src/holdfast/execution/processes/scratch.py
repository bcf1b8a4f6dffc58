"""A sandbox's own directories: made when it is opened, gone when it is closed."""

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from holdfast.execution.processes.confinement import Scratch
from holdfast.execution.sidecars import make_private

_REMOVE = ("/bin/rm", "-rf")
_OPEN_UP = ("/bin/chmod", "-R", "u+rwX")


def make_scratch(folder: Path, home: str | None) -> Scratch:
    """Make them below a folder that is there for nothing else; raises OSError."""
    make_private(folder.parent)
    folder.mkdir(mode=0o700)
    root, temporary = folder / "root", folder / "tmp"
    for place in (root, temporary, temporary / "home"):
        place.mkdir(mode=0o700)
    return Scratch(str(root), str(temporary), home or str(temporary / "home"))


def remove_scratch(folder: Path) -> None:
    """Remove them, whatever was left in them; nothing runs there any more.

    By a program where there is one: directories may lie deeper than Python can follow.
    """
    for words in (_REMOVE, _OPEN_UP, _REMOVE):
        with suppress(OSError):
            subprocess.run([*words, "--", str(folder)], check=False, capture_output=True)
    if folder.exists():
        shutil.rmtree(folder, ignore_errors=True)
