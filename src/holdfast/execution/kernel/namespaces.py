"""Namespaces made by hand, for the super-user: own processes, files, network and shared memory.

The caller ends in a file system that holds what it was told to show and nothing else. No link is
followed on the way to it: whoever could plant one would choose what is shown. What to show is not
known here.
"""

import ctypes
import fcntl
import os
import socket
import stat
import struct
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from typing import Literal, NamedTuple

from holdfast.execution.kernel.physical import hold, made
from holdfast.execution.kernel.system_calls import system_call

_NEW_MOUNTS = 0x00020000
_NEW_CGROUPS = 0x02000000
_NEW_HOST_NAME = 0x04000000
_NEW_IPC = 0x08000000
_NEW_PROCESSES = 0x20000000
_NEW_NETWORK = 0x40000000

_READ_ONLY = 0x1
_NO_SET_ID = 0x2
_NO_DEVICES = 0x4
_NO_EXECUTION = 0x8
_REMOUNT = 0x20
_BIND = 0x1000
_RECURSIVE = 0x4000
_PRIVATE = 0x40000
_DETACH = 0x2
_SEALED = _READ_ONLY | _NO_SET_ID | _NO_DEVICES

_ALL_BELOW = 0x8000
_ITSELF = 0x1000
"""AT_EMPTY_PATH: the handle, and no path from it."""
_CLONE = 0x1
_CLOSE_ON_EXEC = os.O_CLOEXEC
_FROM_ITSELF, _TO_ITSELF = 0x4, 0x40

_GET_FLAGS = 0x8913
_SET_FLAGS = 0x8914
_UP = 0x1

Kind = Literal["read", "write", "private", "link", "hidden"]


class Shown(NamedTuple):
    """One place of the new file system."""

    kind: Kind
    path: str
    source: str
    """What is shown there, or where a link leads; empty for a private, empty directory, and for
    what is hidden, if it is there."""


_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
_KERNEL_SETTINGS = ("sys", "irq", "bus", "fs", "acpi", "scsi", "sysrq-trigger")
_KERNEL_SECRETS = ("kcore", "keys", "key-users", "timer_list", "sched_debug", "kallsyms")


def leave_namespaces() -> None:
    """The calling process leaves all but its user's; what it forks next is process 1."""
    system_call(
        "unshare",
        _NEW_MOUNTS | _NEW_CGROUPS | _NEW_HOST_NAME | _NEW_IPC | _NEW_PROCESSES | _NEW_NETWORK,
    )


def build_view(shown: Iterable[Shown], at: str) -> None:
    """Make the file system below an empty directory, and move into it. Only for process 1."""
    _mount(None, "/", None, _PRIVATE | _RECURSIVE)
    _mount("tmpfs", at, "tmpfs", _NO_SET_ID | _NO_DEVICES, "mode=755")
    with _closing(os.open(at, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)) as root:
        emptied = [one.path for one in shown if _show(one, root)]
        for path in emptied:
            # Not before: what is shown inside of it needs a place there.
            with _closing(made(root, path, folder=True)) as place:
                _mount(None, f"/proc/self/fd/{place}", None, _REMOUNT | _BIND | _SEALED)
    _devices(at + "/dev")
    _processes(at + "/proc")
    os.chdir(at)
    system_call("pivot_root", b".", b".")
    system_call("umount2", b".", _DETACH)
    os.chdir("/")
    _mount(None, "/", None, _REMOUNT | _BIND | _SEALED)


