"""Landlock: the calling thread gives up files, ports and signals that are not named.

Every right the running kernel knows is handled, so what a kernel adds is denied too. The thread
cannot take it back, and what it starts inherits it. Which paths to name is not known here.
"""

import os
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from enum import IntFlag

from holdfast.execution.kernel.physical import hold
from holdfast.execution.kernel.system_calls import system_call

_ASK_VERSION = 1
_PATH_BENEATH = 1
_BIND_AND_CONNECT = 0b11
_SCOPE_SOCKETS_AND_SIGNALS = 0b11

NETWORK_SINCE = 4
SCOPES_SINCE = 6


class Right(IntFlag):
    """What may be done with a path, by the kernel's own bits."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


_SINCE_THE_FIRST = (Right.MAKE_SYM << 1) - 1
_ADDED = {2: Right.REFER, 3: Right.TRUNCATE, 5: Right.IOCTL_DEV}
_OF_FILES = Right.EXECUTE | Right.WRITE_FILE | Right.READ_FILE | Right.TRUNCATE | Right.IOCTL_DEV

READ = Right.EXECUTE | Right.READ_FILE | Right.READ_DIR
WRITE = (
    Right.WRITE_FILE
    | Right.TRUNCATE
    | Right.REMOVE_DIR
    | Right.REMOVE_FILE
    | Right.MAKE_DIR
    | Right.MAKE_REG
    | Right.MAKE_SOCK
    | Right.MAKE_FIFO
    | Right.MAKE_SYM
    | Right.REFER
)
"""Devices cannot be made, whatever is named."""
DEVICE = Right.READ_FILE | Right.WRITE_FILE | Right.IOCTL_DEV


def version() -> int:
    """Which version of Landlock the kernel has; 0 for none."""
    try:
        return system_call("landlock_create_ruleset", None, 0, _ASK_VERSION)
    except OSError:
        return 0


def handled(abi: int) -> Right:
    """Every right of files a version knows."""
    rights = Right(_SINCE_THE_FIRST)
    for since, right in _ADDED.items():
        if abi >= since:
            rights |= right
    return rights


def confine_thread(allowed: Iterable[tuple[str, Right]], abi: int, *, ports: bool) -> None:
    """Restrict the calling thread to these paths; with ``ports`` its TCP ports stay free.

    A path that does not exist is left out, one that leads through a link is an error. The thread
    needs no_new_privs. Raises OSError.
    """
    rights = handled(abi)
    rules = _ruleset(rights, 0 if ports else _BIND_AND_CONNECT, abi)
    try:
        for path, wanted in allowed:
            with suppress(FileNotFoundError, NotADirectoryError):
                _allow(rules, path, wanted & rights)
        system_call("landlock_restrict_self", rules, 0)
    finally:
        os.close(rules)


def enter_domain(abi: int) -> None:
    """Give the calling thread a domain of its own, out of which no signal reaches.

    Nothing else changes. The kernel has to know scopes. Raises OSError.
    """
    # A layer that does not speak of moving files between directories would deny it.
    rules = _ruleset(Right.REFER, 0, abi)
    try:
        _allow(rules, "/", Right.REFER)
        system_call("landlock_restrict_self", rules, 0)
    finally:
        os.close(rules)


def _ruleset(files: Right, network: int, abi: int) -> int:
    attributes = struct.pack("=Q", files)
    if abi >= NETWORK_SINCE:
        attributes += struct.pack("=Q", network)
    if abi >= SCOPES_SINCE:
        attributes += struct.pack("=Q", _SCOPE_SOCKETS_AND_SIGNALS)
    return system_call("landlock_create_ruleset", attributes, len(attributes), 0)


def _allow(rules: int, path: str, wanted: Right) -> None:
    handle = hold(path)
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            wanted &= _OF_FILES
        _add_rule(rules, handle, wanted)
    finally:
        os.close(handle)


def _add_rule(rules: int, handle: int, wanted: Right) -> None:
    if wanted:
        rule = struct.pack("=Qi", wanted, handle)
        system_call("landlock_add_rule", rules, _PATH_BENEATH, rule, 0)
