"""What can happen in a session: small values, one kind each, that a journal keeps for ever.

A kind is told by its `type`. Its `VERSION` grows when its fields change in a way that older readers
would misread; `record` then learns how to read the older ones. Nothing here knows how or where an
event is stored.
"""

from datetime import datetime
from typing import ClassVar, Literal

import msgspec

from holdfast.contract.chunks import Chunk, Lineage
from holdfast.contract.envelope import Repair
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.person import Answers, PersonQuestion
from holdfast.contract.rules import Remember, Use
from holdfast.contract.transcript import TokenUsage

SessionStatus = Literal["idle", "running", "rescheduling", "requires_action", "terminated"]
StopReason = Literal["idle", "requires_action", "rescheduling", "terminated"]
SpanKind = Literal["wake", "tool"]
SpanResult = Literal["success", "error", "blocked"]


class Payload(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="type",
    forbid_unknown_fields=True,
    gc=False,  # a tree, and there are many: nothing in it leads back
):
    """What an event says."""

    VERSION: ClassVar[int] = 1

    def fields(self) -> dict[str, object]:
        """What it says, by name: as it is written, so without what is not."""
        all_of_it = msgspec.structs.asdict(self).items()
        return {name: value for name, value in all_of_it if value is not msgspec.UNSET}


