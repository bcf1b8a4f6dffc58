"""Where a session stands, as its events tell it: the sum of a journal, small enough to be kept.

Values only. How events add up to them is `record`'s to know.
"""

from typing import Literal

import msgspec

from holdfast.contract.events import SessionStatus, StopReason
from holdfast.contract.json_value import JsonObject, JsonValue

ReportedStatus = Literal[
    "idle", "busy", "retrying", "error", "waiting_on_approval", "waiting_on_user_input"
]
"""What a session is shown to be doing."""

Runner = Literal["somebody", "nobody", "gone"]
"""Who runs a session: somebody, as far as can be told; nobody; or one who ended without a word."""


class ConfirmationRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool that a person has to confirm before it runs."""

    id: str
    tool_name: str
    ownership: str
    permission_policy: str
    input: JsonValue
    requested_at: int
    """In microseconds since 1970."""
    answered_by: str | None = None
    """The event that answered it."""


class CustomRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool that somebody outside has to run."""

    id: str
    name: str
    input: JsonValue
    requested_at: int
    answered_by: str | None = None


CallStage = Literal["streaming", "asked", "waiting", "answered", "intended", "inquiring", "replied"]
"""How far an open call has come: what may still happen to it."""
_AT_IT = frozenset({"asked", "answered", "intended", "replied"})
"""Stages in which whoever runs the session has the next step."""


class OpenCall(msgspec.Struct, frozen=True, omit_defaults=True, array_like=True):
    """A call that has no answer yet."""

    message_id: str
    part: int
    """The number of its part in that message."""
    stage: CallStage
    approval_id: str | None = None
    allowed: bool | None = None
    """What a person answered."""
    inquires: tuple[bool, ...] = ()
    """For each question that it asks a person: whether it may have several answers."""


class ChatCursor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the next part of the conversation goes."""

    messages: int = 0
    message_id: str | None = None
    """The agent's message that is being written."""
    parts: int = 0
    """How many parts that message has."""
    streams: dict[str, int] = {}
    """Parts that are being written piece by piece, by what the stream calls them."""
    streamed: bool = False
    """Text of that message came piece by piece."""
    aborted: bool = False
    """The last message was broken off: pieces that still come belong to nothing."""


class SessionState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The sum of a session's events."""

    agent_id: str | None = None
    environment_id: str = "local-default"
    profile: str | None = None
    workspace: str | None = None
    parent_id: str | None = None
    metadata: JsonObject = {}
    title: str | None = None
    status: SessionStatus = "idle"
    stop_reason: StopReason = "idle"
    failed: bool = False
    """The last wake ended in an error."""
    turns: int = 0
    usage: dict[str, int] = {}
    """Tokens and whatever else models counted, summed."""
    confirmation: ConfirmationRequest | None = None
    custom: CustomRequest | None = None
    interrupts: tuple[str, ...] = ()
    """Events of people who interrupted, not taken into account yet."""
    calls: dict[str, OpenCall] = {}
    """Calls without an answer, by their ids."""
    last_call: str = ""
    """The greatest id of a call so far: a greater one is certainly new."""
    chat: ChatCursor = ChatCursor()


def reported(state: SessionState, runner: Runner = "nobody") -> ReportedStatus:
    """What a session is shown to be doing, by what is written and by who runs it."""
    if state.status == "terminated":
        return "error" if state.failed else "idle"
    if any(call.stage == "waiting" for call in state.calls.values()):
        return "waiting_on_approval"
    if any(call.stage == "inquiring" for call in state.calls.values()):
        return "waiting_on_user_input"
    if state.status == "requires_action":
        return "waiting_on_user_input" if state.custom is not None else "waiting_on_approval"
    if _is_busy(state, runner):
        return "busy"
    if state.status == "rescheduling":
        return "retrying"
    return "error" if state.failed else "idle"


def _is_busy(state: SessionState, runner: Runner) -> bool:
    if state.status == "running":
        return runner != "gone"
    return runner == "somebody" and any(call.stage in _AT_IT for call in state.calls.values())


def is_left(state: SessionState, runner: Runner) -> bool:
    """Whether its program ended in the middle of something: somebody has to take it up."""
    unfinished = state.calls or state.status == "running"
    return runner == "gone" and state.status != "terminated" and bool(unfinished)
