"""openat2: open a path only if no part of it is a link. The one binding of that call.

What is opened, and what to do where the kernel has no such call, is not known here.
"""

import ctypes
import os
import sys
from collections.abc import Callable
from ctypes import c_char_p, c_int, c_long, c_size_t, c_uint64, c_void_p

from holdfast.execution.kernel.system_calls import NUMBERS

_NUMBER = NUMBERS["x86_64"]["openat2"]
"""The same on every machine."""
_RELATIVE_TO_HERE = -100
_NO_LINKS = 0x04 | 0x02
"""RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS."""


class _OpenHow(ctypes.Structure):
    """What the system call is told beside the path."""

    _fields_ = (("flags", c_uint64), ("mode", c_uint64), ("resolve", c_uint64))


def opener(flags: int) -> Callable[[bytes], int] | None:
    """What opens absolute paths with these flags; None on systems that have no such call.

    It gives a handle, or -1 with the reason in ``ctypes.get_errno()``: an exception would cost
    more than the call. A path must not hold a NUL: what follows it would not be seen.
    """
    if not sys.platform.startswith("linux"):
        return None
    entry = ctypes.CDLL(None, use_errno=True).syscall
    entry.argtypes = (c_long, c_int, c_char_p, c_void_p, c_size_t)
    entry.restype = c_long
    how = _OpenHow(flags | os.O_CLOEXEC, 0, _NO_LINKS)
    told, size = ctypes.byref(how), ctypes.sizeof(how)

    def attempt(path: bytes) -> int:
        return entry(_NUMBER, _RELATIVE_TO_HERE, path, told, size)

    return attempt
