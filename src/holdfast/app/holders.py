"""Who runs a session, as a name that tells whether they still do.

A process is known by its machine, its number and when it began: a number alone is used again.
"""

import os
import secrets
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NUMBERS = "/proc/self/ns/pid"
_ENDED = frozenset({"Z", "X"})


def this_process() -> str:
    """The name of the process that asks."""
    return _name(os.getpid())


def new_holder() -> str:
    """A name of the process that asks which nobody else has, within it either."""
    return f"{this_process()}-{secrets.token_hex(4)}"


def process_name(holder: str) -> str:
    """The name of the process that a holder is, wherever it runs."""
    machine, between, process = holder.rpartition("/")
    return machine + between + "-".join(process.split("-")[:2])


def process_of(holder: str) -> str | None:
    """The name of the process that a holder is, where it is one of this machine; None."""
    machine, _, process = holder.rpartition("/")
    number, began = [*process.split("-"), ""][:2]
    if machine != _machine() or not number.isdigit() or not began.isdigit():
        return None
    return f"{machine}/{number}-{began}"


def is_gone(holder: str) -> bool:
    """Whether a holder was a process of this machine and has ended. In doubt it has not."""
    machine, _, process = holder.rpartition("/")
    number, began = [*process.split("-"), ""][:2]
    if machine != _machine() or not number.isdigit():
        return False
    return _can_tell() and _name(int(number)) != f"{machine}/{number}-{began}"


def lives_elsewhere(holder: str) -> bool:
    """Whether a holder is another process of this machine that has not ended, however late it is.

    One that works or waits for a person for long does not renew its lease meanwhile.
    """
    machine, _, process = holder.rpartition("/")
    other = machine == _machine() and not process.startswith(f"{os.getpid()}-")
    return other and _can_tell() and not is_gone(holder)


def may_run(holder: str, *, late: bool) -> bool:
    """Whether a holder may still be at it. One elsewhere is believed until its lease is late."""
    elsewhere = holder.rpartition("/")[0] != _machine()
    return not late if elsewhere else not is_gone(holder)


def _name(number: int) -> str:
    return f"{_machine()}/{number}-{_began(number) or 0}"


def _machine() -> str:
    """This machine since it was started, as far as its processes see each other.

    The same numbers mean others after a start, and within another namespace of numbers.
    """
    try:
        boot = _BOOT.read_text(encoding="ascii").strip()[:8]
        space = "".join(filter(str.isdigit, os.readlink(_NUMBERS)))  # noqa: PTH115 - it is no path
    except OSError:
        return os.uname().nodename
    return f"{os.uname().nodename}-{boot}-{space}"


def _began(number: int) -> int | None:
    """When a process began, in ticks since the machine did; None: it has ended, or cannot be seen.

    One that has ended has a number as long as nobody has asked how it ended.
    """
    try:
        told = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = told.rpartition(")")[2].split()
    return None if fields[0] in _ENDED else int(fields[19])


def _can_tell() -> bool:
    return _began(os.getpid()) is not None
