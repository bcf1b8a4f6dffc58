"""Bringing the files of a session here, to take it up: a copy of its own, as the journal names it.

How files are read and made is not known here, nor when they are kept.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from anyio import CancelScope, sleep, to_thread

from holdfast.app import copies
from holdfast.app.carrying import (
    CarriedWorkspace,
    Ground,
    beating,
    carried_store,
    copies_folder,
    is_carried,
    opened_store,
)
from holdfast.app.holders import is_gone, lives_elsewhere, new_holder
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings
from holdfast.app.store import session_log
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.carried import CarriedStore
from holdfast.contract.events import SessionCreated
from holdfast.contract.journal import (
    EventQuery,
    Journal,
    JournalError,
    LeaseHeld,
    UnknownSession,
)
from holdfast.contract.session_state import CarriedFiles, SessionState
from holdfast.contract.wake_events import CARRIED_KINDS, WorkspaceLost
from holdfast.execution.files import carried_list, packing, unpacking
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.session_log import SessionLog

_ELSEWHERE = (
    "the files of session {0} are on another machine, in {1}, as they could not be kept; it is run"
    " there, or anywhere once they are small enough to be kept"
)
_NO_PLACE = "the files of session {0} cannot be made again in {1}: {2}"
_TIDY_SECONDS = 3600.0
_OF_FILES = tuple(str(kind.__struct_config__.tag) for kind in CARRIED_KINDS)
_log = logging.getLogger("holdfast")

_NOWHERE = "the files of session {0} were never kept, and {1} is no directory of this machine"
_DROPPED = (
    "an older holdfast wrote to session {0} and dropped where its files are; end all older ones,"
    " then: holdfast sessions rebuild {0} --repair"
)
_DAMAGED = "the files of session {0} cannot be made again: {1}; restore the store from a copy"


class NotHere(ConfigurationError):
    """It cannot be run here now; somewhere else it may be."""


class Brought(NamedTuple):
    """Where the files of a session are now."""

    session_id: str
    path: str
    known: "packing.Packed | None"
    files: CarriedFiles


async def bring(ground: Ground, session_id: str) -> Brought:
    """Have the files of a session here, as the journal names them, to take it up.

    LeaseHeld while somebody runs it; NotHere, ConfigurationError, JournalError.
    """
    home = ground.home(session_id)
    async with _held(ground, session_id) as log, carried_store(ground) as store:
        await to_thread.run_sync(copies.used, home)
        journal = await log.journal()
        state = (await journal.session(session_id)).state
        return await beating(log, lambda: _brought(_Bringing(ground, log, store), state))


async def brought_to(settings: Settings, session_id: str) -> str | None:
    """Where the files of a session are on this machine from here on; None: they are not carried.

    As `bring`, for whoever has nothing open yet.
    """
    if not is_carried(settings):
        return None
    clock = SystemClock()
    around = surroundings_of_this_process(settings)
    return (await bring(Ground(settings, around, clock, TimeIds(clock)), session_id)).path


class _Bringing(NamedTuple):
    ground: Ground
    log: SessionLog
    store: CarriedStore


async def _brought(by: _Bringing, state: SessionState) -> Brought:
    session_id = by.log.session_id
    home = by.ground.home(session_id)
    files = state.files
    if files is not None and files.stays is not None:
        if not await to_thread.run_sync(copies.is_place, home, files.stays, files.path):
            raise NotHere(_ELSEWHERE.format(session_id, files.path))
        return Brought(session_id, files.path, None, files)
    if files is None:
        files = await _first(by, state)
    name = files.snapshot or ""
    copy = home / copies.FILES
    known = await _look(by.ground, copy)
    if known is None or known.name != name:
        try:
            await _make_again(by, home, name)
        except OSError as problem:
            told = problem.strerror or str(problem)
            raise NotHere(_NO_PLACE.format(session_id, home, told)) from None
        known = await _look(by.ground, copy)
    if known is not None and known.name != name:
        known = None  # whatever else is here by now is in no store yet
    if files.effects:
        lost = WorkspaceLost(snapshot=name, path=files.path, calls=files.effects)
        await by.log.append([lost], in_run=False)
        files = CarriedFiles(snapshot=name, path=files.path)
    return Brought(session_id, str(copy), known, files)


async def _look(ground: Ground, copy: Path) -> "packing.Packed | None":
    """What is in a copy; None: nothing that could be used."""
    now_ns = ground.clock.unix_ns()
    return await to_thread.run_sync(copies.look_at, copy, ground.limits, now_ns)


async def _first(by: _Bringing, state: SessionState) -> CarriedFiles:
    """Keep the files of one that was begun without: those where it was begun, if that is here."""
    session_id = by.log.session_id
    journal = await by.log.journal()
    if await journal.find(session_id, EventQuery(types=_OF_FILES, limit=1)):
        raise ConfigurationError(_DROPPED.format(session_id))
    place = state.workspace
    if place is None or not await to_thread.run_sync(Path(place).is_dir):
        raise NotHere(_NOWHERE.format(session_id, place))
    await CarriedWorkspace(by.ground, by.log, place).keep()
    files = (await journal.session(session_id)).state.files
    assert files is not None
    if files.stays is not None:  # it cannot be copied either
        raise NotHere(_ELSEWHERE.format(session_id, place))
    return files


async def _make_again(by: _Bringing, home: Path, name: str) -> None:
    """The files of a snapshot in a new folder, which takes the copy's place. ConfigurationError."""
    session_id = by.log.session_id
    staged = await to_thread.run_sync(copies.new_folder, home)
    try:
        content = (await by.store.read(session_id, [name])).get(name, b"")
        entries = await to_thread.run_sync(carried_list.entries_of, content, name)
        work = unpacking.Unpacking(str(staged), entries)
        await to_thread.run_sync(work.begin)
        for batch in work.batches():
            pieces = await by.store.read(session_id, {one.name for one in batch})
            await to_thread.run_sync(work.write, batch, pieces)
        await to_thread.run_sync(work.finish)
        await to_thread.run_sync(copies.exchange, home, staged)
    except carried_list.UnusableList as problem:
        raise ConfigurationError(_DAMAGED.format(session_id, problem)) from None
    finally:
        await to_thread.run_sync(copies.remove, staged)  # where it did not come to that


