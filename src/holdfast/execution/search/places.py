"""Where a search begins, and which of what it finds may be shown.

The gate judges where it begins. Below, a file is judged by its own path unless the gate admits
everything there; ripgrep follows no link, and its file system shows no more than the policy.
"""

import errno
import os
import posixpath
import stat
from collections.abc import Callable
from typing import NamedTuple

from holdfast.contract.gates import Refusal
from holdfast.execution.files.listing import shown_path
from holdfast.execution.files.opening import standing
from holdfast.execution.files.reach import Reach
from holdfast.execution.files.troubles import wrong_kind
from holdfast.execution.processes.views import View


class Place(NamedTuple):
    """Where a search begins."""

    directory: str
    """Physical."""
    name: str | None
    """The only file that is searched; None: all of the directory."""
    prefix: str
    """What is put in front of a path below it to show it."""
    named: bool
    """Somebody named it outright: nothing is passed over."""


def place_of(view: View, path: str | None, *, directory: bool) -> Place:
    """Judge where it begins; raises what the model is told."""
    asked = path or "."
    reach = Reach(view.open, view.workspace)
    physical, mode = reach.act_on(reach.judged, "read", asked, _looked)
    named = physical != view.workspace
    if stat.S_ISDIR(mode):
        return Place(physical, None, _prefix(shown_path(physical, view.workspace)), named)
    if directory or not stat.S_ISREG(mode):
        raise wrong_kind(asked, mode, wanted="a directory" if directory else "a file or directory")
    above, _, name = physical.rpartition("/")
    return Place(above or "/", name, _prefix(shown_path(above or "/", view.workspace)), named)


def _looked(physical: str) -> tuple[str, int]:
    with standing(physical) as spot:
        seen = spot.look()
    if seen is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), physical)
    if stat.S_ISLNK(seen.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), physical)
    return physical, seen.st_mode


def _prefix(shown: str) -> str:
    return "" if shown == "." else shown.rstrip("/") + "/"


class Judge:
    """Says how a path below a place is shown, or that it is not."""

    def __init__(self, view: View, place: Place) -> None:
        self._open = view.open
        self._place = place
        self._all = view.all_below(place.directory)
        self.fits: Callable[[bytes], bool] = _any
        """What else a path has to fulfil; one that does not is not counted."""
        self.refused: set[bytes] = set()
        self.unnamed: set[bytes] = set()

    def __call__(self, found: bytes) -> str | None:
        """The path as it is shown; None: it is counted instead, if it fits."""
        if not self.fits(found):
            return None
        try:
            below = found.removeprefix(b"./").decode()
        except UnicodeDecodeError:
            self.unnamed.add(found)
            return None
        if not self._all and not self._admits(below):
            self.refused.add(found)
            return None
        return self._place.prefix + below

    def _admits(self, below: str) -> bool:
        path = posixpath.join(self._place.directory, below)
        judged = self._open("read", path)
        return not isinstance(judged, Refusal) and judged.path == path


def _any(_found: bytes) -> bool:
    return True
