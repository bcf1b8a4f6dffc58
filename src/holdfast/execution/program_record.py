"""Writing down a program: told once how it ended, whatever came of it, also when nothing did.

A refusal is no program. Where it is written is not known here.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

from holdfast.contract.audit import NO_AUDIT, NO_EXIT, AuditLog, ProgramRun
from holdfast.contract.shell import CommandText, Printed

_NOTHING = Printed(b"", b"", 0)


class Program(NamedTuple):
    """A program that is about to be started."""

    tool: str
    argv: tuple[str, ...]
    cwd: str
    env_keys: tuple[str, ...] = ()
    session: str = ""
    call: str = ""
    most_shown: int | None = None
    """So many bytes an answer of the tool shows."""


class Record:
    """One program's line in the audit log, written when it is over."""

    def __init__(
        self, program: Program, log: AuditLog, unix_ns: Callable[[], int] = time.time_ns
    ) -> None:
        self._program = program
        self._log: AuditLog | None = log
        self._unix_ns = unix_ns

    def begins_in(self, cwd: str) -> None:
        """It turned out where it begins."""
        self._program = self._program._replace(cwd=cwd)

    def over(
        self,
        status: int | None,
        seconds: float = 0.0,
        stdout: Printed = _NOTHING,
        stderr: Printed = _NOTHING,
    ) -> None:
        """It has ended, or it was not even started. Only the first word on that counts.

        A status below nought is a signal; None: it was ended from here, or never began.
        """
        log, self._log = self._log, None
        if log is None:
            return
        program, printed = self._program, stdout.total + stderr.total
        whole = stdout.complete and stderr.complete
        most = printed if program.most_shown is None else program.most_shown
        log.ran(
            ProgramRun(
                at_ns=self._unix_ns(),
                tool=program.tool,
                argv=program.argv,
                cwd=program.cwd,
                exit=NO_EXIT if status is None or status < 0 else status,
                ms=round(seconds * 1000),
                stdout_bytes=stdout.total,
                stderr_bytes=stderr.total,
                truncated=not whole or printed > most,
                env_keys=program.env_keys,
                session=program.session,
                call=program.call,
            )
        )


UNRECORDED = Record(Program("", (), ""), NO_AUDIT)
"""Of programs of holdfast's own, which are no part of a call."""


def without_text(command: CommandText, argv: list[str]) -> tuple[str, ...]:
    """The words it is started with; what a shell is told to run is an argument of the call."""
    return tuple(argv[:-1] if isinstance(command, str) else argv)
