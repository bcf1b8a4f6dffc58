"""Where a session stands, as its events tell it: the sum of a journal, small enough to be kept.

Values only. How events add up to them is `record`'s to know. What is kept is read as it is or not
at all: whoever left out what a newer program wrote would lose it with the next event.
"""

from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

import msgspec

from holdfast.contract.delegation import DELEGATED
from holdfast.contract.events import SessionStatus, StopReason
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.managed_events import ManagedState
from holdfast.contract.outcomes import EvaluationStatus
from holdfast.contract.wake_events import PARKED_UNTIL, Priority, QueuedWake

ReportedStatus = Literal[
    "idle", "busy", "retrying", "error", "waiting_on_approval", "waiting_on_user_input"
]
"""What a session is shown to be doing."""

Runner = Literal["somebody", "nobody", "gone"]
"""Who runs a session: somebody, as far as can be told; nobody; or one who ended without a word."""


class ConfirmationRequest(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
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


class CustomRequest(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
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


class OpenCall(
    msgspec.Struct, frozen=True, omit_defaults=True, array_like=True, forbid_unknown_fields=True
):
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
    child: str | None = None
    """The session below that waits for a person in its place."""


class ChatCursor(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
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


class CarriedFiles(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """What is kept of the files of a workspace that is carried."""

    snapshot: str | None = None
    """The newest one; None: there is none."""
    path: str
    """Where the files were when they were looked at last."""
    stays: str | None = None
    """The name of the place where they are newer than that, and which they do not leave."""
    effects: int = 0
    """Calls that began to run since then."""


class SessionState(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The sum of a session's events."""

    agent_id: str | None = None
    environment_id: str = "local-default"
    profile: str | None = None
    workspace: str | None = None
    parent_id: str | None = None
    metadata: JsonObject = {}
    model: str | None = None
    """The one that was named when it began; None: the agent's."""
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
    pending: tuple[str, ...] = ()
    """Events that make it runnable and were not taken into account yet, the oldest first."""
    wakes: tuple[QueuedWake, ...] = ()
    """Runs that are to come, in the order they were queued."""
    deferred_until: int = 0
    """In microseconds since 1970: before that it is not run, as the last run failed."""
    children: tuple[str, ...] = ()
    """Sessions of subagents that work for it and have not come to rest."""
    attempts: int = 0
    """How many runs in a row have failed."""
    continues: int = 0
    """How many runs in a row wanted to go on by themselves."""
    managed: ManagedState | None = None
    """Its setup and its outcome, once it has either."""
    files: CarriedFiles | None = None
    """Where its workspace is carried."""


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
    if state.status == "rescheduling" and state.deferred_until < _PARKED:
        return "retrying"
    return "error" if state.failed else "idle"


def _is_busy(state: SessionState, runner: Runner) -> bool:
    if state.status == "running":
        return runner != "gone"
    return runner == "somebody" and any(call.stage in _AT_IT for call in state.calls.values())


def requires_action(state: SessionState) -> bool:
    """Whether it goes on only once somebody confirmed or did something."""
    asked = state.confirmation is not None or state.custom is not None
    return asked or state.stop_reason == "requires_action"


def outcome_status(state: SessionState) -> EvaluationStatus:
    """How far it came with its outcome, as far as that was written down."""
    managed = state.managed
    if managed is None or managed.outcome_title is None:
        return "missing_outcome"
    if managed.evaluated is not None:
        return managed.evaluated.evaluation.status
    return "blocked" if requires_action(state) else "not_ready"


def is_left(state: SessionState, runner: Runner) -> bool:
    """Whether its program ended in the middle of something: somebody has to take it up."""
    unfinished = state.calls or state.status == "running"
    return runner == "gone" and state.status != "terminated" and bool(unfinished)


_PARKED = (PARKED_UNTIL - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
_ANSWERED = frozenset({"answered", "replied"})
_UNANSWERED = frozenset({"waiting", "inquiring"})
_RANKS: dict[Priority, int] = {"high": 0, "normal": 1, "low": 2}

Urgency: TypeAlias = tuple[int, int, int]
"""What goes first sorts first: by priority, then events before queued wakes, then by due time."""


def due_micros(state: SessionState) -> int | None:
    """From when on a session has to be run, in microseconds since 1970; None: not for now.

    One without an agent is run by whoever calls its tools, and one that is bound to another by
    whoever runs that one: nobody else knows what binds it. A bound one that paused is due once it
    is answered: the one above goes on then. One that runs is due at once, and so
    is one for which subagents work: whoever ran them may be gone, and who holds a lease is known
    elsewhere. A deferral holds for all that waits; whatever a person says ends it.
    """
    if state.agent_id is None or state.status == "terminated":
        return None
    if is_bound(state):
        return 0 if state.status != "running" and is_answered(state) else None
    if state.deferred_until >= _PARKED:
        return None
    if state.status == "running":
        return 0
    if _has_word(state) or state.children:
        return state.deferred_until
    if state.wakes:
        return max(state.deferred_until, min(wake.due_micros for wake in state.wakes))
    return None


def is_bound(state: SessionState) -> bool:
    """Whether it works for the session above it alone, which knows what it may do."""
    return state.parent_id is not None and not state.metadata.get(DELEGATED)


def is_answered(state: SessionState) -> bool:
    """Whether somebody answered what a call of it waits for."""
    return any(call.stage in _ANSWERED for call in state.calls.values())


def urgency(state: SessionState, by_micros: int | None = None) -> Urgency:
    """How soon a session is run, beside others that are due.

    ``by_micros``: of its queued wakes, only those that are due by then count, if any is.
    """
    if state.status == "running" or _has_word(state):
        return (0, 0, due_micros(state) or 0)
    due = [one for one in state.wakes if by_micros is None or one.due_micros <= by_micros]
    return min(map(urgency_of, due or state.wakes), default=(len(_RANKS), 1, 0))


def urgency_of(wake: QueuedWake) -> Urgency:
    """The same for one queued wake."""
    return (_RANKS[wake.priority], 1, wake.due_micros)


def _has_word(state: SessionState) -> bool:
    """Whether something that a person said waits, and can be taken into account.

    While a person or the application has to answer a call, other words wait for that.
    """
    stages = {call.stage for call in state.calls.values()}
    if state.interrupts or stages & _ANSWERED:
        return True
    return bool(state.pending) and not stages & _UNANSWERED
