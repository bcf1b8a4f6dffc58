"""What measuring coverage must not do to tests.

CPython 3.11 refuses to install a trace function while another thread installs one, and the thread
that is refused dies before it has begun: whoever waits for it waits for ever. Here it tries again.

And coverage takes a lock in Python code at every call that it sees. The alarm of a test whose time
is up comes in between, and then nobody ever gets the lock again: instead of one test that fails, a
suite that stands still. What the lock guards is safe while only one thread runs at a time.
"""

import sys
import threading
import time
from typing import Any

import coverage

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


_Nothing = type(None)
"""Called, it does nothing, and no line of Python runs meanwhile."""


def be_patient() -> None:
    """Have threads that are measured begin in any case."""
    if sys.version_info < (3, 12):
        setattr(threading, "_sys", _PatientSys())  # noqa: B010 - no name of its own to a type checker


def lock_nothing(measuring: coverage.Coverage | None) -> None:
    """Have no lock taken at calls that are measured, now and in threads that begin later."""
    collector = vars(measuring).get("_collector") if measuring is not None else None
    if collector is not None:
        for one in (collector, *collector.tracers):
            one.lock_data = one.unlock_data = _Nothing
