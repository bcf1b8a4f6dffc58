"""The managed part of a session: what its tools are handed, and what is done around its runs.

What each part of it does is known to `runtime.managed`; here it is put together, once a session
whose profile has the managed tools is opened. Nothing is opened before it is asked for.
"""

from collections.abc import Callable

from anyio import Lock

from holdfast.app.agent_settings import DEFAULT_AGENT
from holdfast.app.managed import (
    memory,
    outcomes,
    permissions,
    resources,
    retrieval,
    sandbox,
    sessions,
    setup,
    shell,
    skills,
)
from holdfast.app.managed.basis import ManagedParts
from holdfast.app.store import shared_store
from holdfast.contract.commanding import Commanding
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.managed.crowding import Crowding
from holdfast.contract.managed.shell_views import ShellView
from holdfast.contract.runtime import Ports
from holdfast.record.store import Store
from holdfast.runtime.managed.gate import Gate
from holdfast.runtime.managed.ground import Ground, Stores
from holdfast.runtime.managed.judging import Judging
from holdfast.runtime.managed.shell_keeper import ManagedCommanding

_GROUPS = (
    *(outcomes, permissions, sessions, memory, retrieval),
    *(skills, shell, sandbox, resources, setup),
)


class ManagedSession:
    """Of one session. Used on one event loop."""

    def __init__(self, parts: ManagedParts) -> None:
        self.parts = parts
        self.crowding: Callable[[], Crowding | None] = lambda: None
        """How much of its context the model is given of what; set by whoever runs the agent."""
        self._opening = Lock()
        self._store: Store | None = None
        self.ground = self._ground()
        self.judging = Judging(self.ground)
        self.gate = Gate(self.judging)
        self.shells = shell.shells_of(self)
        self.shell: ShellView = self.shells.book

    def ports(self) -> Ports:
        """By port, what each call is handed."""
        return {port: made for group in _GROUPS for port, made in group.ports_of(self).items()}

    def commanding(self, form: Commanding) -> ManagedCommanding:
        """How `bash` runs its commands, which ``form`` puts into words."""
        return ManagedCommanding(form, self.shells.keeper)

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

    async def stores(self) -> Stores:
        """The stores of all sessions; JournalUnavailable."""
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

    def _ground(self) -> Ground:
        parts = self.parts
        redactor = parts.redactor
        return Ground(
            session_id=parts.session.id,
            agent_id=parts.created.agent_id or DEFAULT_AGENT,
            usual_agent=DEFAULT_AGENT,
            log=parts.log,
            stores=self.stores,
            clock=parts.clock,
            ids=parts.ids,
            tools=lambda: tuple(parts.catalog),
            clean=lambda text: redactor.text(text) if redactor.active else text,
            mounts=parts.mounts,
            artifacts=None,
            live_shell=parts.hand.persistent,
            crowding=lambda: self.crowding(),
        )
