"""Workspaces that travel: kept in the store when a run ends, and made again where it goes on.

Whoever begins a session works in the folder that it was begun in. Whoever takes it up works in a
copy of its own, which is used only where it is what the journal names. How files are read and made
is not known here.
"""

import logging
import os
import secrets
import shutil
import stat
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from anyio import CancelScope, to_thread

from holdfast.app.assembly import Whole
from holdfast.app.holders import is_gone, lives_elsewhere
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.store import session_log, shared_store
from holdfast.contract.carried import CarriedStore
from holdfast.contract.events import SessionCreated
from holdfast.contract.journal import Journal, JournalError, LeaseHeld
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.session_state import CarriedFiles, SessionState
from holdfast.contract.wake_events import WorkspaceKept, WorkspaceLost, WorkspaceStays
from holdfast.execution.drive import Delayed
from holdfast.execution.files import carried_list, packing, unpacking
from holdfast.runtime.session_log import SessionLog

_log = logging.getLogger("holdfast")
_T = TypeVar("_T")

FILES = "files"
SET_ASIDE = "set-aside"
STAYS = "stays"
_STAGED = "staged-"
_END_SECONDS = 5.0

_ELSEWHERE = (
    "the files of session {0} are on another machine, in {1}, as they could not be kept; it is run"
    " there, or anywhere once they are small enough to be kept"
)
_NOWHERE = "the files of session {0} were never kept, and {1} is no directory of this machine"
_WENT_ON = "session {0} went on elsewhere meanwhile, with its files; open it again to go on here"
_DAMAGED = "the files of session {0} cannot be made again: {1}; restore the store from a copy"


class FilesElsewhere(ConfigurationError):
    """Another machine has the files, and can run the session."""


class WentOn(LeaseHeld):
    """Somebody else has run the session since it was opened here: what is here is old."""


class Ground(NamedTuple):
    """What carrying stands on."""

    settings: Settings
    surroundings: Surroundings
    clock: Clock
    ids: IdSource

    @property
    def limits(self) -> "packing.PackLimits":
        """How much is carried."""
        cluster = self.settings.cluster
        return packing.PackLimits(
            bytes=cluster.workspace_bytes,
            files=cluster.workspace_files,
            ignore=cluster.workspace_ignore,
        )

    def home(self, session_id: str) -> Path:
        """Where the copy of a session is, and what is known of it; ConfigurationError."""
        home = copies_folder(self) / session_id
        if home.name != session_id or not session_id.strip("."):
            raise ConfigurationError(f"{session_id!r} is no name of a folder: it is not carried")
        return home


def is_carried(settings: Settings) -> bool:
    """Whether workspaces travel."""
    return settings.engine.kind == "cluster" and settings.cluster.workspaces == "carried"


def copies_folder(ground: Ground) -> Path:
    """Where the copies of a tenant are: outside of what holdfast keeps to itself."""
    cluster, around = ground.settings.cluster, ground.surroundings
    if cluster.workspaces_folder is not None:
        return Path(cluster.workspaces_folder) / cluster.own
    outermost = around.data_home
    config = around.config_home
    if config is not None and outermost.is_relative_to(config):
        outermost = config
    return outermost.with_name(f"{outermost.name}-workspaces") / cluster.own


