"""Memory of a session and of its agent: what can be read, what the model writes, its versions, and
what was learned. Values, and the ports behind which that is kept.
"""

from typing import Literal, Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.events import StopReason, WantedOutcome
from holdfast.contract.json_value import JsonObject
from holdfast.contract.managed.spaces import MemoryTarget, VersionedTarget
from holdfast.contract.outcomes import Evaluation, EvaluationRecord
from holdfast.contract.versions import Mode
from holdfast.contract.wake_events import LearningKind, Priority

SessionNote = Literal["session_state", "working_buffer"]
"""What the model writes of one session."""


class MemoryStore(msgspec.Struct, frozen=True, kw_only=True):
    """One of the stores."""

    target: MemoryTarget
    title: str
    description: str
    scope: Literal["session", "agent"]
    writable: bool
    searchable: bool = True


STORES: tuple[MemoryStore, ...] = (
    MemoryStore(
        target="checkpoint",
        title="Checkpoint",
        description="Where the session stands, by its journal: the last run, what waits, cursors.",
        scope="session",
        writable=False,
    ),
    MemoryStore(
        target="shell_state",
        title="Shell state",
        description="Where commands run, and the last of them. Names of variables, never values.",
        scope="session",
        writable=False,
    ),
    MemoryStore(
        target="session_state",
        title="Session state",
        description="What the session is about: the runtime's account, and notes of the model.",
        scope="session",
        writable=True,
    ),
    MemoryStore(
        target="working_buffer",
        title="Working buffer",
        description="What is under way: the runtime's open loop, and scratch notes of the model.",
        scope="session",
        writable=True,
    ),
    MemoryStore(
        target="workspace_memory",
        title="MEMORY.md",
        description="What all sessions of the agent share: words of people, learnings, notes.",
        scope="agent",
        writable=False,
    ),
    MemoryStore(
        target="workspace_memory_notes",
        title="Notes in MEMORY.md",
        description="The section of MEMORY.md that memory_promote_note writes.",
        scope="agent",
        writable=True,
    ),
)
"""All there are."""


class MemoryStores(msgspec.Struct, frozen=True, kw_only=True):
    """The stores of a session."""

    count: int
    stores: tuple[MemoryStore, ...]


class EventCursor(msgspec.Struct, frozen=True, kw_only=True):
    """How far a session has come in its journal."""

    last_context_event_id: str | None = None
    """The last event that the model was told of."""
    last_processed_event_id: str | None = None
    """The last event of people that was taken into account."""
    last_produced_event_id: str | None = None
    """The last event of the last run."""


class WakeToCome(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is queued."""

    queued_wake_id: str
    due_at: str
    reason: str
    note: str | None = None
    dedupe_key: str | None = None
    priority: Priority = "normal"


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session stands, by its journal."""

    last_wake_id: str | None = None
    last_event_ids: tuple[str, ...] = ()
    """The newest, in their order."""
    event_cursor: EventCursor = EventCursor()
    last_outcome: Literal["continue", "sleep"] | None = None
    """How the agent said that it goes on."""
    last_summary: str | None = None
    response_message: str | None = None
    next_wake_at: str | None = None
    consecutive_follow_ups: int = 0
    active_outcome: WantedOutcome | None = None
    queued_wakes: tuple[WakeToCome, ...] = ()
    stop_reason: StopReason = "idle"
    last_agent_setup_fingerprint: str | None = None
    outcome_evaluation_history: tuple[EvaluationRecord, ...] = ()
    """The oldest first."""


class MemoryRead(msgspec.Struct, frozen=True, kw_only=True):
    """What a store holds."""

    target: MemoryTarget
    session_id: str
    content: str | JsonObject
    """Markdown as text; a checkpoint and the state of a shell as objects."""
    version_id: str | None = None
    """The newest version of what the model writes there; None: it has written nothing."""


class MemoryWrite(msgspec.Struct, frozen=True, kw_only=True):
    """What the model wants to keep."""

    content: str
    mode: Mode
    expected_version_id: str | None = None


class MemoryWritten(msgspec.Struct, frozen=True, kw_only=True):
    """What was kept."""

    session_id: str
    target: VersionedTarget
    mode: Mode
    path: str
    """Where people find it."""
    version_id: str
    previous_version_id: str | None
    content_hash: str
    content: str
    """All that the model has written there."""


class NotePromoted(MemoryWritten, frozen=True, kw_only=True):
    """What all sessions of the agent see from here on."""

    outcome_evaluation: Evaluation


class VersionEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One version."""

    version_id: str
    agent_id: str
    session_id: str | None
    """None: it belongs to the agent."""
    target: VersionedTarget
    created_at: str
    source: str
    mode: Mode
    content_hash: str
    size_bytes: int
    wake_id: str | None
    preview: str


class VersionList(msgspec.Struct, frozen=True, kw_only=True):
    """The versions of a store, the newest first."""

    count: int
    versions: tuple[VersionEntry, ...]


class VersionContent(msgspec.Struct, frozen=True, kw_only=True):
    """One version with its content."""

    version: VersionEntry
    content: str


class Learning(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the agent learned."""

    learning_id: str
    """The event that captured it."""
    kind: LearningKind
    title: str
    detail: str
    promote_to_memory: bool
    """It stands in MEMORY.md."""
    dedupe_key: str | None
    session_id: str
    wake_id: str | None
    created_at: str


class LearningList(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent learned, the newest first."""

    agent_id: str
    count: int
    learnings: tuple[Learning, ...]


class Memory(CallPort, Protocol):
    """The memory of the calling session and of its agent.

    Another session's id is taken where that is of the same agent: PolicyDenied otherwise.
    Unavailable where nothing is kept.
    """

    async def read(self, target: MemoryTarget, session_id: str | None, /) -> MemoryRead:
        """What a store holds now."""
        ...

    async def write(
        self, target: SessionNote, wanted: MemoryWrite, session_id: str | None, /
    ) -> MemoryWritten:
        """Keep what the model says; InvalidArguments where the newest version is another."""
        ...

    async def promote(self, wanted: MemoryWrite, /, *, required: bool | None) -> NotePromoted:
        """Keep it where all sessions of the agent see it.

        InvalidArguments where the newest version is another, then PolicyDenied where the outcome
        has to be reached and is not. ``required``: None: where there is an outcome.
        """
        ...

    async def versions(
        self, target: VersionedTarget, session_id: str | None, limit: int, /
    ) -> VersionList:
        """What the model wrote there, the newest first."""
        ...

    async def version(
        self, target: VersionedTarget, version_id: str, session_id: str | None, /
    ) -> VersionContent:
        """One version of that; InvalidArguments where there is none of this id."""
        ...


class Learnings(CallPort, Protocol):
    """What the agent of the calling session learned."""

    async def newest(self, limit: int, /) -> LearningList:
        """The newest first, each once."""
        ...
