"""A policy's paths, opened before a sandbox is made of them: through no link, and kept.

A link below a directory that commands write may be theirs: followed, it would show them whatever it
leads to. So a policy with one is refused, in every kind of confinement alike. What a path is for is
not known here.
"""

import errno
import os
from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager

from holdfast.execution.files.opening import open_physical
from holdfast.execution.processes.spawners import SandboxRefused

_LEFT_OUT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES})

Identity = tuple[int, int]


@contextmanager
def held(paths: Iterable[str], must_be_seen: Iterable[str]) -> Generator[dict[str, Identity]]:
    """Which file or directory is at each path that exists, true as long as this lasts.

    A path of ``must_be_seen`` may be missing but not hidden: what cannot be opened cannot be
    protected. Raises SandboxRefused.
    """
    strictly = {*must_be_seen}
    with ExitStack() as kept:
        found: dict[str, Identity] = {}
        for path in paths:
            try:
                handle = open_physical(path, os.O_PATH)
            except OSError as problem:
                _left_out(path, problem, strictly)
                continue
            kept.callback(os.close, handle)
            seen = os.fstat(handle)
            found[path] = (seen.st_dev, seen.st_ino)
        yield found


def _left_out(path: str, problem: OSError, strictly: set[str]) -> None:
    """Raise unless a sandbox can do without it."""
    if problem.errno == errno.ELOOP:
        raise SandboxRefused(
            f"{path!r} leads through the link {_link_in(path)!r}, and what a link shows may be"
            " chosen by a command; replace the link by what it leads to"
        ) from None
    if problem.errno not in _LEFT_OUT or (problem.errno == errno.EACCES and path in strictly):
        raise SandboxRefused(f"{path!r} cannot be protected ({problem.strerror})") from None


def _link_in(path: str) -> str:
    """The first part of a path that is a link."""
    parts = path.split("/")
    starts = ("/".join(parts[:count]) for count in range(2, len(parts) + 1))
    return next(filter(os.path.islink, starts), path)
