"""The directories of a local sandbox: where it works, and where its processes keep their own.

What was made here is removed with the sandbox; a directory somebody named is never removed.
"""

import logging
import tempfile
from pathlib import Path
from typing import NamedTuple

from holdfast.execution.processes.confinement import Scratch
from holdfast.execution.processes.scratch import make_scratch, remove_scratch

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
        """Remove what was made."""
        for place in self.made:
            _remove(place)


def make_places(working_dir: str | None, home: str | None) -> Places:
    """Make the directories; raises OSError. The home is what processes shall not see."""
    own = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
    made = (own,)
    try:
        scratch = make_scratch(own / "scratch", home)
        if working_dir is None:
            workplace = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
            made = (own, workplace)
        else:
            workplace = Path(working_dir)
            workplace.mkdir(parents=True, exist_ok=True)
            workplace = workplace.resolve()
    except OSError:
        _remove(own)
        raise
    return Places(str(workplace), scratch, made)


def _remove(place: Path) -> None:
    """Whatever a sandbox put there that cannot be removed stays."""
    try:
        remove_scratch(place)
    except RecursionError:
        _log.warning("%s is too deep to be removed", place)
    else:
        if place.exists():
            _log.warning("%s could not be removed", place)
