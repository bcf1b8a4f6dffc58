"""Why a store cannot be used, where what helps differs, and what the system's refusals mean.

It opens nothing. Where else a store could be is not known here.
"""

import errno
import os
from pathlib import Path
from typing import Self

from holdfast.contract.journal import JournalUnavailable

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_TO_DO = {
    errno.ELOOP: "put the file itself there",
    errno.EISDIR: "move the folder away",
    errno.ENOTDIR: "one of its folders is a file: move that away",
    errno.EEXIST: "one of its folders is a file: move that away",
    errno.EACCES: "check its owner and mode, and those of its folder",
    errno.EPERM: "check its owner and mode, and those of its folder",
    errno.EROFS: "mount its disk so that it can be written",
    errno.EFBIG: "see how large a file may be (ulimit -f)",
}
"""What to do about what the system refused."""


class NoRoom(JournalUnavailable):
    """The disk is full: nothing was written, and no other place is needed."""

    @classmethod
    def at(cls, path: Path) -> Self:
        """For a file that has no room, or could not be made."""
        return cls(f"{path}: the disk is full, and nothing was written; {make_room(path.parent)}")


def make_room(folder: Path) -> str:
    """What to do about a full disk."""
    return f"make room on the disk of {folder}"


class NotWritable(JournalUnavailable):
    """Its place cannot be written, whatever is free there: another one may do."""


def refused(path: Path, problem: OSError) -> JournalUnavailable:
    """What the system refused, with what to do."""
    code = problem.errno or 0
    if code in NO_ROOM:
        return NoRoom.at(path)
    said = problem.strerror or str(problem)
    if code == errno.ELOOP:
        said = "it is a symbolic link"
    todo = _TO_DO.get(code, "see why its place cannot be used")
    kind = NotWritable if code in _NOT_ALLOWED or code not in _TO_DO else JournalUnavailable
    return kind(f"{path}: {said}; {todo}")


def refusal(code: int) -> OSError:
    """As the system would refuse it."""
    return OSError(code, os.strerror(code))
