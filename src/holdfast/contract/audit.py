"""The audit log: which program ran, never what it was told or what it printed.

Values and a Protocol. Where the log is kept and what is taken out of it is not known here.
"""

from typing import Protocol

import msgspec

NO_EXIT = -1
"""Instead of an exit code: a signal or a limit ended it, or it could not be started."""


class ProgramRun(msgspec.Struct, frozen=True, kw_only=True):
    """One program, written down when it was over."""

    at_ns: int
    """When that was, in nanoseconds since 1970."""
    tool: str
    """On whose behalf; in brackets, like ``(watchdog)``, where that was no tool."""
    argv: tuple[str, ...]
    """The process as it was started, without the text that a shell was told to run."""
    cwd: str
    exit: int
    ms: int
    stdout_bytes: int
    stderr_bytes: int
    truncated: bool
    """It printed more than an answer shows."""
    env_keys: tuple[str, ...] = ()
    """The names of the variables it was passed beside the usual ones, never their values."""
    session: str = ""
    call: str = ""


class AuditLog(Protocol):
    """Keeps what ran. Cheap enough for an event loop, and safe to use from any thread."""

    def ran(self, run: ProgramRun, /) -> None:
        """Write it down. Never raises: a log that cannot be written fails no call."""
        ...


class NoAudit:
    """Where there is no place to keep a log."""

    def ran(self, run: ProgramRun, /) -> None:
        """Nobody asks."""


NO_AUDIT = NoAudit()
