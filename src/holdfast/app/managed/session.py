"""The managed part of a session: what its tools are handed, and what is done around its runs.

What each part of it does is known to `runtime.managed`; here it is put together, once a session
whose profile has the managed tools is opened. Nothing is opened before it is asked for.
"""

from collections.abc import Callable
from pathlib import Path

from anyio import Lock

from holdfast.app.agent_settings import DEFAULT_AGENT
from holdfast.app.managed import (
    around,
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
    vectors,
)
from holdfast.app.managed.basis import Explain, ManagedParts, skill_list
from holdfast.app.store import shared_store
from holdfast.contract.commanding import Commanding
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import CallSettled, Event
from holdfast.contract.failure import Failure
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.json_value import JsonObject
from holdfast.contract.managed.artifact_names import ARTIFACTS_FOLDER
from holdfast.contract.managed.crowding import Crowding
from holdfast.contract.managed.setup import RunFacts
from holdfast.contract.managed.shell_views import ShellView
from holdfast.contract.runtime import Ports, Runtime
from holdfast.record.store import Store
from holdfast.runtime.managed.artifact_folder import ArtifactFolder
from holdfast.runtime.managed.foretelling import Foretelling
from holdfast.runtime.managed.gate import Gate
from holdfast.runtime.managed.ground import Ground, Stores
from holdfast.runtime.managed.judging import Judging
from holdfast.runtime.managed.leading import followable, led_to, noted
from holdfast.runtime.managed.setup_book import SetupBook
from holdfast.runtime.managed.shell_keeper import ManagedCommanding
from holdfast.runtime.managed.surveying import Brought
from holdfast.runtime.managed.surveyor import Surveyor, SurveyParts
from holdfast.tools.managed import MANAGED

_GROUPS = (
    *(outcomes, permissions, sessions, memory, retrieval),
    *(skills, shell, sandbox, resources, setup),
)


_NAMES = frozenset(one.name for one in MANAGED)


class ManagedSession:
    """Of one session. Used on one event loop."""

    def __init__(self, parts: ManagedParts) -> None:
        self.parts = parts
        self.crowding: Callable[[], Crowding | None] = lambda: None
        """How much of its context the model is given of what; set by whoever runs the agent."""
        self.run_facts: Callable[[], RunFacts | None] = lambda: None
        """What is known of the setup where an agent runs; set by whoever runs it."""
        self.explain: Explain | None = None
        """Tells how a call would be judged; set by whoever judges calls."""
        self._opening = Lock()
        self._store: Store | None = None
        self.brought = Brought()
        self.artifacts: ArtifactFolder | None = self._artifacts()
        self.ground = self._ground()
        self.judging = Judging(self.ground, lambda: self.shell)
        self.gate = Gate(self.judging, self.ground)
        self.shells = shell.shells_of(self, self.artifacts)
        self.shell: ShellView = self.shells.book
        self.setup: SetupBook = setup.setup_of(self, lambda: self.run_facts())
        self.memory = memory.memory_of(self)
        self._foretelling = Foretelling(self.memory, resources.files_of(self))
        self.meaning = vectors.meaning_of(self)
        self.vectors = parts.vectors or self.meaning
        self.recall = retrieval.recall_of(self)
        around.bring(self)
        self._surveyor = Surveyor(
            SurveyParts(
                ground=self.ground,
                judging=self.judging,
                shell_view=lambda: self.shell,
                skills=lambda: skill_list(parts),
                folder=self.artifacts,
                brought=self.brought,
            )
        )
        if parts.log is not None:
            parts.log.listeners += [self.hear, self._surveyor.hear]

    def ports(self) -> Ports:
        """By port, what each call is handed."""
        return {port: made for group in _GROUPS for port, made in group.ports_of(self).items()}

    def followable(self, answer: Envelope) -> Envelope:
        """What a managed tool answered, without the steps to tools that this agent has not."""
        if answer.tool not in _NAMES:
            return answer
        return followable(answer, self.parts.catalog.__contains__)

    async def foretold(self, call: Runtime, given: JsonObject) -> Failure | None:
        """Why a call that a person would be asked about cannot work; None: maybe it does."""
        return await self._foretelling.failure(call, given)

    def commanding(self, form: Commanding) -> ManagedCommanding:
        """How `bash` runs its commands, which ``form`` puts into words."""
        return ManagedCommanding(form, self.shells.keeper)

    async def begins(self, reason: str, /) -> tuple[str, ...]:  # noqa: ARG002 - the state tells it
        """A run begins: what the model is told with its first step, a line each."""
        await self.memory.look()
        notes = await self._surveyor.begins()
        self.parts.offer(noted(notes))
        return notes

    async def rested(self) -> None:
        """A run has come to rest: how far it came is written down and shown."""
        await self._surveyor.rested()
        if self.meaning is not None:
            self.meaning.catch_up()

    async def caught_up(self) -> None:
        """Wait until all that happened so far is shown."""
        await self._surveyor.caught_up()

    def open(self) -> None:
        """The session begins again."""
        self._surveyor.open()
        if self.meaning is not None:
            self.meaning.open()

    def hear(self, event: Event) -> None:
        """Something has happened, now or before the session was taken up: the model is offered
        what the steps of an answer lead to."""
        said = event.payload
        if isinstance(said, CallSettled):
            self.parts.offer(led_to(bytes(said.envelope)))

    async def close(self) -> None:
        """Let go of what was opened."""
        await self._surveyor.close()
        if self.meaning is not None:
            await self.meaning.close()
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

    def _artifacts(self) -> ArtifactFolder | None:
        workspace = self.parts.session.workspace
        if workspace is None:
            return None
        names = (ARTIFACTS_FOLDER, self.parts.session.id)
        return ArtifactFolder(Path(workspace), names, self._clean)

    def _clean(self, text: str) -> str:
        redactor = self.parts.redactor
        return redactor.text(text) if redactor.active else text

    def _ground(self) -> Ground:
        parts = self.parts
        return Ground(
            session_id=parts.session.id,
            agent_id=parts.created.agent_id or DEFAULT_AGENT,
            usual_agent=DEFAULT_AGENT,
            log=parts.log,
            stores=self.stores,
            clock=parts.clock,
            ids=parts.ids,
            tools=lambda: tuple(parts.catalog),
            clean=self._clean,
            mounts=parts.mounts,
            artifacts=None if self.artifacts is None else self.artifacts.path,
            live_shell=parts.hand.persistent,
            crowding=lambda: self.crowding(),
        )
