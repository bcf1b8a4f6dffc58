"""Threads that begin at the same moment while coverage is measured, on interpreters that mind.

CPython 3.11 refuses to install a trace function while another thread installs one, and the thread
that is refused dies before it has begun: whoever waits for it waits for ever. Here it tries again.
"""

import sys
import threading
import time
from typing import Any

_ATTEMPTS = 1000


class _PatientSys:
    """The module `sys` as `threading` uses it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(sys, name)

    def settrace(self, function: Any) -> None:
        for _ in range(_ATTEMPTS):
            try:
                sys.settrace(function)
            except RuntimeError:
                time.sleep(0.001)
            else:
                return
        sys.settrace(function)


def be_patient() -> None:
    """Have threads that are measured begin in any case."""
    if sys.version_info < (3, 12):
        setattr(threading, "_sys", _PatientSys())  # noqa: B010 - no name of its own to a type checker
