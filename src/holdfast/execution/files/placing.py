"""Putting whole files in place at once: written aside, then renamed.

The name's old file is left as it is: other names of it (hard links) keep the old content, so that
writing a file inside a workspace never changes one outside of it. Whether anything may be written,
and what was there before, is not known here.
"""

import errno
import os
import secrets
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from typing import NamedTuple

from holdfast.execution.files.opening import Spot
from holdfast.execution.kernel.system_calls import system_call

ASIDE = ".holdfast-"
"""How the names of files that are not in place yet begin."""

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_UNLESS_THERE = 1
"""RENAME_NOREPLACE"""
_NO_SUCH_RENAME = frozenset({errno.ENOSYS, errno.EINVAL, errno.EPERM, None})
_PERMISSIONS = 0o777
_GROUP = 0o070
_KEPT_ATTRIBUTES = ("user.", "system.posix_acl_access", "security.selinux")
"""Others, such as capabilities, were given to the old content and not to any other."""
_NOT_SYNCED_HERE = frozenset({errno.EINVAL, errno.ENOTSUP})


class Look(NamedTuple):
    """How a file that is put in place is to look."""

    like: int | None = None
    """The old file, open: its owner and attributes are kept where that is permitted."""
    mode: int | None = None
    """Permissions; without any those of the old file, or the usual ones of a new one."""


def aside_name() -> str:
    """A name nobody else uses."""
    return ASIDE + secrets.token_hex(8)


@contextmanager
def written_aside(aside: Spot, pieces: Iterable[bytes], look: Look) -> Generator[None]:
    """A complete file, safe on the disk, to be renamed; removed if that does not happen."""
    first_mode = 0o666 if look.like is None and look.mode is None else 0o600
    handle = os.open(aside.name, _NEW_FILE, first_mode, dir_fd=aside.folder)
    try:
        try:
            for piece in pieces:
                _write_all(handle, piece)
            _adopt(handle, look)
            os.fsync(handle)
        finally:
            os.close(handle)
        yield
    except BaseException:
        with suppress(OSError):
            os.unlink(aside.name, dir_fd=aside.folder)
        raise


def _write_all(handle: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _adopt(handle: int, look: Look) -> None:
    mode = look.mode
    if look.like is not None:
        old = os.fstat(look.like)
        kept_group = _keep_owner(handle, old)
        _keep_attributes(handle, look.like)
        if mode is None:
            # Set-id bits go, as they do whenever the kernel sees a file written.
            mode = stat.S_IMODE(old.st_mode) & _PERMISSIONS
            mode &= _PERMISSIONS if kept_group else ~_GROUP
    if mode is not None:
        os.fchmod(handle, mode)


def _keep_owner(handle: int, old: os.stat_result) -> bool:
    """Give it the same owner and group, where permitted; whether it has the group now."""
    for owner, group in ((old.st_uid, old.st_gid), (-1, old.st_gid)):
        with suppress(OSError):
            os.fchown(handle, owner, group)
            return True
    return os.fstat(handle).st_gid == old.st_gid


def _keep_attributes(handle: int, like: int) -> None:
    if not hasattr(os, "listxattr"):
        return
    with suppress(OSError):
        for name in os.listxattr(like):
            if name.startswith(_KEPT_ATTRIBUTES):
                with suppress(OSError):
                    os.setxattr(handle, name, os.getxattr(like, name))


def put(aside: Spot, spot: Spot) -> None:
    """Rename it into place; what was there is gone."""
    os.rename(aside.name, spot.name, src_dir_fd=aside.folder, dst_dir_fd=spot.folder)


def put_new(aside: Spot, spot: Spot) -> None:
    """Rename it into place unless something is there: FileExistsError, however close the race."""
    try:
        system_call(
            "renameat2",
            *(aside.folder, os.fsencode(aside.name), spot.folder, os.fsencode(spot.name)),
            _UNLESS_THERE,
        )
    except OSError as problem:
        if problem.errno not in _NO_SUCH_RENAME:
            raise
        os.link(
            aside.name,
            spot.name,
            src_dir_fd=aside.folder,
            dst_dir_fd=spot.folder,
            follow_symlinks=False,
        )
        os.unlink(aside.name, dir_fd=aside.folder)


def make_last(folder: int) -> None:
    """Have the entries of a directory survive a loss of power, where the file system can."""
    try:
        os.fsync(folder)
    except OSError as problem:
        if problem.errno not in _NOT_SYNCED_HERE:
            raise
