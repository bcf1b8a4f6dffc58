"""Paths as resource tools take them: from a root, or in full. By their text alone.

What lies there, and whether it may be reached, is not known here.
"""

import posixpath
from typing import NamedTuple

from holdfast.contract.errors import InvalidArguments, PathOutsideRoot, Unavailable
from holdfast.contract.mounts import Mount
from holdfast.contract.paths import is_within

_WORK = ("session_workspace", "repo_mount")


class Placed(NamedTuple):
    """A file below a mounted root."""

    root: str
    relative: str
    is_first: bool = True
    """Below the root where relative paths begin."""

    @property
    def full(self) -> str:
        """The whole path."""
        return f"{self.root.rstrip('/')}/{self.relative}"

    @property
    def shown(self) -> str:
        """As a call names it."""
        return self.relative if self.is_first else self.full


def below(path: str, root: str, field: str) -> str:
    """A file's path from the root; PathOutsideRoot, InvalidArguments."""
    if "\0" in path or any(part == ".." for part in path.split("/")):
        raise _outside(path, root, field)
    whole = posixpath.normpath(f"/{path.lstrip('/')}" if path.startswith("/") else path)
    if path.startswith("/"):
        if not is_within(whole, root):
            raise _outside(path, root, field)
        whole = whole[len(root.rstrip("/")) + 1 :]
    if whole in ("", "."):
        raise InvalidArguments(
            f"{path} is the root of a mount, not a file.", field=field, expected="a file in it"
        )
    return whole


def in_session(path: str, mounts: tuple[Mount, ...], field: str) -> Placed:
    """A file where the session works: below its workspace, or below a further root."""
    roots = [one.mount_path for one in mounts if one.kind in _WORK]
    if not roots:
        raise Unavailable("This session has no workspace: open it with one to work on files.")
    within = [root for root in roots if path.startswith("/") and is_within(path, root)]
    root = max(within, key=len, default=roots[0])
    return Placed(root, below(path, root, field), root == roots[0])


def _outside(path: str, root: str, field: str) -> PathOutsideRoot:
    return PathOutsideRoot(
        f"{path} leads out of {root}.",
        field=field,
        expected="a path from its root, e.g. `notes/today.md`, or the whole path of a file in it",
    )
