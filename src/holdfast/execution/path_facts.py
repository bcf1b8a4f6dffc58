"""Where paths lead on this machine.

It only looks: nothing is opened for reading or writing, and what it says may be old a moment later.
Whoever opens a judged path opens exactly the physical one, without following links.
"""

import errno
import os
import posixpath
import stat
import sys

from holdfast.contract.ports import PathProblem, PathTrouble, PathView
from holdfast.execution.kernel.openat2 import opener

_MOST_LINKS = 40
"""As many as the kernel follows."""

_TROUBLES: dict[int | None, PathTrouble] = {
    errno.ELOOP: "loop",
    errno.ENOTDIR: "not_a_directory",
    errno.ENAMETOOLONG: "too_long",
}
# A handle that can neither be read nor written; where there is none, every path is walked.
_HANDLE_ONLY: int | None = getattr(os, "O_PATH", None)


class DiskPaths:
    """The file system of this machine."""

    def look(self, path: str, base: str | None, /) -> PathView | PathProblem:
        """Follow a path as it is written."""
        if not path:
            return PathProblem("empty")
        if "\0" in path:
            return PathProblem("nul")
        if not path.startswith("/"):
            if base is None:
                return PathProblem("no_workspace")
            path = f"{base}/{path}"
        lexical = _normal(path)
        try:
            if _is_free_of_links(path):
                return PathView(lexical, lexical)
            return PathView(lexical, _quickly(path) or _walked(path))
        except UnicodeEncodeError:
            return PathProblem("not_text", lexical)
        except OSError as problem:
            return PathProblem(_TROUBLES.get(problem.errno, "forbidden"), lexical)


def _normal(path: str) -> str:
    if "//" not in path and "/." not in path and not path.endswith("/"):
        return path  # as nearly all are, and at a tenth of the price
    # Two separators at the beginning mean something in POSIX; not to us.
    return posixpath.normpath("/" + path.lstrip("/"))


_ENCODING = sys.getfilesystemencoding()
_ENCODING_ERRORS = sys.getfilesystemencodeerrors()
_open_link_free = opener(_HANDLE_ONLY or 0)


def _is_free_of_links(path: str) -> bool:
    """Whether it exists and passes no link: then it lies where its text says.

    One system call instead of two. False where that is not so, and where the kernel cannot tell.
    """
    if _open_link_free is None:
        return False
    # os.fsencode, at half the price
    handle = _open_link_free(path.encode(_ENCODING, _ENCODING_ERRORS))
    if handle < 0:
        return False
    os.close(handle)
    return True


def _quickly(path: str) -> str | None:
    """Ask the kernel, which follows a whole path in one call; None where it has to be walked."""
    if _HANDLE_ONLY is None:
        return None
    try:
        return _by_handle(path, _HANDLE_ONLY)
    except OSError as problem:
        if problem.errno != errno.ENOENT:
            return None
    parent, _, name = path.rpartition("/")
    if name in ("", ".", "..") or os.path.lexists(path):
        return None
    try:
        found = _by_handle(parent or "/", _HANDLE_ONLY)
    except OSError:
        return None
    return found and posixpath.join(found, name)


def _by_handle(path: str, handle_only: int) -> str | None:
    handle = os.open(path, handle_only | os.O_CLOEXEC)
    try:
        found = os.readlink(f"/proc/self/fd/{handle}")  # noqa: PTH115 - a Path costs more
    finally:
        os.close(handle)
    # Pipes and sockets have no place; a file that vanished meanwhile has none any more.
    return None if found[:1] != "/" or found.endswith(" (deleted)") else found


def _walked(path: str) -> str:
    """Follow every part, and go on by name where nothing exists any more."""
    found, rest, links = "/", list(reversed(path.split("/"))), 0
    while rest:
        part = rest.pop()
        if part in ("", "."):
            continue
        if part == "..":
            found = posixpath.dirname(found)
            continue
        here = posixpath.join(found, part)
        target = _target(here, last=not rest)
        if target is None:
            found = here
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, "too many links")
        found = "/" if target.startswith("/") else found
        rest += reversed(target.split("/"))
    return found


def _target(here: str, *, last: bool) -> str | None:
    """Where a link points; None for anything else, also for what does not exist."""
    try:
        mode = os.lstat(here).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(mode):
        return os.readlink(here)  # noqa: PTH115 - it keeps the text as it is
    if not last and not stat.S_ISDIR(mode):
        raise OSError(errno.ENOTDIR, "not a directory")
    return None
