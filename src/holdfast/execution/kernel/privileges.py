"""What a thread gives up for good: capabilities, ever getting more, being looked into."""

import ctypes
import signal
import struct
from contextlib import suppress

from holdfast.execution.kernel.system_calls import system_call

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_READ = 23
_PR_CAPBSET_DROP = 24
_PR_SET_SECUREBITS = 28
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4

_CAPABILITY_VERSION = 0x20080522
_LOCKED_WITHOUT_ROOT = 0b101111
"""Being user 0 gives nothing, on exec neither, and that cannot be changed again."""


def gain_nothing() -> None:
    """The calling thread and what it starts never get privileges by executing a program."""
    system_call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def drop_capabilities() -> None:
    """The calling thread has no capabilities left, and nothing it starts gets any."""
    capability = 0
    while _is_known(capability):
        try:
            system_call("prctl", _PR_CAPBSET_DROP, capability, 0, 0, 0)
        except PermissionError:
            break  # whoever may not drop them has none, and no_new_privs keeps it so
        capability += 1
    with suppress(PermissionError):
        system_call("prctl", _PR_SET_SECUREBITS, _LOCKED_WITHOUT_ROOT, 0, 0, 0)
    system_call("prctl", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0), 8)
    system_call("capset", header, ctypes.create_string_buffer(24))


def be_unreadable() -> None:
    """No process of the same user can look into this one; what it executes is readable again."""
    system_call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)


def end_with_parent() -> None:
    """The kernel kills this process when its parent has ended."""
    system_call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def adopt_orphans() -> None:
    """Processes below this one that lose their parent become its children."""
    system_call("prctl", _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _is_known(capability: int) -> bool:
    try:
        system_call("prctl", _PR_CAPBSET_READ, capability, 0, 0, 0)
    except OSError:
        return False
    return True
