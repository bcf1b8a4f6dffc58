"""Sessions as they might have gone, for tests of whoever looks at them: made in any journal."""

from collections.abc import Sequence

import msgspec

from holdfast.contract.events import (
    AgentMessage,
    CallAsked,
    CallIntended,
    CallSettled,
    CustomToolUse,
    OutcomeDefined,
    Payload,
    SessionCreated,
    SpanCompleted,
    SpanStarted,
    StatusChanged,
    StatusIdle,
    ToolUse,
    WantedOutcome,
)
from holdfast.contract.journal import Journal
from holdfast.contract.json_value import encode_json
from holdfast.contract.managed_events import OutcomeEvaluated, SetupDescribed
from holdfast.contract.outcomes import (
    Evaluation,
    EvaluationRecord,
    EvaluationStatus,
    Trend,
    outcome_fingerprint,
)
from holdfast.contract.steps import Step

PASSED: EvaluationStatus = "pass"


class Story(msgspec.Struct, kw_only=True):
    """What happened in a session."""

    agent: str | None = "looker"
    parent: str | None = None
    setup: str | None = None
    resources: str = "resources"
    outcome: str | None = None
    criteria: tuple[str, ...] = ("it is done",)
    status: EvaluationStatus = "not_ready"
    """How far it came, if it has a trend."""
    trend: Trend | None = None
    step: Step | None = None
    waits: bool = False
    """A person has to confirm something."""
    wake: str | None = None
    """The name of a run that came to rest."""


def wanted(story: Story) -> WantedOutcome:
    return WantedOutcome(title=story.outcome or "", success_criteria=story.criteria)


def setup_of(story: Story) -> SetupDescribed:
    return SetupDescribed(
        fingerprint=story.setup or "",
        resource_contract_fingerprint=story.resources,
        environment_fingerprint="environment",
        setup={},
    )


def run(wake: str, summary: str = "It went on.") -> Sequence[Payload]:
    """A run with one call, which came to rest."""
    tool, ended = f"cal_{wake}", f"{summary} It rests."
    return (
        StatusChanged(from_status="rescheduling", to_status="running", reason="a wake"),
        SpanStarted(span_id=wake, span_kind="wake", name="session_run"),
        SpanStarted(span_id=tool, parent_span_id=wake, span_kind="tool", name="look"),
        SpanCompleted(
            span_id=tool, parent_span_id=wake, span_kind="tool", name="look", result="success"
        ),
        AgentMessage(message=summary, summary=summary),
        StatusIdle(reason="idle", summary=summary),
        SpanCompleted(
            span_id=wake, span_kind="wake", name="session_run", summary=ended, result="success"
        ),
    )


def call(tool: str, result: str) -> Sequence[Payload]:
    """A call that gave this."""
    answer = encode_json({"ok": True, "tool": tool, "result": {"text": result}})
    return (
        CallAsked(call_id=f"cal_{tool}", tool=tool, arguments='{"path":"src"}'),
        CallIntended(call_id=f"cal_{tool}", tool=tool, arguments_hash="0", grounds="it reads"),
        CallSettled(call_id=f"cal_{tool}", tool=tool, envelope=msgspec.Raw(answer)),
    )


def evaluated(story: Story, trend: Trend, wake: str = "wak_0", iteration: int = 0) -> Payload:
    found = Evaluation(
        status=story.status,
        confidence="medium",
        summary="As far as can be seen.",
        promotion_ready=story.status == PASSED,
        trend=trend,
        trend_summary=f"It is {trend}.",
        next_suggested_tool=story.step,
    )
    outcome = wanted(story)
    return OutcomeEvaluated(
        record=EvaluationRecord(
            evaluated_at="2026-01-01T00:00:00+00:00",
            wake_id=wake,
            iteration=iteration,
            outcome_title=outcome.title,
            outcome_fingerprint=outcome_fingerprint(outcome),
            grade_status="in_progress",
            evaluation=found,
        )
    )


WAITS = ToolUse(
    request_id="req_1",
    tool_name="shell_run",
    ownership="managed",
    permission_policy="always_ask",
    input={"command": "make"},
)
ASKS_OUTSIDE = CustomToolUse(request_id="req_2", tool_name="weather", input={"city": "Ulm"})


async def tell(journal: Journal, session_id: str, story: Story) -> str:
    """Make it happen."""
    metadata = {} if story.parent is None else {"delegated": True}
    made = SessionCreated(agent_id=story.agent, parent_id=story.parent, metadata={**metadata})
    await journal.create(session_id, [made])
    await add(journal, session_id, story)
    return session_id


async def add(journal: Journal, session_id: str, story: Story) -> None:
    """Make it happen in a session that is there."""
    told: list[Payload] = []
    if story.setup is not None:
        told.append(setup_of(story))
    if story.outcome is not None:
        told.append(OutcomeDefined(outcome=wanted(story)))
    await journal.append(session_id, told)
    if story.wake is not None:
        await journal.append(session_id, run(story.wake), wake_id=story.wake)
    if story.trend is not None:
        await journal.append(session_id, [evaluated(story, story.trend, story.wake or "wak_0")])
    if story.waits:
        paused = StatusIdle(reason="requires_action", summary="It waits.")
        await journal.append(session_id, [WAITS, paused])
