"""`holdfast undo`: put back what a session's calls changed, newest first.

Exit status: 0 all is as it was before, 1 something was left as it is, 2 it was not understood.
"""

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import anyio

from holdfast.app import session_store
from holdfast.app.configuration import load_configuration
from holdfast.app.environment import variables
from holdfast.app.locations import data_home
from holdfast.app.own_files import check_home
from holdfast.app.session_store import NothingStored
from holdfast.app.undo import (
    NoSuchSession,
    last_changed_below,
    session_called,
    sessions_with_changes,
    undo_of,
)
from holdfast.contract.archive import LAST
from holdfast.contract.journal import JournalError, UnknownSession
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.execution.files.kept import DamagedRecord
from holdfast.execution.files.undo import RecordedCall, Restored
from holdfast.record.store import Store
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.last_session import last_session
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.parsing import Parser, UsageError
from holdfast.surfaces.cli.screen import Screen

_ALL = "all"
_LEFT_ALONE = 1
_NONE_HERE = (
    "last is the last session of this workspace, and none has changed anything in {0}; nothing was"
    " changed"
)
_EXAMPLES = """\
examples:
  holdfast undo last            take back the last call of the last session here
  holdfast undo last 3          its last three calls
  holdfast undo ses_019 all     everything the session changed
  holdfast undo last --list     show its calls, the newest first
  holdfast undo last --redo     take the last undo back

A file that somebody else changed since is named and left alone, unless you give --force.
"""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument(
        "session", metavar="SESSION", nargs="?", help="the id, its beginning, or last"
    )
    parser.add_argument(
        "count", metavar="N", nargs="?", default="1", help="how many calls, or all; 1 by default"
    )
    parser.add_argument("--list", action="store_true", help="show what can be taken back")
    parser.add_argument("--redo", action="store_true", help="take undos back instead of calls")
    parser.add_argument(
        "--force", action="store_true", help="also where somebody else changed a file since"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document, for programs")
    parser.offer("session", [LAST])
    parser.offer("count", [_ALL])
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    if arguments.list and (arguments.force or arguments.redo or arguments.count != "1"):
        raise UsageError("--list only shows; leave N, --force and --redo out; nothing was changed")
    count = _count(arguments.count)
    check_home(variables())
    home = data_home(variables())
    if arguments.session is None:
        if arguments.list:
            return _list_sessions(sessions_with_changes(home), screen, as_json=arguments.json)
        raise UsageError("which session? write: holdfast undo last; --list shows them")
    session = _found(home, arguments.session)
    undo = undo_of(home, session.id)
    try:
        if arguments.list:
            return _list_calls(session, undo.calls(), screen, as_json=arguments.json)
        restored = undo.restore(count, force=arguments.force, redo=arguments.redo)
    except (OSError, DamagedRecord) as problem:
        return _unreadable(problem, session.id, screen, as_json=arguments.json)
    return _told(session, restored, screen, as_json=arguments.json)


def _count(written: str) -> int | None:
    if written == _ALL:
        return None
    if not written.isascii() or not written.isdigit() or not int(written):
        raise UsageError(f"{written!r} is no number of calls; give 1 or more, or all")
    return int(written)


class _Meant(NamedTuple):
    """A session whose changes are taken back."""

    id: str
    workspace: str | None
    """Where it worked, as far as that is known."""

    @property
    def shown(self) -> str:
        """It, and where."""
        return f"session {self.id}" + ("" if self.workspace is None else f" in {self.workspace}")


def _found(home: Path, name: str) -> _Meant:
    """The session that is meant; UsageError."""
    here = str(Path().resolve())
    try:
        if name == LAST:
            return anyio.run(_last, here)
        return anyio.run(_known, session_called(home, name))
    except (NoSuchSession, UnknownSession) as problem:
        raise UsageError(f"{problem}; nothing was changed") from None
    except _NoStore:
        if name != LAST:
            return _Meant(session_called(home, name), None)
    found = last_changed_below(home, Path(here))
    if found is None:
        raise UsageError(_NONE_HERE.format(here))
    return _Meant(found, here)


class _NoStore(Exception):
    """No store says what is known of sessions."""


@asynccontextmanager
async def _store() -> AsyncGenerator[Store]:
    settings = load_configuration(".").settings
    if settings.store.kind == "none":
        raise _NoStore
    try:
        async with session_store.opened_store(settings) as store:
            yield store
    except NothingStored:
        raise _NoStore from None
    except UnknownSession:
        raise
    except JournalError:
        raise _NoStore from None  # what was changed can be taken back without it


async def _last(here: str) -> _Meant:
    async with _store() as store:
        found = await last_session(store.archive, here)
        return _Meant(found.id, found.state.workspace or here)


async def _known(session_id: str) -> _Meant:
    async with _store() as store:
        try:
            session = await store.journal.session(session_id)
        except UnknownSession:
            return _Meant(session_id, None)
        return _Meant(session_id, session.state.workspace)


def _unreadable(
    problem: OSError | DamagedRecord, session: str, screen: Screen, *, as_json: bool
) -> int:
    why = problem.strerror if isinstance(problem, OSError) else str(problem)
    said = f"the changes of {session} cannot be read ({why}); nothing was changed"
    screen.remark(said)
    if as_json:
        screen.document({"error": said})
    return _LEFT_ALONE


def _told(session: _Meant, restored: tuple[Restored, ...], screen: Screen, *, as_json: bool) -> int:
    conflicts = [one for one in restored if one.outcome == "conflict"]
    if as_json:
        listed: list[JsonValue] = [_plain(one) for one in restored]
        screen.document(_document(session, "restored", listed))
    elif restored:
        screen.raw(printable(session.shown))
        for one in restored:
            because = f": {one.reason}" if one.reason else ""
            screen.raw(printable(f"{_WORDS[one.outcome]} {one.path}{because}"))
    else:
        screen.raw(_nothing(session))
    if conflicts:
        screen.remark(
            f"left alone: {len(conflicts)} of {counted(len(restored), 'change')};"
            " give --force to put back also what somebody else changed"
        )
    return _LEFT_ALONE if conflicts else 0


_WORDS = {
    "restored": "put back:      ",
    "already": "as it was:     ",
    "conflict": "left as it is: ",
}


def _plain(one: Restored) -> JsonObject:
    return {
        "path": one.path,
        "call": one.call_id,
        "change": one.number,
        "outcome": one.outcome,
        "reason": one.reason,
    }


def _list_sessions(sessions: tuple[str, ...], screen: Screen, *, as_json: bool) -> int:
    if as_json:
        screen.document({"sessions": list(sessions)})
    elif sessions:
        for session in sessions:
            screen.raw(printable(session))
    else:
        screen.raw("No session has changed anything.")
    return 0


def _list_calls(
    session: _Meant, calls: tuple[RecordedCall, ...], screen: Screen, *, as_json: bool
) -> int:
    if as_json:
        listed: list[JsonValue] = [_plain_call(call) for call in calls]
        screen.document(_document(session, "calls", listed))
    elif calls:
        screen.raw(printable(session.shown))
        screen.look.table(("CALL", "TOOL", "WHEN", "STATE", "PATHS"), [_row(one) for one in calls])
    else:
        screen.raw(_nothing(session))
    return 0


def _nothing(session: _Meant) -> str:
    said = f"There is nothing to take back in {session.shown}."
    return printable(f"{said} holdfast undo --list shows the sessions that changed something.")


def _document(session: _Meant, what: str, listed: list[JsonValue]) -> JsonObject:
    return {"session": session.id, "workspace": session.workspace, what: listed}


def _row(call: RecordedCall) -> tuple[str, ...]:
    paths = _paths(call)
    shown = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    tool = "undo" if call.takes_back else call.tool
    when = f"{_moment(call):%Y-%m-%d %H:%M} UTC"
    return tuple(map(printable, (call.id, tool, when, _state(call), shown)))


def _plain_call(call: RecordedCall) -> JsonObject:
    paths: list[JsonValue] = [*_paths(call)]
    return {
        "call": call.id,
        "tool": call.tool,
        "at": _moment(call).isoformat(),
        "state": _state(call),
        "is_undo": call.takes_back,
        "paths": paths,
    }


def _paths(call: RecordedCall) -> list[str]:
    return sorted({change.path for change in call.changes})


def _moment(call: RecordedCall) -> datetime:
    return datetime.fromtimestamp(call.at_ns / 1e9, UTC)


def _state(call: RecordedCall) -> str:
    return "taken back" if call.undone else "in effect"
