"""What happens around the runs over a session: queued wakes, models that fail, what is remembered.

More kinds of events, beside those of `events`; how they add up is `record`'s to know.
"""

from datetime import UTC, datetime
from typing import Annotated, Literal, TypeAlias

import msgspec

from holdfast.contract.agents import RunLimits
from holdfast.contract.events import Payload
from holdfast.contract.model import ModelTool, ModelTrouble

Moment: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]
Priority = Literal["low", "normal", "high"]
LearningKind = Literal["lesson", "correction", "error"]

PARKED_UNTIL = datetime(9999, 1, 1, tzinfo=UTC)
"""Deferred until then, a session is left alone until a person says something."""


class WakeQueued(Payload, frozen=True, kw_only=True, tag="wake.queued"):
    """The session is to be run again later."""

    queued_wake_id: str
    due_at: Moment
    reason: str
    note: str | None = None
    dedupe_key: str | None = None
    priority: Priority = "normal"


class WakesCompleted(Payload, frozen=True, kw_only=True, tag="wake.completed"):
    """Queued wakes are over: a run took them into account, or they were cancelled."""

    queued_wake_ids: tuple[str, ...]
    cancelled: bool = False


class WakeDeferred(Payload, frozen=True, kw_only=True, tag="wake.deferred"):
    """A run failed: the session is not run again before a moment."""

    until: Moment
    """`PARKED_UNTIL`: not before a person says something."""
    attempt: int
    """How many runs in a row have failed."""
    reason: str


class DirectiveTaken(Payload, frozen=True, kw_only=True, tag="agent.directive"):
    """What the agent said about how it goes on, as far as it was taken."""

    outcome: Literal["continue", "sleep"]
    summary: str
    enforced_by_runtime: bool = False
    """It wanted to go on, and was put to sleep."""


class LearningCaptured(Payload, frozen=True, kw_only=True, tag="learning.captured"):
    """The agent learned something that outlives the session."""

    learning_kind: LearningKind
    title: str
    detail: str
    promote_to_memory: bool = False
    dedupe_key: str | None = None


class RunTerms(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What else decides how a run goes: with it a recording can be run again."""

    limits: RunLimits
    window: int
    """Of the model, in tokens; and how many of them a reply may have."""
    max_output_tokens: int
    directives: bool = False
    guidance: bool = True
    tools_off: bool = False
    managed: bool = False
    interactive: bool = False


class AgentEquipped(Payload, frozen=True, kw_only=True, tag="agent.equipped"):
    """What the agent is told to be and which tools it is offered, from here on."""

    system: tuple[str, ...]
    tools: tuple[ModelTool, ...]
    terms: RunTerms | None = None
    """None: nobody said."""


class RunBounded(Payload, frozen=True, kw_only=True, tag="agent.bounded"):
    """A run goes on where another one rested: both together may use what one may."""

    limits: RunLimits
    """What is left of it."""


class ModelFailed(Payload, frozen=True, kw_only=True, tag="model.failed"):
    """A model gave no reply."""

    request_id: str
    trouble: ModelTrouble
    message: str
    attempt: int
    retry_in_seconds: float | None = None
    """None: it is not tried again in this run."""
    retry_after: float | None = None
    """For how many seconds the provider wants to be left alone."""


class ModelBrokenOff(Payload, frozen=True, kw_only=True, tag="model.broken_off"):
    """A model was stopped before its reply was whole."""

    request_id: str
    text: str
    """What it had said by then."""


class OutputsPruned(Payload, frozen=True, kw_only=True, tag="context.pruned"):
    """The model is told only a line about what these calls answered; the answers are kept."""

    call_ids: tuple[str, ...]


class ContextCompacted(Payload, frozen=True, kw_only=True, tag="context.compacted"):
    """A summary stands for what was said before, for the model alone."""

    summary: str
    kept_from: int
    """The number of the first event that the model is still told as it happened."""
    automatic: bool = True


class WorkspaceKept(Payload, frozen=True, kw_only=True, tag="workspace.kept"):
    """The files of a workspace that is carried are in the store, as they were at this moment."""

    snapshot: str
    """The SHA-256 of the list of them: it vouches for every one."""
    path: str
    """Where they were."""
    files: int
    bytes: int
    added_bytes: int
    """What of them was not in the store yet."""
    left_out: int = 0
    """Sockets, pipes and devices, which are not carried."""
    working: int = 0
    """How many go on there behind the run, in the background: what they change is not kept yet."""


class WorkspaceStays(Payload, frozen=True, kw_only=True, tag="workspace.stays"):
    """The files could not be kept: the session is run where they are, and nowhere else."""

    place: str
    """A name that is written down there, too."""
    machine: str
    """What that machine is called, for people."""
    path: str
    reason: str


class WorkspaceLost(Payload, frozen=True, kw_only=True, tag="workspace.lost"):
    """Calls ran behind the last moment of which the files are kept, and whoever ran them is gone:
    the files are those of that moment again."""

    snapshot: str
    path: str
    """Where the files are that those calls may have changed."""
    calls: int
    """How many, with what went on in the background."""


WAKE_KINDS: tuple[type[Payload], ...] = (
    *(WakeQueued, WakesCompleted, WakeDeferred, DirectiveTaken, LearningCaptured),
    *(ModelFailed, OutputsPruned, ContextCompacted, AgentEquipped),
    *(ModelBrokenOff, RunBounded),
)

CARRIED_KINDS: tuple[type[Payload], ...] = (WorkspaceKept, WorkspaceStays, WorkspaceLost)


class QueuedWake(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A run that is to come, as it stands in the queue."""

    id: str
    created_micros: int
    due_micros: int
    reason: str
    note: str | None = None
    dedupe_key: str | None = None
    priority: Priority = "normal"
