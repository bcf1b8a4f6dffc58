"""Reading the audit log: its days in order, and what comes while somebody looks on.

Nothing is written. A line that is cut at the end of a day is being written, or never was; any other
line that is no record is named.
"""

import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from holdfast.contract.audit import ProgramRun
from holdfast.record import audit_lines

_NAME = re.compile(r"(\d{8})\.log", re.ASCII)
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class BrokenLine(NamedTuple):
    """A line that is no record, although others follow it."""

    path: Path
    number: int
    why: str


Entry = ProgramRun | BrokenLine


class _Place(NamedTuple):
    """How far a day was read."""

    offset: int = 0
    number: int = 0


class AuditReader:
    """Reads the days of one folder, and goes on where it stopped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, _Place] = {}

    def days(self) -> tuple[str, ...]:
        """The days there are, the oldest first; raises OSError when nobody can say."""
        try:
            names = [path.name for path in self._folder.iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return ()
        return tuple(sorted(found.group(1) for name in names if (found := _NAME.fullmatch(name))))

    def entries(self, first: str = "", last: str = "99999999") -> Iterator[Entry]:
        """What came since it was asked before, of these days, in their order; raises OSError."""
        for day in self.days():
            if first <= day <= last:
                yield from self._of(day)

    def _of(self, day: str) -> Iterator[Entry]:
        path = self._folder / f"{day}.log"
        place = self._read.get(day, _Place())
        held: BrokenLine | None = None
        with os.fdopen(_opened(path), "rb") as file:
            file.seek(place.offset)
            for line in file:
                before, place = place, _Place(place.offset + len(line), place.number + 1)
                if not line.strip():
                    continue
                if held is not None:  # it is not the last one
                    self._read[day] = before
                    yield held
                    held = None
                try:
                    run = audit_lines.read(line)
                except audit_lines.UnreadableLine as problem:
                    held = BrokenLine(path, place.number, str(problem))
                    continue
                self._read[day] = place
                yield run


def _opened(path: Path) -> int:
    file = os.open(path, _READ)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is no file", str(path))
    return file
