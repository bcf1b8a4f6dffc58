"""Goal outcomes: what a session is to achieve, how far it came, and whether that may be shared.

Values only. A *grade* says where the session stands, an *evaluation* whether what it did may be
written where others see it; the records of evaluations, one for a wake, tell the trend.
"""

import hashlib
from typing import Literal

import msgspec

from holdfast.contract.events import StopReason, WantedOutcome
from holdfast.contract.json_value import encode_json
from holdfast.contract.steps import Step

MOST_RECORDS = 12
"""Records of evaluations that count; older ones are in the journal alone."""

GradeStatus = Literal["missing_outcome", "blocked", "sleeping", "done_candidate", "in_progress"]
EvaluationStatus = Literal["missing_outcome", "blocked", "not_ready", "fail", "pass", "uncertain"]
Confidence = Literal["high", "medium", "low"]
Trend = Literal["first_iteration", "improving", "stable", "regressing"]
EvidenceKind = Literal["summary", "note", "message", "output"]
PendingKind = Literal["tool_confirmation", "custom_tool"]


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A text that may show that something was done; never one that tells the outcome again."""

    kind: EvidenceKind
    """The last summary of a wake, a note of the model, words of the agent, output of a tool."""
    text: str
    event_id: str | None = None


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """What a session waits for."""

    kind: PendingKind
    tool_name: str
    instead: Step | None = None
    """A call that only reads and would show the same."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session stands, as far as its outcome goes."""

    outcome: WantedOutcome | None
    session_id: str | None = None
    """Of another session; None: the calling one."""
    title: str | None = None
    """What the session is about, in a few words."""
    pending: Pending | None = None
    stop_reason: StopReason = "idle"
    sleeps: bool = False
    """A wake is queued, or one is to come."""
    last_wake_id: str | None = None
    evidence: tuple[Evidence, ...] = ()


class LastWake(msgspec.Struct, frozen=True, kw_only=True):
    """How the newest wake of a session went."""

    failed_tools: tuple[str, ...] = ()
    not_done: tuple[str, ...] = ()
    """Tools that were to do something, and whose call was refused, ran out of time, or ended a
    command with an error; not where the same call worked later on."""
    succeeded: bool = False
    came_to_rest: bool = False
    """It ended idle, and nothing is to follow."""
    has_summary: bool = False


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A criterion, and what shows that it is met."""

    criterion: str
    score: int
    kind: EvidenceKind
    excerpt: str
    event_id: str | None = None


class Grade(msgspec.Struct, frozen=True, kw_only=True):
    """How far a session came."""

    status: GradeStatus
    confidence: Confidence
    summary: str
    matched_criteria: int = 0
    total_criteria: int = 0
    evidence: tuple[Shown, ...] = ()
    next_suggested_tool: Step | None = None


class Evaluation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether what was done may be shared."""

    status: EvaluationStatus
    confidence: Confidence
    summary: str
    promotion_ready: bool = False
    trend: Trend = "first_iteration"
    trend_summary: str = ""
    next_suggested_tool: Step | None = None


class EvaluationRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An evaluation, as it was at the end of a wake."""

    evaluated_at: str
    wake_id: str
    iteration: int
    """From 0, one for each wake with the same outcome."""
    outcome_title: str
    outcome_fingerprint: str
    grade_status: GradeStatus
    evaluation: Evaluation


def outcome_fingerprint(outcome: WantedOutcome) -> str:
    """What stands for an outcome: the same title, detail and criteria are the same outcome."""
    said = [outcome.title, outcome.detail, list(outcome.success_criteria)]
    return hashlib.sha256(encode_json(said)).hexdigest()
