"""`holdfast audit log`: which programs ran, as a table for people or as lines for programs."""

import re
import shlex
import time
from argparse import Namespace
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

from holdfast.app.audit import audit_folder
from holdfast.app.configuration import load_configuration
from holdfast.app.environment import variables
from holdfast.app.ledger import session_called
from holdfast.app.locations import state_home
from holdfast.app.own_files import check_home
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.archive import LAST
from holdfast.contract.audit import ProgramRun
from holdfast.contract.truncate import cut_text
from holdfast.record import audit_lines
from holdfast.record.audit_reader import AuditReader, BrokenLine, Entry
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.screen import Screen

LOOK_SECONDS = 0.5
"""How often somebody who follows is shown what is new."""

_UNREADABLE = 1
_PROGRAM_CHARACTERS = 60
_HEADINGS = ("TIME (UTC)", "TOOL", "PROGRAM", "EXIT", "MS", "STDOUT", "STDERR", "VARIABLES")
_NANOSECONDS = 1_000_000_000
_AGO = re.compile(r"(\d{1,9})([smhdw])", re.ASCII)
_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)", re.ASCII)
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


class _Wanted(NamedTuple):
    """Which of the programs are shown."""

    day: str | None
    since_ns: int
    tool: str | None
    session: str

    @property
    def days(self) -> tuple[str, str]:
        """The first and the last day it can be."""
        return (self.day, self.day) if self.day else (audit_lines.day_of(self.since_ns), "99999999")

    def fits(self, run: ProgramRun) -> bool:
        """Whether it is shown."""
        return (
            run.at_ns >= self.since_ns
            and self.tool in (None, run.tool)
            and run.session.startswith(self.session)
        )


def list_programs(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    day, since = _day(arguments.day), _since(arguments.since, datetime.now(UTC))
    limit = most_of(arguments.limit)
    check_home(variables())
    folder = audit_folder(state_home(variables()))
    reader = AuditReader(folder)
    try:
        wanted = _Wanted(day, since, arguments.tool, _session(arguments.session, folder))
        runs = deque(_fitting(reader.entries(*wanted.days), wanted, screen), limit)
        _show(runs, screen, nothing=_nothing(reader), as_json=arguments.json)
        while arguments.follow:
            screen.show_now()
            time.sleep(LOOK_SECONDS)
            for run in _fitting(reader.entries(*wanted.days), wanted, screen):
                screen.raw(_line(run) if arguments.json else "  ".join(_row(run)))
    except OSError as problem:
        if problem.filename is None:
            raise  # it is the answer that cannot be written
        why = f"{problem.filename} cannot be read ({problem.strerror})"
        screen.remark(f"{why}; it has to be yours, and no link")
        return _UNREADABLE
    return 0


def _session(given: str | None, folder: Path) -> str:
    """How the id begins; JournalError when neither the log nor the store knows it."""
    if given is None:
        return ""
    if given != LAST:
        entries = AuditReader(folder).entries()
        runs = (entry for entry in entries if isinstance(entry, ProgramRun))
        if any(run.session.startswith(given) for run in runs):
            return given
    settings = load_configuration(None).settings
    return session_called(settings, surroundings_of_this_process(settings), given)


def _fitting(entries: Iterator[Entry], wanted: _Wanted, screen: Screen) -> Iterator[ProgramRun]:
    for entry in entries:
        if isinstance(entry, BrokenLine):
            screen.remark(f"{entry.path}:{entry.number}: it is no record ({entry.why}); left out")
        elif wanted.fits(entry):
            yield entry


def _show(runs: Iterable[ProgramRun], screen: Screen, *, nothing: str, as_json: bool) -> None:
    if as_json:
        for run in runs:
            screen.raw(_line(run))
        return
    rows = [_row(run) for run in runs]
    if rows:
        screen.look.table(_HEADINGS, rows)
    else:
        screen.look.text(nothing)


def _nothing(reader: AuditReader) -> str:
    if reader.days():
        return "No program that was written down fits."
    return "No program has been written down yet."


def _line(run: ProgramRun) -> str:
    return audit_lines.written(run).decode()


def _row(run: ProgramRun) -> tuple[str, ...]:
    program = cut_text(shlex.join(run.argv), _PROGRAM_CHARACTERS)
    moment = audit_lines.moment_of(run.at_ns)[:19].replace("T", " ")
    sizes = (f"{run.stdout_bytes:,}", f"{run.stderr_bytes:,}")
    shown = (moment, run.tool, program, str(run.exit), f"{run.ms:,}", *sizes)
    return tuple(map(printable, (*shown, " ".join(run.env_keys) or "-")))


def _day(given: str | None) -> str | None:
    if given is None:
        return None
    found = _DAY.fullmatch(given)
    try:
        written_out = None if found is None else date(*map(int, found.groups()))
    except ValueError:
        written_out = None
    if written_out is None:
        raise UsageError(f"--day {given}: it is no day; write for example 20260801")
    return given


def _since(given: str | None, now: datetime) -> int:
    """Nanoseconds since 1970."""
    if given is None:
        return 0
    ago = _AGO.fullmatch(given)
    if ago is not None:
        seconds = int(ago.group(1)) * _UNITS[ago.group(2)]
        return max(0, int(now.timestamp()) - seconds) * _NANOSECONDS
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        raise UsageError(
            f"--since {given}: it is no moment; write for example 2h, 2026-08-01 or"
            " 2026-08-01T10:00"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0, int(moment.timestamp())) * _NANOSECONDS


def most_of(given: str | None) -> int | None:
    """What `--limit` says."""
    if given is None:
        return None
    if not given.isascii() or not given.isdigit() or not int(given):
        raise UsageError(f"--limit {given}: it is no number; give 1 or more")
    return int(given)
