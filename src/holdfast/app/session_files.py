"""Sessions as files: written for their owner alone, over nothing and through no link; read back.

What the files say is `record`'s to know.
"""

import os
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import msgspec
from anyio import to_thread

from holdfast.contract.events import Event
from holdfast.contract.journal import Session
from holdfast.record.export import (
    chat_head_line,
    event_line,
    head_line,
    message_lines,
    session_document,
    wake_line,
)
from holdfast.record.importing import (
    Imported,
    UnreadableExport,
    read_document,
    read_events,
    read_journal,
    untold_wakes,
)
from holdfast.record.store import Store
from holdfast.record.wakes import Wake, add_to

SESSION_FILE = "session.json"
EVENTS_FILE = "events.jsonl"
WAKES_FILE = "wake-queue.jsonl"

_PAGE = 500
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

Pages = AsyncIterator[Sequence[bytes]]
"""Lines, some at a time."""


async def journal_pages(store: Store, session: Session) -> Pages:
    """A session as one text: whose it is, then its events."""
    yield [head_line(session)]
    async for page in event_pages(store, session):
        yield page


async def event_pages(store: Store, session: Session) -> Pages:
    """Its events, up to where it stands."""
    async for page in all_events(store, session):
        yield [event_line(event) for event in page]


async def wake_pages(store: Store, session: Session) -> Pages:
    """The wakes that its events tell of."""
    wakes: dict[str, Wake] = {}
    async for page in all_events(store, session):
        add_to(wakes, page)
    yield [wake_line(session.id, wake) for wake in wakes.values()]


async def all_events(store: Store, session: Session) -> AsyncIterator[Sequence[Event]]:
    """What happened, up to where it stands, a page at a time."""
    after = 0
    while after < session.sequence:
        limit = min(_PAGE, session.sequence - after)
        page = await store.journal.events(session.id, after=after, limit=limit)
        if not page:
            return  # it was deleted meanwhile
        yield page
        after = page[-1].sequence


async def chat_pages(store: Store, session: Session) -> Pages:
    """Its conversation: the session, then each message followed by its parts."""
    yield [chat_head_line(session)]
    after = -1
    while page := await store.archive.messages(session.id, after=after, limit=_PAGE):
        yield [line for message in page for line in message_lines(session.id, message)]
        after = page[-1].number


async def write_file(path: Path, pages: Pages) -> None:
    """A new file; OSError, FileExistsError when there is anything of that name."""
    async with _new_file(path) as file:
        await _write(file, pages)


async def write_folder(path: Path, store: Store, session: Session) -> None:
    """A new folder with everything about a session, or none; OSError."""
    folder = await to_thread.run_sync(_new_folder, path)
    try:
        document = msgspec.json.format(msgspec.json.encode(session_document(session)), indent=2)
        async with _new_file(path / SESSION_FILE, folder) as file:
            await to_thread.run_sync(file.write, document + b"\n")
        async with _new_file(path / EVENTS_FILE, folder) as file:
            await _write(file, event_pages(store, session))
        async with _new_file(path / WAKES_FILE, folder) as file:
            await _write(file, wake_pages(store, session))
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    finally:
        os.close(folder)


def read_path(path: Path) -> Imported:
    """A session from a file or a folder. Blocking; OSError, UnreadableExport."""
    if not path.is_dir():
        return read_journal(path.read_bytes())
    session_id = read_document(_content(path / SESSION_FILE), SESSION_FILE)
    try:
        found = read_events(_content(path / EVENTS_FILE), session_id)
    except UnreadableExport as problem:
        raise UnreadableExport(f"{EVENTS_FILE}, {problem}") from None
    found = found._replace(before=f"{EVENTS_FILE}, line ")
    with suppress(FileNotFoundError):
        if untold_wakes(_content(path / WAKES_FILE), found):
            left = f"{WAKES_FILE} holds wakes that no event tells of; they were left out"
            return found._replace(remarks=(*found.remarks, left))
    return found


def _content(path: Path) -> bytes:
    """What is in a file of a folder that somebody else may have filled: no link is followed."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        return file.read()


def _new_folder(path: Path) -> int:
    path.mkdir(mode=0o700)
    return os.open(path, _FOLDER)


@asynccontextmanager
async def _new_file(path: Path, folder: int | None = None) -> AsyncGenerator[BinaryIO]:
    """A new file, for its owner alone; what could not be written whole is taken away again."""
    name = path if folder is None else path.name
    handle = os.open(name, _NEW_FILE, 0o600, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
    except BaseException:
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)
        raise


async def _write(file: BinaryIO, pages: Pages) -> None:
    async for page in pages:
        await to_thread.run_sync(file.write, b"".join(line + b"\n" for line in page))