def raise_loopback() -> None:
    """The private network's own address answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh22x", b"lo", 0)
        flags = struct.unpack("16sh22x", fcntl.ioctl(any_socket, _GET_FLAGS, request))[1]
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh22x", b"lo", flags | _UP))


def _show(one: Shown, root: int) -> bool:
    """Through no link: neither to what is shown, nor to the place where it is.

    Whether it left an empty directory that is to be sealed.
    """
    if one.kind == "link":
        above, _, name = one.path.rpartition("/")
        with _closing(made(root, above, folder=True)) as folder, suppress(FileExistsError):
            os.symlink(one.source, name, dir_fd=folder)
    elif one.kind == "private":
        with _closing(made(root, one.path, folder=True)) as place:
            there = f"/proc/self/fd/{place}"
            _mount("tmpfs", there, "tmpfs", _NO_SET_ID | _NO_DEVICES, "mode=700")
    elif one.kind == "hidden":
        return _hide(one, root)
    else:
        with suppress(FileNotFoundError, NotADirectoryError), _closing(hold(one.source)) as source:
            _bind(source, root, one)
    return False


def _hide(one: Shown, root: int) -> bool:
    """Whether it is a directory: an empty one then stands before it, which nobody may list."""
    try:
        there = hold(one.path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    with _closing(there):
        folder = stat.S_ISDIR(os.fstat(there).st_mode)
    if folder:
        with _closing(made(root, one.path, folder=True)) as place:
            _mount("tmpfs", f"/proc/self/fd/{place}", "tmpfs", _NO_SET_ID, "mode=111")
    else:
        # A device where there are no devices: nobody may open it.
        with _closing(hold(os.devnull)) as nothing:
            _bind(nothing, root, one)
    return folder


def _bind(source: int, root: int, one: Shown) -> None:
    tree = system_call("open_tree", source, b"", _CLONE | _CLOSE_ON_EXEC | _ALL_BELOW | _ITSELF)
    with _closing(tree):
        attributes = _NO_SET_ID | _NO_DEVICES | (0 if one.kind == "write" else _READ_ONLY)
        wanted = ctypes.create_string_buffer(struct.pack("=QQQQ", attributes, 0, 0, 0), 32)
        system_call("mount_setattr", tree, b"", _ALL_BELOW | _ITSELF, wanted, 32)
        folder = stat.S_ISDIR(os.fstat(source).st_mode)
        with _closing(made(root, one.path, folder=folder)) as place:
            system_call("move_mount", tree, b"", place, b"", _FROM_ITSELF | _TO_ITSELF)


@contextmanager
def _closing(handle: int) -> Generator[int]:
    try:
        yield handle
    finally:
        os.close(handle)


def _devices(place: str) -> None:
    os.makedirs(place, exist_ok=True)
    _mount("tmpfs", place, "tmpfs", _NO_SET_ID | _NO_EXECUTION, "mode=755")
    for name in _DEVICES:
        os.close(os.open(f"{place}/{name}", os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        _mount(f"/dev/{name}", f"{place}/{name}", None, _BIND)
    for name, target in _DEVICE_LINKS.items():
        os.symlink(target, f"{place}/{name}")
    for name, kind, options in (
        ("pts", "devpts", "newinstance,ptmxmode=0666,mode=620"),
        ("shm", "tmpfs", "mode=1777"),
    ):
        os.mkdir(f"{place}/{name}")
        _mount(kind, f"{place}/{name}", kind, _NO_SET_ID | _NO_EXECUTION, options)


def _processes(place: str) -> None:
    os.makedirs(place, exist_ok=True)
    _mount("proc", place, "proc", _NO_SET_ID | _NO_DEVICES | _NO_EXECUTION)
    for name in _KERNEL_SETTINGS:
        there = f"{place}/{name}"
        if os.path.exists(there):
            _mount(there, there, None, _BIND | _RECURSIVE)
            _mount(None, there, None, _REMOUNT | _BIND | _READ_ONLY)
    for name in _KERNEL_SECRETS:
        there = f"{place}/{name}"
        if os.path.exists(there):
            _mount("/dev/null", there, None, _BIND)


def _mount(
    source: str | None, place: str, kind: str | None, flags: int, options: str | None = None
) -> None:
    system_call(
        "mount",
        None if source is None else os.fsencode(source),
        os.fsencode(place),
        None if kind is None else kind.encode(),
        flags,
        None if options is None else options.encode(),
    )
