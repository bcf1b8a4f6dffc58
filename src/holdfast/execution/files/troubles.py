"""What the operating system says about a file, as errors a model can act on.

An I/O failure never reads as if there were no file: somebody would make it anew.
"""

import errno
import os
import stat
from collections.abc import Callable

from holdfast.contract.errors import (
    FileNotFound,
    InvalidArguments,
    MissingSystemPermission,
    OperationFailed,
    ToolError,
    Unavailable,
)
from holdfast.execution.files.opening import NotAFile

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def _failed(reason: str, said: str) -> Callable[[str], ToolError]:
    return lambda shown: OperationFailed(said.format(shown), extras={"reason": reason})


def _withheld(said: str) -> Callable[[str], ToolError]:
    return lambda shown: MissingSystemPermission(said.format(shown))


_NO_ROOM = _failed("no_space", "There is no room left to write {}; nothing was changed.")
_NO_HANDLES = "{} cannot be opened now: too many files are open."
_WORDS: dict[int | None, Callable[[str], ToolError]] = {
    errno.ENOENT: lambda shown: FileNotFound(f"There is no {shown}."),
    errno.ENOTDIR: lambda shown: FileNotFound(
        f"There is no {shown}: a part of the path is not a directory."
    ),
    errno.EACCES: _withheld("The operating system does not permit this for {}."),
    errno.EPERM: _withheld("The operating system does not permit this for {}."),
    errno.EROFS: _withheld("{} lies in a file system that cannot be written."),
    errno.EEXIST: _failed("exists", "{} exists already; nothing was changed."),
    errno.ENOTEMPTY: _failed("not_empty", "{} is not empty; nothing was removed."),
    errno.ENOSPC: _NO_ROOM,
    errno.EDQUOT: _NO_ROOM,
    errno.EFBIG: _NO_ROOM,
    errno.EBUSY: _failed("busy", "{} is in use by the system; nothing was changed."),
    errno.EISDIR: lambda shown: wrong_kind(shown, stat.S_IFDIR),
    errno.ENAMETOOLONG: lambda shown: InvalidArguments(
        f"The path {shown[:100]}… is too long.", field="path", expected="a shorter path"
    ),
    errno.EMFILE: lambda shown: Unavailable(_NO_HANDLES.format(shown)),
    errno.ENFILE: lambda shown: Unavailable(_NO_HANDLES.format(shown)),
}


def told(problem: OSError, shown: str) -> ToolError:
    """The same trouble for whoever asked about ``shown``."""
    if isinstance(problem, NotAFile):
        return wrong_kind(shown, problem.mode)
    words = _WORDS.get(problem.errno)
    if words is not None:
        return words(shown)
    reason = os.strerror(problem.errno) if problem.errno else str(problem)
    return OperationFailed(f"{shown}: {reason}", extras={"reason": "io_error"})


def wrong_kind(shown: str, mode: int, *, wanted: str = "a file") -> ToolError:
    """Something else is there than was asked for."""
    found = next((said for is_so, said in _KINDS if is_so(mode)), "a file")
    return InvalidArguments(f"{shown} is {found}, not {wanted}.", field="path", expected=wanted)


def stale(shown: str) -> ToolError:
    """Somebody else changed it meanwhile."""
    return OperationFailed(
        f"{shown} was changed meanwhile and is left as it is now; read it again.",
        extras={"reason": "stale"},
    )
