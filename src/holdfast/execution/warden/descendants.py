"""Ending everything below this process, for one that adopts orphans.

The children of a process are its own to reap, so their numbers cannot be another's meanwhile. That
no child is left is the only proof that nothing is.
"""

import os
import signal
import time
from contextlib import suppress

_PAUSE = 0.0005


def children() -> list[int]:
    """The processes whose parent this is, zombies included."""
    found: list[int] = []
    try:
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children", encoding="ascii") as listed:
                found += [int(number) for number in listed.read().split()]
    except FileNotFoundError:
        return _by_looking_at_all(os.getpid())
    return found


def end_descendants() -> None:
    """Kill children until there are none: those of the dead become our own."""
    while True:
        for child in children():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(_PAUSE)


def reap_orphans(leader: int) -> None:
    """Let go of adopted processes that have ended; the leader is another's to wait for."""
    for child in children():
        if child != leader:
            with suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)


def _by_looking_at_all(parent: int) -> list[int]:
    """For kernels without that list."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                if _parent_of(name) == parent:
                    found.append(int(name))
    return found


def _parent_of(process: str) -> int:
    with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as stat:
        # The name of a program, in parentheses, may hold anything.
        return int(stat.read().rpartition(")")[2].split()[1])
