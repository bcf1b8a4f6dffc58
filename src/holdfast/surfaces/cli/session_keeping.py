"""`holdfast sessions export`, `import`, `delete` and `rebuild`: whole sessions in and out."""

import sys
from argparse import Namespace
from functools import partial
from pathlib import Path

from anyio import to_thread

from holdfast.app import session_store
from holdfast.app.session_files import (
    Pages,
    chat_pages,
    journal_pages,
    read_path,
    write_file,
    write_folder,
)
from holdfast.contract.archive import Difference, EventTaken
from holdfast.contract.journal import JournalError, Session, UnknownSession
from holdfast.contract.json_value import JsonObject, JsonValue, plain
from holdfast.record.importing import Imported, UnreadableExport, check_names, read_journal, renamed
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.last_session import session_meant
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.person import agrees
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.session_list import cut
from holdfast.surfaces.cli.stores import store_in

_FAILED = 1
_STANDARD_INPUT = "-"
_VALUE_CHARACTERS = 60
_NEW_NAMES = "nothing was imported: give --as-new to have it under new ids"


async def export(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    form: str = arguments.form or "events"
    to: str | None = arguments.to
    if form == "folder" and to is None:
        raise UsageError("where to? write: holdfast sessions export ID --form folder --to FOLDER")
    async with store_in(arguments) as store:
        session_id = await session_meant(store.archive, arguments.words[0], arguments)
        session = await store.journal.session(session_id)
        if to is None:
            async for page in _pages(store, session, form):
                for line in page:
                    screen.raw(line.decode())
            return 0
        await _written(Path(to), form, store, session)
    if arguments.json:
        told: JsonObject = {"session": session_id, "form": form, "path": to}
        screen.document({**told, "events": session.sequence})
    else:
        screen.raw(f"{session_id} is in {to} now ({counted(session.sequence, 'event')}).")
    return 0


def _pages(store: Store, session: Session, form: str) -> Pages:
    return chat_pages(store, session) if form == "chat" else journal_pages(store, session)


async def _written(path: Path, form: str, store: Store, session: Session) -> None:
    try:
        if form == "folder":
            await write_folder(path, store, session)
        else:
            await write_file(path, _pages(store, session, form))
    except FileExistsError:
        raise UsageError(
            f"--to {path}: there is something already, and nothing is written over; name"
            " something new"
        ) from None
    except OSError as problem:
        raise JournalError(
            f"{path} cannot be written ({problem.strerror}); check the path and the room there is"
        ) from None


async def import_(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    given: str = arguments.words[0]
    told = await to_thread.run_sync(_read, given)
    for remark in told.remarks:
        screen.remark(f"{given}: {remark}")
    if arguments.as_new:
        ids = TimeIds(SystemClock())
        told = renamed(told, ids.new("ses"), partial(ids.new, "evt"))
    else:
        _check_names(told, given)
    async with store_in(arguments, make=True) as store:
        if await _is_known(store, told.session_id):
            raise JournalError(
                f"there is a session {told.session_id} already; give --as-new to have it under a"
                f" new id, or first: holdfast sessions delete {told.session_id}"
            )
        try:
            await store.archive.restore(told.session_id, told.events)
        except EventTaken as problem:
            line = told.line_of(problem.event_id)
            raise JournalError(f"{given}: {line}: {problem}; {_NEW_NAMES}") from None
    if arguments.json:
        screen.document({"session": told.session_id, "events": len(told.events)})
    else:
        screen.raw(f"{told.session_id} is here now ({counted(len(told.events), 'event')}).")
    return 0


def _check_names(told: Imported, given: str) -> None:
    try:
        check_names(told)
    except UnreadableExport as problem:
        raise UnreadableExport(f"{given}: {problem}; {_NEW_NAMES}") from None


async def _is_known(store: Store, session_id: str) -> bool:
    try:
        await store.journal.session(session_id)
    except UnknownSession:
        return False
    return True


def _read(given: str) -> Imported:
    try:
        if given == _STANDARD_INPUT:
            return read_journal(sys.stdin.buffer.read())
        return read_path(Path(given))
    except (FileNotFoundError, NotADirectoryError) as problem:
        raise UsageError(f"{problem.filename}: there is no such file; check the path") from None
    except OSError as problem:
        raise JournalError(f"{given} cannot be read ({problem.strerror})") from None
    except UnreadableExport as problem:
        raise UnreadableExport(f"{given}: {problem}; nothing was imported") from None


async def delete(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    async with store_in(arguments) as store:
        session_id = await session_meant(store.archive, arguments.words[0], arguments)
        if not arguments.yes:
            session = await store.journal.session(session_id)
            if not await to_thread.run_sync(_agreed, session, screen):
                if arguments.json:
                    screen.document({"session": session_id, "deleted": False})
                return _FAILED
        left = await session_store.delete_session(store, session_id)
    if left is not None:
        screen.remark(left)
    if arguments.json:
        screen.document({"session": session_id, "deleted": True, "left": left})
    else:
        screen.raw(f"{session_id} is deleted.")
    return 0 if left is None else _FAILED


def _agreed(session: Session, screen: Screen) -> bool:
    title = f", {cut(session.state.title, _VALUE_CHARACTERS)!r}" if session.state.title else ""
    events = counted(session.sequence, "event")
    return agrees(
        f"Delete {session.id}{title}, {events}, for good?",
        screen,
        unasked="nobody is there to agree; give --yes to delete it",
        otherwise="nothing was deleted",
    )


async def rebuild(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    async with store_in(arguments) as store:
        session_id = await session_meant(store.archive, arguments.words[0], arguments)
        found = await store.archive.rebuild(session_id, repair=arguments.repair)
    if arguments.json:
        differences: list[JsonValue] = [plain(one) for one in found]
        repaired = bool(found) and arguments.repair
        screen.document({"session": session_id, "differences": differences, "repaired": repaired})
    elif found:
        screen.look.table(("WHERE", "KEPT", "THE EVENTS SAY"), [_row(one) for one in found])
        screen.raw("It was put right." if arguments.repair else "Put it right with --repair.")
    else:
        screen.raw(f"{session_id}: everything is what its events add up to.")
    return _FAILED if found and not arguments.repair else 0


def _row(one: Difference) -> tuple[str, ...]:
    shown = (one.what, one.kept or "nothing", one.wanted or "nothing")
    return tuple(cut(value, _VALUE_CHARACTERS) for value in shown)
