"""Namespaces made by hand, for the super-user: own processes, files, network and shared memory.

The caller ends in a file system that holds what it was told to show and nothing else. What to show
is not known here.
"""

import ctypes
import fcntl
import os
import socket
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from typing import Literal, NamedTuple

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

_HERE = -100
_ALL_BELOW = 0x8000

_GET_FLAGS = 0x8913
_SET_FLAGS = 0x8914
_UP = 0x1

Kind = Literal["read", "write", "private", "link"]


class Shown(NamedTuple):
    """One place of the new file system."""

    kind: Kind
    path: str
    source: str
    """What is shown there, or where a link leads; empty for a private, empty directory."""


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
    for one in shown:
        _show(one, at + one.path)
    _devices(at + "/dev")
    _processes(at + "/proc")
    os.chdir(at)
    system_call("pivot_root", b".", b".")
    system_call("umount2", b".", _DETACH)
    os.chdir("/")
    _mount(None, "/", None, _REMOUNT | _BIND | _READ_ONLY | _NO_SET_ID | _NO_DEVICES)


def raise_loopback() -> None:
    """The private network's own address answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh22x", b"lo", 0)
        flags = struct.unpack("16sh22x", fcntl.ioctl(any_socket, _GET_FLAGS, request))[1]
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh22x", b"lo", flags | _UP))


def _show(one: Shown, place: str) -> None:
    if one.kind == "link":
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with suppress(FileExistsError):
            os.symlink(one.source, place)
    elif one.kind == "private":
        os.makedirs(place, exist_ok=True)
        _mount("tmpfs", place, "tmpfs", _NO_SET_ID | _NO_DEVICES, "mode=700")
    elif os.path.exists(one.source):
        _bind(one.source, place, writable=one.kind == "write")


def _bind(source: str, place: str, *, writable: bool) -> None:
    if stat.S_ISDIR(os.stat(source).st_mode):
        os.makedirs(place, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    _mount(source, place, None, _BIND | _RECURSIVE)
    attributes = _NO_SET_ID | _NO_DEVICES | (0 if writable else _READ_ONLY)
    wanted = ctypes.create_string_buffer(struct.pack("=QQQQ", attributes, 0, 0, 0), 32)
    system_call("mount_setattr", _HERE, os.fsencode(place), _ALL_BELOW, wanted, 32)


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