@asynccontextmanager
async def _held(ground: Ground, session_id: str) -> AsyncGenerator[SessionLog]:
    """With the right to run it, given back at the end; LeaseHeld."""
    created = SessionCreated(agent_id="carried")  # of an agent's session, as to its times
    log = session_log(*ground[:2], created, session_id, ground.clock, ground.ids)
    assert log is not None
    try:
        await log.take_up(is_gone, lives_elsewhere)
        yield log
    finally:
        with CancelScope(shield=True):
            await log.close(ends=False)


async def tidied(ground: Ground) -> None:
    """Remove copies that nobody used for long, from time to time, until this is cancelled."""
    while True:
        try:
            async with opened_store(ground) as store:
                await tidy(ground, store.journal)
        except (JournalError, OSError) as problem:
            _log.warning("old copies of workspaces are not looked for: %s", problem)
        await sleep(_TIDY_SECONDS)


async def tidy(ground: Ground, journal: Journal) -> None:
    """Remove the copies that nobody used for long. Files that are nowhere else stay; JournalError.

    What is removed is made again when it is wanted.
    """
    before = ground.clock.unix_ns() - copies.UNUSED_NS
    for home in await to_thread.run_sync(copies.unused, copies_folder(ground), before):
        try:
            state = (await journal.session(home.name)).state
            stays = state.files is not None and state.files.stays is not None
            lease = None if stays else await journal.lease(home.name, new_holder(), _TIDY_SECONDS)
        except LeaseHeld:
            continue
        except UnknownSession:
            stays, lease = await to_thread.run_sync(copies.is_marked, home), None
        if not stays:
            await to_thread.run_sync(copies.remove, home)
        if lease is not None:
            await journal.release(lease)