class CarriedWorkspace:
    """The workspace of a session that is open here. Used on one event loop."""

    def __init__(self, ground: Ground, log: SessionLog, path: str) -> None:
        self._ground = ground
        self._log = log
        self._path = path
        self._root = _identity(path)
        self._known: packing.Packed | None = None
        self._files: CarriedFiles | None = None
        """As the journal told it last."""
        self._looked = False

    async def begin(self) -> None:
        """Before anything is said: where nothing was ever kept, it is kept. JournalError.

        Whoever is told what was said may be on another machine.
        """
        if not self._looked:
            journal = await self._log.journal()
            if (await journal.session(self._log.session_id)).state.files is None:
                await self.keep()

    async def check(self) -> None:
        """Before a run: what is here is what the journal names. WentOn, JournalError."""
        await self.begin()
        journal = await self._log.journal()
        files = (await journal.session(self._log.session_id)).state.files
        if await to_thread.run_sync(_identity, self._path) != self._root:
            raise self._went_on()
        self._check_known(files)
        self._files, self._looked = files, True

    async def keep(self) -> None:
        """Behind a run: keep what changed, and say so, as the one who runs it. JournalError."""
        journal = await self._log.journal()
        async with _carried_store(self._ground) as store:
            await self._keep(journal, store)

    async def _keep(self, journal: Journal, store: CarriedStore) -> None:
        session_id = self._log.session_id
        before = (await journal.session(session_id)).state.files
        self._check_known(before)
        try:
            packed, added = await _beating(self._log, lambda: self._packed(store))
        except (packing.NotKeepable, OSError) as problem:
            if before is None or before.stays is None or before.effects:
                await self._stay(str(problem))
            return
        self._known = packed
        now = CarriedFiles(snapshot=packed.name, path=self._path)
        if before != now:
            await store.put(session_id, {packed.name: packed.content})
            kept = WorkspaceKept(
                snapshot=packed.name,
                path=self._path,
                files=packed.files,
                bytes=packed.bytes,
                added_bytes=added,
                left_out=packed.left_out,
            )
            await self._log.append([kept], in_run=False)
            lease = self._log.right.lease
            if lease is not None:
                await store.keep_only(session_id, packed.pieces, epoch=lease.epoch)
        self._files, self._looked = now, True

    def _check_known(self, files: CarriedFiles | None) -> None:
        """What is here is no older than what the journal names, or it would take its place."""
        if files is not None and not (self._looked and _place(files) == _place(self._files)):
            raise self._went_on()

    def _went_on(self) -> WentOn:
        lease = self._log.right.lease
        assert lease is not None  # whoever asks has it
        return WentOn(_WENT_ON.format(self._log.session_id), lease)

    async def _packed(self, store: CarriedStore) -> "tuple[packing.Packed, int]":
        """What is there, with all pieces in the store; how many bytes of them are new."""
        before = self._known
        look = packing.Packing(
            self._path,
            self._ground.limits,
            self._ground.clock.unix_ns(),
            None if before is None else before.known,
        )
        stored: frozenset[str] = frozenset() if before is None else before.pieces
        added = 0
        batches = look.batches(stored)
        while batch := await to_thread.run_sync(next, batches, None):
            await store.put(self._log.session_id, batch)
            added += sum(map(len, batch.values()))
        return await to_thread.run_sync(lambda: look.packed), added

    async def _stay(self, reason: str) -> None:
        place = secrets.token_hex(8)
        home = self._ground.home(self._log.session_id)
        await to_thread.run_sync(_write_place, home, place)
        _log.warning(
            "the files of session %s stay here, in %s: %s",
            *(self._log.session_id, self._path, reason),
        )
        stays = WorkspaceStays(
            place=place, machine=os.uname().nodename, path=self._path, reason=reason
        )
        await self._log.append([stays], in_run=False)
        self._files, self._looked = CarriedFiles(path=self._path, stays=place), True

    def is_as(self, brought: "Brought") -> None:
        """It is what was brought here: only what changes is read, and anything newer is noticed."""
        self._known, self._files, self._looked = brought.known, brought.files, True


def ground_of(parts: Whole) -> Ground:
    """What an open `Holdfast` stands on."""
    settings = parts.configuration.settings
    return Ground(settings, parts.surroundings, parts.clock, parts.ids)


def workspace_of(parts: Whole) -> CarriedWorkspace | None:
    """The workspace of a session that was opened; None: it is not carried.

    Subagents work in that of the session above them.
    """
    path, log = parts.session.workspace, parts.log
    bound = parts.wanted.options.get("above") is not None
    if bound or path is None or log is None or not is_carried(parts.configuration.settings):
        return None
    return CarriedWorkspace(ground_of(parts), log, path)


async def kept(workspace: CarriedWorkspace) -> JournalError | None:
    """Keep it also behind a run that was stopped or failed: somebody else may go on. Why not."""
    with CancelScope(shield=True):
        try:
            await workspace.keep()
        except JournalError as problem:
            return problem
    return None


class Brought(NamedTuple):
    """Where the files of a session are now."""

    path: str
    known: "packing.Packed | None"
    files: CarriedFiles


async def bring(ground: Ground, session_id: str) -> Brought:
    """Have the files of a session here, as the journal names them, to take it up.

    LeaseHeld while somebody runs it; FilesElsewhere, ConfigurationError, JournalError.
    """
    async with _held(ground, session_id) as log, _carried_store(ground) as store:
        journal = await log.journal()
        state = (await journal.session(session_id)).state
        return await _beating(log, lambda: _brought(_Bringing(ground, log, store), state))


class _Bringing(NamedTuple):
    ground: Ground
    log: SessionLog
    store: CarriedStore


async def _brought(by: _Bringing, state: SessionState) -> Brought:
    session_id = by.log.session_id
    home = by.ground.home(session_id)
    files = state.files
    if files is not None and files.stays is not None:
        if not await to_thread.run_sync(_is_place, home, files.stays, files.path):
            raise FilesElsewhere(_ELSEWHERE.format(session_id, files.path))
        return Brought(files.path, None, files)
    if files is None:
        files = await _first(by, state)
    name = files.snapshot or ""
    copy = home / FILES
    known = await to_thread.run_sync(_look, copy, by.ground)
    if known is None or known.name != name:
        staged = await _made_again(by, home, name)
        here = files.effects > 0 and files.path == str(copy)
        await to_thread.run_sync(_exchange, home, staged, here)
        known = await to_thread.run_sync(_look, copy, by.ground)
    if files.effects:
        lost = WorkspaceLost(snapshot=name, path=files.path, calls=files.effects)
        await by.log.append([lost], in_run=False)
        files = CarriedFiles(snapshot=name, path=files.path)
    return Brought(str(copy), known, files)


