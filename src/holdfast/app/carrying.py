"""Workspaces that travel: kept in the store when a run ends, and made again where it goes on.

Whoever begins a session works in the folder that it was begun in. Whoever takes it up works in a
copy of its own, which is used only where it is what the journal names. How files are read and made
is not known here.
"""

import logging
import os
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from anyio import CancelScope, sleep, to_thread

from holdfast.app import copies
from holdfast.app.assembly import Whole
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.store import shared_store
from holdfast.contract.carried import CarriedStore
from holdfast.contract.journal import (
    Journal,
    JournalError,
    JournalUnavailable,
    JournalUnusable,
    LeaseHeld,
)
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.session_state import CarriedFiles
from holdfast.contract.wake_events import WorkspaceKept, WorkspaceStays
from holdfast.execution.drive import Delayed
from holdfast.execution.files import packing
from holdfast.record.store import Store
from holdfast.runtime.session_log import SessionLog

_log = logging.getLogger("holdfast")
_T = TypeVar("_T")

_END_SECONDS = 5.0
_AGAIN_SECONDS = 0.5

_NO_NOTE = (
    "{0}: {1}; files that cannot be kept have to be noted there, and these cannot: {2}; say with"
    " cluster.workspaces_folder where there is a place"
)
_WENT_ON = "session {0} went on elsewhere meanwhile, with its files; open it again to go on here"


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
        return Path(cluster.workspaces_folder).resolve() / cluster.own
    outermost = around.data_home.resolve()
    config = None if around.config_home is None else around.config_home.resolve()
    if config is not None and outermost.is_relative_to(config):
        outermost = config
    return outermost.with_name(f"{outermost.name}-workspaces") / cluster.own


