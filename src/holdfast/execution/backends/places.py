"""The directories of a local sandbox: where it works, and where its processes keep their own.

What was made here is removed with the sandbox; a directory somebody named is never removed.
"""

import logging
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from holdfast.execution.processes.confinement import Scratch

_log = logging.getLogger("holdfast")
_PREFIX = "holdfast-"


class Places(NamedTuple):
    """What a local sandbox has on disk."""

    working_dir: str
    """Absolute, without links."""
    scratch: Scratch
    made: tuple[Path, ...]
    """What goes with the sandbox."""

    def remove(self) -> None:
        """Remove what was made. Whatever the sandbox put there stays where it cannot be removed."""
        for place in self.made:
            try:
                _open_up(place)
                shutil.rmtree(place)
            except (OSError, RecursionError) as problem:
                _log.warning("%s could not be removed: %s", place, problem)


def make_places(working_dir: str | None) -> Places:
    """Make the directories; raises OSError."""
    own = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
    try:
        temporary, made = own / "temporary", (own,)
        for place in (own / "root", temporary, temporary / "home"):
            place.mkdir()
        if working_dir is None:
            workplace = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
            made = (own, workplace)
        else:
            workplace = Path(working_dir)
            workplace.mkdir(parents=True, exist_ok=True)
            workplace = workplace.resolve()
    except BaseException:
        shutil.rmtree(own)
        raise
    home = str(Path.home())
    return Places(str(workplace), Scratch(str(own / "root"), str(temporary), home), made)


def _open_up(place: Path) -> None:
    """A process may have taken our rights to a directory away, from itself and from us."""
    waiting = [place]
    while waiting:
        here = waiting.pop()
        here.chmod(0o700)
        waiting += [entry for entry in here.iterdir() if entry.is_dir() and not entry.is_symlink()]
