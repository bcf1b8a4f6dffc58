"""The managed part of a session: what its tools are handed, and what is done around its runs.

What each part of it does is known to `runtime.managed`; here it is put together, once a session
whose profile has the managed tools is opened. Nothing is opened before it is asked for.
"""

from collections.abc import Callable
from functools import cached_property

import msgspec
from anyio import Lock

from holdfast.app.later_hand import LaterHand
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.store import shared_store
from holdfast.contract.events import SessionCreated
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.json_value import JsonObject
from holdfast.contract.mounts import Mount
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.runtime import Ports, SessionFacts
from holdfast.contract.skills import Skill
from holdfast.envelope.redact import Redactor
from holdfast.execution.sidecars import SidecarFiles
from holdfast.record.store import Store
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.managed.ground import Ground, Stores
from holdfast.runtime.managed.judging import Judging
from holdfast.runtime.session_log import SessionLog

ARTIFACTS = ".holdfast-runtime"
"""The folder in the workspace below which each session has one of its own."""


class ManagedParts(msgspec.Struct, frozen=True, kw_only=True):
    """Of one session."""

    session: SessionFacts
    settings: Settings
    surroundings: Surroundings
    catalog: Catalog
    hand: LaterHand
    sidecars: SidecarFiles
    clock: Clock
    ids: IdSource
    redactor: Redactor
    log: SessionLog | None
    created: SessionCreated
    skills: Callable[[], tuple[Skill, ...]]
    mounts: tuple[Mount, ...] = ()


class ManagedSession:
    """Of one session. Used on one event loop."""

    def __init__(self, parts: ManagedParts) -> None:
        self.parts = parts
        self.budget: Callable[[], JsonObject | None] = lambda: None
        """How much of its context the model is given of what; set by whoever runs the agent."""
        self._opening = Lock()
        self._store: Store | None = None

    @cached_property
    def ground(self) -> Ground:
        """What all of it stands on."""
        parts = self.parts
        redactor = parts.redactor
        return Ground(
            session_id=parts.session.id,
            agent_id=parts.created.agent_id,
            log=parts.log,
            stores=self._stores,
            clock=parts.clock,
            ids=parts.ids,
            tools=lambda: tuple(parts.catalog),
            clean=lambda text: redactor.text(text) if redactor.active else text,
            mounts=parts.mounts,
            artifacts=None,
            live_shell=lambda: None,
            budget=lambda: self.budget(),
        )

    @cached_property
    def judging(self) -> Judging:
        """Who knows how far it came with its outcome."""
        return Judging(self.ground)

    def ports(self) -> Ports:
        """By port, what each call is handed."""
        return {}

    async def begins(self, reason: str, /) -> tuple[str, ...]:  # noqa: ARG002 - the notes will
        """A run begins: what the model is told with its first step, a line each."""
        return ()

    async def rested(self) -> None:
        """A run has come to rest: how far it came is written down."""
        await self.judging.record()

    async def close(self) -> None:
        """Let go of what was opened."""
        async with self._opening:
            store, self._store = self._store, None
        if store is not None:
            await store.journal.close()

    async def _stores(self) -> Stores:
        parts = self.parts
        if parts.log is None:
            raise JournalUnavailable("store.kind is none: no sessions are kept")
        async with self._opening:
            if self._store is None:
                self._store = await shared_store(
                    parts.settings, parts.surroundings, parts.clock, parts.ids
                )
            store = self._store
        return Stores(journal=store.journal, archive=store.archive, versions=store.versions)