class CarriedWorkspace:
    """The workspace of a session that is open here. Used on one event loop."""

    def __init__(
        self, ground: Ground, log: SessionLog, path: str, working: Callable[[], int] | None = None
    ) -> None:
        """``working``: how many go on there when a run has ended; None: nobody."""
        self._ground = ground
        self._log = log
        self._path = path
        self._root = copies.identity(path)
        copy = ground.home(log.session_id) / copies.FILES
        self._copy = copy if str(copy) == path else None
        self._known: packing.Packed | None = None
        self._files: CarriedFiles | None = None
        """As the journal told it last."""
        self._looked = False
        self._working = working
        self._hoped: CarriedFiles | None = None
        """What was asked to be written down; nobody may have heard that it was."""
        self._unkept = False
        """A run began here, and what it changed is not kept yet."""
        self._epoch: int | None = None
        """Of the right to run the session, when the journal was looked at last."""

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
        if await to_thread.run_sync(copies.identity, self._path) != self._root:
            raise self._went_on()
        self._check_known(files)
        self._check_nothing_ran(files)
        self._has_seen(files)
        self._unkept = True
        if self._copy is not None:
            await to_thread.run_sync(copies.begin_work, self._copy)

    async def keep(self) -> None:
        """Behind a run: keep what changed, and say so, as the one who runs it. JournalError."""
        journal = await self._log.journal()
        async with carried_store(self._ground) as store:
            await self._keep(journal, store)

    async def _keep(self, journal: Journal, store: CarriedStore) -> None:
        session_id = self._log.session_id
        before = (await journal.session(session_id)).state.files
        self._check_known(before)
        try:
            packed, added = await beating(self._log, lambda: self._packed(store))
        except (packing.NotKeepable, OSError) as problem:
            if await to_thread.run_sync(copies.identity, self._path) is None:
                _log.warning("the files of session %s are gone: %s", session_id, problem)
                return  # what was kept before is made again, and what ran since is told
            if before is None or before.stays is None or before.effects:
                await self._stay(str(problem))
            self._unkept = False
            return
        self._known = packed
        # Whoever goes on there was begun by a call, which was counted.
        ran = before is not None and before.effects > 0
        working = self._working() if ran and self._working is not None else 0
        now = CarriedFiles(snapshot=packed.name, path=self._path, effects=working)
        if before != now:
            await store.put(session_id, {packed.name: packed.content})
            kept = WorkspaceKept(
                snapshot=packed.name,
                path=self._path,
                files=packed.files,
                bytes=packed.bytes,
                added_bytes=added,
                left_out=packed.left_out,
                working=working,
            )
            self._hoped = now
            await self._log.append([kept], in_run=False)
            lease = self._log.right.lease
            if lease is not None:
                await store.keep_only(session_id, packed.pieces, epoch=lease.epoch)
        self._has_seen(now)
        self._unkept = False
        if self._copy is not None:
            await to_thread.run_sync(copies.end_work, self._copy)

    def _check_known(self, files: CarriedFiles | None) -> None:
        """What is here is no older than what the journal names, or it would take its place."""
        known = {_place(self._hoped), *([_place(self._files)] if self._looked else [])}
        dropped = files is None and self._looked and self._files is not None
        if dropped or (files is not None and _place(files) not in known):
            raise self._went_on()

    def _check_nothing_ran(self, files: CarriedFiles | None) -> None:
        """Nobody else ran calls since, of which no files were kept: that has to be told.

        Nor was it told that what ran here is lost, while it is still here.
        """
        lease = self._log.right.lease
        assert lease is not None  # whoever asks has it
        between = self._epoch is None or lease.epoch > self._epoch + 1
        if self._looked and between and (self._unkept or _effects(files) != _effects(self._files)):
            raise self._went_on()

    def _has_seen(self, files: CarriedFiles | None) -> None:
        self._files, self._looked = files, True
        lease = self._log.right.lease
        self._epoch = None if lease is None else lease.epoch

    def _went_on(self) -> WentOn:
        lease = self._log.right.lease
        assert lease is not None  # whoever asks has it
        return WentOn(_WENT_ON.format(self._log.session_id), lease)

    async def _packed(self, store: CarriedStore) -> "tuple[packing.Packed, int]":
        """What is there, with all pieces in the store; how many bytes of them are new."""
        before = self._known
        # Who went on meanwhile may have changed mapped files, whose times tell nothing of it.
        trusted = None if before is None or _effects(self._files) else before.known
        look = packing.Packing(
            self._path,
            self._ground.limits,
            self._ground.clock.unix_ns(),
            trusted,
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
        try:
            await to_thread.run_sync(copies.write_place, home, place)
        except OSError as problem:
            raise JournalUnusable(_NO_NOTE.format(home, problem.strerror, reason)) from None
        _log.warning(
            "the files of session %s stay here, in %s: %s",
            *(self._log.session_id, self._path, reason),
        )
        stays = WorkspaceStays(
            place=place, machine=os.uname().nodename, path=self._path, reason=reason
        )
        await self._log.append([stays], in_run=False)
        self._has_seen(CarriedFiles(path=self._path, stays=place))

    @property
    def is_ours(self) -> bool:
        """Whether the right to run the session is held, as far as is known here."""
        right = self._log.right
        return right.lease is not None and not right.has_run_out

    def is_as(self, known: "packing.Packed | None", files: CarriedFiles) -> None:
        """It is what was brought here: only what changes is read, and anything newer is noticed."""
        self._known, self._files, self._looked = known, files, True


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
    return CarriedWorkspace(ground_of(parts), log, path, partial(_working, parts))


def _working(parts: Whole) -> int:
    """Subagents and commands that outlive a run: what they change is kept with the next one."""
    commands = sum(one.state == "running" for one in parts.hand.commands.all())
    return len(parts.own.tasks.running()) + commands


async def kept(workspace: CarriedWorkspace) -> JournalError | None:
    """Keep it also behind a run that was stopped or failed: somebody else may go on. Why not.

    A store that cannot be reached is tried until the right to run the session is over.
    """
    with CancelScope(shield=True):
        while True:
            try:
                await workspace.keep()
            except JournalError as problem:
                final = isinstance(problem, JournalUnusable) or not workspace.is_ours
                if final or not isinstance(problem, JournalUnavailable):
                    return problem
                await sleep(_AGAIN_SECONDS)
            else:
                return None


@asynccontextmanager
async def opened_store(ground: Ground) -> AsyncGenerator[Store]:
    """Where sessions are; JournalUnavailable."""
    store = await shared_store(*ground)
    try:
        yield store
    finally:
        with CancelScope(shield=True):
            await store.journal.close()


@asynccontextmanager
async def carried_store(ground: Ground) -> AsyncGenerator[CarriedStore]:
    """Where pieces are kept; JournalUnavailable."""
    async with opened_store(ground) as store:
        assert store.carried is not None  # every store that is kept has one
        yield store.carried()


async def beating(log: SessionLog, work: Callable[[], Awaitable[_T]]) -> _T:
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


def _effects(files: CarriedFiles | None) -> int:
    return 0 if files is None else files.effects


def _place(files: CarriedFiles | None) -> tuple[str | None, str, str | None] | None:
    return None if files is None else (files.snapshot, files.path, files.stays)