async def _first(by: _Bringing, state: SessionState) -> CarriedFiles:
    """Keep the files of one that was begun without: those where it was begun, if that is here."""
    session_id = by.log.session_id
    place = state.workspace
    if place is None or not await to_thread.run_sync(Path(place).is_dir):
        raise FilesElsewhere(_NOWHERE.format(session_id, place))
    await CarriedWorkspace(by.ground, by.log, place).keep()
    journal = await by.log.journal()
    files = (await journal.session(session_id)).state.files
    assert files is not None
    if files.stays is not None:  # it cannot be copied either
        raise FilesElsewhere(_ELSEWHERE.format(session_id, place))
    return files


async def _made_again(by: _Bringing, home: Path, name: str) -> Path:
    """The files of a snapshot in a new folder beside the copy; ConfigurationError."""
    session_id = by.log.session_id
    staged = await to_thread.run_sync(_new_folder, home)
    try:
        content = (await by.store.read(session_id, [name])).get(name, b"")
        entries = await to_thread.run_sync(carried_list.entries_of, content, name)
        work = unpacking.Unpacking(str(staged), entries)
        await to_thread.run_sync(work.begin)
        for batch in work.batches():
            pieces = await by.store.read(session_id, {one.name for one in batch})
            await to_thread.run_sync(work.write, batch, pieces)
        await to_thread.run_sync(work.finish)
    except carried_list.UnusableList as problem:
        raise ConfigurationError(_DAMAGED.format(session_id, problem)) from None
    except OSError as problem:
        told = f"{home}: {problem.strerror or problem}"
        raise ConfigurationError(
            f"the files of session {session_id} cannot be made again here: {told}"
        ) from None
    return staged


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


@asynccontextmanager
async def _carried_store(ground: Ground) -> AsyncGenerator[CarriedStore]:
    store = await shared_store(*ground)
    assert store.carried is not None  # every store that is kept has one
    try:
        yield store.carried
    finally:
        with CancelScope(shield=True):
            await store.journal.close()


async def _beating(log: SessionLog, work: Callable[[], Awaitable[_T]]) -> _T:
    """Do something that takes its time, and keep the right to run the session meanwhile.

    Where that is lost, the next append says so.
    """

    async def beat() -> None:
        await log.beating()

    beating = Delayed(0, beat)
    try:
        return await work()
    finally:
        with CancelScope(shield=True):
            await beating.end(_END_SECONDS)


def _look(copy: Path, ground: Ground) -> "packing.Packed | None":
    """What is in a copy; None: nothing that could be used."""
    look = packing.Packing(str(copy), ground.limits, ground.clock.unix_ns())
    try:
        for _batch in look.batches(frozenset()):
            pass
    except (OSError, packing.NotKeepable):
        return None
    return look.packed


def _new_folder(home: Path) -> Path:
    """An empty one for files that are made again; what an attempt before has left goes."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in home.glob(f"{_STAGED}*"):
        _remove(left)
    staged = home / f"{_STAGED}{secrets.token_hex(6)}"
    staged.mkdir(mode=0o700)
    return staged


def _exchange(home: Path, staged: Path, keep: bool) -> None:  # noqa: FBT001 - called by a thread
    """What was made stands where the copy was. A program that ends in between leaves no copy."""
    copy, aside = home / FILES, home / SET_ASIDE
    if copy.is_symlink() or copy.exists():
        _remove(aside)
        copy.rename(aside)
    staged.rename(copy)
    if keep and aside.exists():
        _log.warning("what was changed in %s and not kept is in %s", copy, aside)
    else:
        _remove(aside)


def _remove(folder: Path) -> None:
    """Through no link; what cannot go stays."""
    with suppress(OSError):
        if folder.is_symlink():
            folder.unlink()
        for inner in _closed_folders(folder):
            inner.chmod(0o700)
        shutil.rmtree(folder)


def _closed_folders(folder: Path) -> Iterator[Path]:
    for place, inner, _files in os.walk(folder):
        for name in inner:
            found = Path(place, name)
            if not found.is_symlink() and found.stat().st_mode & 0o700 != 0o700:
                yield found


def remove_copy(ground: Ground, session_id: str) -> None:
    """The session is gone: so is what it had here. Blocking."""
    with suppress(ConfigurationError):
        _remove(ground.home(session_id))


def _write_place(home: Path, place: str) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = home / f".{STAYS}"
    part.write_text(place, encoding="ascii")
    part.replace(home / STAYS)


def _is_place(home: Path, place: str, path: str) -> bool:
    try:
        return (home / STAYS).read_text(encoding="ascii") == place and Path(path).is_dir()
    except (OSError, UnicodeDecodeError):
        return False


def _identity(path: str) -> tuple[int, int] | None:
    """Which folder stands there; None: none does."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


def _place(files: CarriedFiles | None) -> tuple[str | None, str, str | None] | None:
    return None if files is None else (files.snapshot, files.path, files.stays)
