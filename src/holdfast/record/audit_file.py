"""The audit log on disk: a file per UTC day, a line per program, any number of processes append.

A line is one write; nothing is buffered and nothing is kept open. Which programs run is not known
here.
"""

import logging
import os
import stat
from pathlib import Path

import msgspec

from holdfast.contract.audit import ProgramRun
from holdfast.record import audit_lines
from holdfast.record.audit_redaction import Redaction

MOST_WORDS = 256
"""So many words of a command line are written down."""

_OWNER_ONLY = 0o600
_FOLDER = 0o700
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# For reading as well: the end is looked at, and opening a pipe in its place then waits for nobody.
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY

_log = logging.getLogger("holdfast")


class AuditFile:
    """Writes programs down. Safe to use from any thread and any number of processes."""

    def __init__(self, folder: Path, redaction: Redaction) -> None:
        """``folder`` is made when the first program ran."""
        self._folder = folder
        self._redaction = redaction
        self._failing = False

    def ran(self, run: ProgramRun, /) -> None:
        """Append a line. A log that cannot be written fails no call; it is said once."""
        try:
            name = f"{audit_lines.day_of(run.at_ns)}.log"
            self._append(name, audit_lines.written(self._without_secrets(run)) + b"\n")
        except (OSError, ValueError, OverflowError) as problem:
            if not self._failing:
                _log.warning("the audit log in %s cannot be written: %s", self._folder, problem)
            self._failing = True
        else:
            self._failing = False

    def _without_secrets(self, run: ProgramRun) -> ProgramRun:
        redacted = self._redaction.text
        words = [redacted(word) for word in run.argv[:MOST_WORDS]]
        if len(run.argv) > MOST_WORDS:
            words.append(f"… [{len(run.argv) - MOST_WORDS:,} words omitted]")
        return msgspec.structs.replace(run, argv=tuple(words), cwd=redacted(run.cwd))

    def _append(self, name: str, line: bytes) -> None:
        folder = self._opened_folder()
        try:
            file = os.open(name, _APPEND, _OWNER_ONLY, dir_fd=folder)
        finally:
            os.close(folder)
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(f"{name} is no file")
            # A line that a full disk cut short must not swallow this one.
            torn = found.st_size > 0 and os.pread(file, 1, found.st_size - 1) != b"\n"
            content = b"\n" + line if torn else line
            if os.write(file, content) < len(content):
                raise OSError("there is no room")
        finally:
            os.close(file)

    def _opened_folder(self) -> int:
        try:
            return os.open(self._folder, _OPEN_FOLDER)
        except FileNotFoundError:
            _make_private(self._folder)
            return os.open(self._folder, _OPEN_FOLDER)


def _make_private(folder: Path) -> None:
    """Make it and all above it that is missing; `mkdir` gives its mode to the last one alone."""
    if not folder.exists():
        _make_private(folder.parent)
        folder.mkdir(exist_ok=True, mode=_FOLDER)