class Event(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One thing that happened, as it stands in the journal."""

    session_id: str
    sequence: int
    """From 1, without gaps."""
    id: str
    at: datetime
    """When it was written down, in UTC."""
    wake_id: str | None
    payload: Payload
    previous: bytes
    """The hash of the event before it."""
    hash: bytes
    processed_at: datetime | None = None
    """When it was taken into account; None: it still waits for that."""

    @property
    def type(self) -> str:
        """Its kind, as it is written."""
        return str(self.payload.__struct_config__.tag)


class WantedOutcome(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person wants to come of a session."""

    title: str
    detail: str | None = None
    success_criteria: tuple[str, ...] = ()


# What people say. These need no lease, and make a session runnable.


class UserMessage(Payload, frozen=True, kw_only=True, tag="user.message"):
    """A person said something."""

    message: str


class OutcomeDefined(Payload, frozen=True, kw_only=True, tag="user.define_outcome"):
    """A person said what is to come of it."""

    outcome: WantedOutcome
    known: bool | msgspec.UnsetType = msgspec.UNSET
    """Whoever works on it said so: no run has to take it into account. Written where so."""


class UserInterrupt(Payload, frozen=True, kw_only=True, tag="user.interrupt"):
    """A person stopped what was blocked or scheduled."""

    note: str | None = None


class ToolConfirmation(Payload, frozen=True, kw_only=True, tag="user.tool_confirmation"):
    """A person answered a request to confirm."""

    request_id: str
    tool_name: str
    allowed: bool
    note: str | None = None


class CustomToolResult(Payload, frozen=True, kw_only=True, tag="user.custom_tool_result"):
    """Somebody outside ran a custom tool."""

    request_id: str
    tool_name: str
    output: str


# What becomes of the session.


class SessionCreated(Payload, frozen=True, kw_only=True, tag="session.created"):
    """It began."""

    agent_id: str | None = None
    environment_id: str = "local-default"
    profile: str | None = None
    workspace: str | None = None
    parent_id: str | None = None
    metadata: JsonObject = {}
    model: str | None = None
    """The model that whoever began it named, as it is configured; None: the agent's."""


class ChildCreated(Payload, frozen=True, kw_only=True, tag="session.child_created"):
    """It handed work to a session of its own."""

    child_session_id: str
    outcome_title: str | None = None
    message: str
    lasting: bool | msgspec.UnsetType = msgspec.UNSET
    """It outlives the call that made it, and whoever finds it due runs it. Written where so."""


class ChildIdle(Payload, frozen=True, kw_only=True, tag="session.child_idle"):
    """That session came to rest."""

    child_session_id: str
    child_stop_reason: StopReason
    summary: str
    executed_cycles: int
    usage: dict[str, int] | msgspec.UnsetType = msgspec.UNSET
    """What it cost whoever ran it from here, with all below it; not written where nothing is
    known of that."""


class ChildWaits(Payload, frozen=True, kw_only=True, tag="session.child_waits"):
    """That session waits for a person, and so does the call that waits for it."""

    call_id: str
    child_session_id: str
    summary: str


class ChildAnswered(Payload, frozen=True, kw_only=True, tag="session.child_answered"):
    """A person answered there: the call goes on with it."""

    call_id: str
    child_session_id: str


class StatusChanged(Payload, frozen=True, kw_only=True, tag="session.status_changed"):
    """It went from one state to another."""

    from_status: SessionStatus
    to_status: SessionStatus
    reason: str


class StatusIdle(Payload, frozen=True, kw_only=True, tag="session.status_idle"):
    """It came to rest, and why."""

    reason: str
    summary: str
    blocking_event_ids: tuple[str, ...] | None = None


class EventsProcessed(Payload, frozen=True, kw_only=True, tag="session.events_processed"):
    """Events that waited were taken into account."""

    event_ids: tuple[str, ...]


class SessionClosed(Payload, frozen=True, kw_only=True, tag="session.closed"):
    """It is over."""

    reason: str


# Spans: what took how long, inside of what.


class SpanStarted(Payload, frozen=True, kw_only=True, tag="span.started"):
    """Something began."""

    span_id: str
    parent_span_id: str | None = None
    span_kind: SpanKind
    name: str
    summary: str | None = None


class SpanCompleted(Payload, frozen=True, kw_only=True, tag="span.completed"):
    """It ended."""

    span_id: str
    parent_span_id: str | None = None
    span_kind: SpanKind
    name: str
    summary: str | None = None
    result: SpanResult


# What the agent did.


class AgentMessage(Payload, frozen=True, kw_only=True, tag="agent.message"):
    """It said something, which closes a normal wake."""

    message: str
    summary: str


class ToolUse(Payload, frozen=True, kw_only=True, tag="agent.tool_use"):
    """It used a tool; without an output it waits for a confirmation."""

    request_id: str | None = None
    tool_name: str
    ownership: str
    permission_policy: str
    input: JsonValue
    output: str | None = None


class CustomToolUse(Payload, frozen=True, kw_only=True, tag="agent.custom_tool_use"):
    """It asked for a tool that somebody outside runs."""

    request_id: str
    tool_name: str
    input: JsonValue


class AgentChunk(Payload, frozen=True, kw_only=True, tag="agent.chunk"):
    """A piece of what it is about to have said, as the stream of its message has it."""

    chunk: JsonObject


# The way of a call: an intent stands before every effect, an outcome after it.


class CallAsked(Payload, frozen=True, kw_only=True, tag="call.asked"):
    """A call arrived, as the model wrote it."""

    call_id: str
    model_call_id: str | None = None
    tool: str
    arguments: str


class ApprovalAsked(Payload, frozen=True, kw_only=True, tag="approval.asked"):
    """A person has to decide over exactly these arguments."""

    approval_id: str
    call_id: str
    tool: str
    arguments_hash: str
    reason: str
    uses: tuple[Use, ...] = ()
    offers: tuple[Remember, ...] = ("once",)
    wider: tuple[str, ...] = ()


class ApprovalAnswered(Payload, frozen=True, kw_only=True, tag="approval.answered"):
    """They decided, or nobody was there."""

    approval_id: str
    call_id: str
    allowed: bool
    by: str | None
    note: str | None = None
    remember: Remember = "once"
    wider: bool = False


class ApprovalWithdrawn(Payload, frozen=True, kw_only=True, tag="approval.withdrawn"):
    """Nobody has to decide any more: before anybody did, the rules came to allow the call."""

    approval_id: str
    call_id: str
    reason: str
    """What allows it by now."""


class CallIntended(Payload, frozen=True, kw_only=True, tag="call.intended"):
    """It is about to run: what happens from here on cannot be taken back by not knowing it."""

    call_id: str
    tool: str
    arguments_hash: str
    grounds: str
    repairs: tuple[Repair, ...] = ()


class InquiryAsked(Payload, frozen=True, kw_only=True, tag="inquiry.asked"):
    """The running call asks a person; nothing else has happened in it."""

    call_id: str
    questions: tuple[PersonQuestion, ...]


class InquiryAnswered(Payload, frozen=True, kw_only=True, tag="inquiry.answered"):
    """They replied to exactly that call: one list for each question, or none of them."""

    call_id: str
    answers: Answers
    skipped: bool = False
    by: str


class CallRefused(Payload, frozen=True, kw_only=True, tag="call.refused"):
    """It may not run: what a rule, a hook or a person decided over exactly these arguments."""

    call_id: str
    tool: str
    arguments_hash: str
    kind: str
    reason: str


class CallSettled(Payload, frozen=True, kw_only=True, tag="call.settled"):
    """Its one answer, as it was given."""

    call_id: str
    tool: str
    envelope: msgspec.Raw
    """In the default dialect, byte for byte."""


class SidecarKept(Payload, frozen=True, kw_only=True, tag="sidecar.kept"):
    """Output that was too large to show went to a file."""

    call_id: str
    path: str
    stored_bytes: int


# What a run consumed of the world.


class ModelRequested(Payload, frozen=True, kw_only=True, tag="model.requested"):
    """A model was asked; what it was asked is rebuilt from the events before."""

    request_id: str
    model: str
    request_hash: str
    through: int = 0
    """The number of the last event that the model was told of; what came behind it waits."""
    purpose: Literal["turn", "summary"] = "turn"
    """A reply to a `summary` is no part of the conversation: it stands for a part of it."""
    notices: tuple[str, ...] = ()
    """Advice that was told with this request alone: no other event says it."""


class ModelReplied(Payload, frozen=True, kw_only=True, tag="model.replied"):
    """It replied."""

    request_id: str
    reply: JsonValue
    usage: JsonObject = {}


class FlowGrown(Payload, frozen=True, kw_only=True, tag="flow.grown"):
    """A flow session got more rows; the first time, and when it changes, where it came from."""

    chunks: tuple[Chunk, ...] = ()
    lineage: Lineage | None = None
    usage: TokenUsage | None = None
    """What it has cost until now."""
