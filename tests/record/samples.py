"""One event of every kind, filled in: what golden journals and round trips are made from."""

from datetime import UTC, datetime

from msgspec import Raw

from holdfast.contract import events, managed_events, outcomes, wake_events
from holdfast.contract.agents import RunLimits
from holdfast.contract.chunks import AskedCall, AssistantChunk, Lineage, ToolResultChunk
from holdfast.contract.envelope import Repair
from holdfast.contract.events import Payload
from holdfast.contract.model import ModelTool
from holdfast.contract.person import Choice, PersonQuestion
from holdfast.contract.rules import Use
from holdfast.contract.transcript import TokenUsage

SAMPLES: tuple[Payload, ...] = (
    events.UserMessage(message="Fix the failing test, über alles."),
    events.OutcomeDefined(
        outcome=events.WantedOutcome(title="Green", detail=None, success_criteria=("tests pass",))
    ),
    events.UserInterrupt(note="stop"),
    events.ToolConfirmation(request_id="apr_1", tool_name="bash", allowed=True, note=None),
    events.CustomToolResult(request_id="cal_1", tool_name="deploy", output="done"),
    events.SessionCreated(agent_id="coder", workspace="/ws", metadata={"model": "m"}),
    events.ChildCreated(child_session_id="ses_2", outcome_title="Docs", message="Write them."),
    events.ChildIdle(
        child_session_id="ses_2", child_stop_reason="idle", summary="written", executed_cycles=2
    ),
    events.StatusChanged(from_status="idle", to_status="running", reason="a message"),
    events.StatusIdle(reason="requires_action", summary="waits", blocking_event_ids=("evt_9",)),
    events.EventsProcessed(event_ids=("evt_1", "evt_2")),
    events.SessionClosed(reason="done"),
    events.SpanStarted(span_id="wak_1", span_kind="wake", name="session_run"),
    events.SpanCompleted(
        span_id="spn_1", parent_span_id="wak_1", span_kind="tool", name="bash", result="blocked"
    ),
    events.AgentMessage(message="It was an off-by-one.", summary="fixed"),
    events.ToolUse(
        tool_name="bash",
        ownership="managed",
        permission_policy="always_ask",
        input={"command": "ls"},
        output=None,
        request_id="apr_1",
    ),
    events.CustomToolUse(request_id="cal_1", tool_name="deploy", input={"to": ["a", 1, None]}),
    events.CallAsked(call_id="cal_1", model_call_id="call_x", tool="bash", arguments='{"a": 1}'),
    events.ApprovalAsked(
        approval_id="apr_1",
        call_id="cal_1",
        tool="bash",
        arguments_hash="ab12",
        reason="no rule speaks of it",
        uses=(Use(capability="shell.run", kind="command", target="ls"),),
        offers=("once", "session"),
        wider=("ls *",),
    ),
    events.ApprovalAnswered(
        approval_id="apr_1", call_id="cal_1", allowed=False, by="ada", note="not now"
    ),
    events.CallIntended(
        call_id="cal_1",
        tool="bash",
        arguments_hash="ab12",
        grounds="rule policy.toml:3",
        repairs=(Repair("integer_from_text", "limit"),),
    ),
    events.CallSettled(call_id="cal_1", tool="bash", envelope=Raw(b'{"ok":true,"result":null}')),
    events.SidecarKept(call_id="cal_1", path="/data/out", stored_bytes=9),
    events.ModelRequested(request_id="mod_1", model="m", request_hash="cd34"),
    events.ModelReplied(request_id="mod_1", reply={"text": "ok"}, usage={"input": 3}),
    events.CallRefused(
        call_id="cal_1", tool="bash", arguments_hash="ab12", kind="rejected", reason="a rule"
    ),
    events.AgentChunk(chunk={"type": "text-delta", "id": "0", "delta": "Hi"}),
    events.FlowGrown(
        chunks=(
            AssistantChunk(None, (AskedCall("call_1", "bash", '{"command": "ls"}'),)),
            ToolResultChunk("call_1", "bash", "a.txt"),
        ),
        lineage=Lineage(parent_session_ids=("ses_0",), operator="fork", kind="op_fork"),
        usage=TokenUsage(3, 2, 5),
    ),
    events.InquiryAsked(
        call_id="cal_1",
        questions=(
            PersonQuestion(
                question="Which database?",
                header="Storage",
                options=(Choice(label="SQLite", description="One file"), Choice(label="None")),
            ),
            PersonQuestion(question="Where?", multi_select=True),
        ),
    ),
    events.InquiryAnswered(call_id="cal_1", answers=(("SQLite",), ("here", "there")), by="ada"),
    wake_events.WakeQueued(
        queued_wake_id="qwk_1",
        due_at=datetime(2026, 11, 15, 12, 5, 0, 7, tzinfo=UTC),
        reason="session.follow_up",
        note="look again",
        dedupe_key="follow-up:ses_1",
        priority="low",
    ),
    wake_events.WakesCompleted(queued_wake_ids=("qwk_1", "qwk_2"), cancelled=True),
    wake_events.WakeDeferred(
        until=datetime(2026, 11, 15, 12, 0, 5, tzinfo=UTC), attempt=2, reason="timeout"
    ),
    wake_events.DirectiveTaken(outcome="sleep", summary="rests", enforced_by_runtime=True),
    wake_events.LearningCaptured(
        learning_kind="correction",
        title="Ask first",
        detail="The person wants to see a plan.",
        promote_to_memory=True,
        dedupe_key="plan",
    ),
    wake_events.ModelFailed(
        request_id="mod_1",
        trouble="rate_limited",
        message="too many requests",
        attempt=1,
        retry_in_seconds=2.5,
    ),
    wake_events.OutputsPruned(call_ids=("cal_1",)),
    wake_events.ContextCompacted(summary="It was about tests.", kept_from=12, automatic=False),
    wake_events.AgentEquipped(
        system=("You are kind.",),
        tools=(ModelTool(name="read", description=None, schema={"type": "object"}),),
    ),
    wake_events.ModelBrokenOff(request_id="mod_1", text="I was about to"),
    wake_events.RunBounded(limits=RunLimits(rounds=3, tokens=100, cost=0.5, seconds=2.5)),
    events.ApprovalWithdrawn(approval_id="apr_1", call_id="cal_1", reason="allowed by a rule"),
    events.ChildWaits(call_id="cal_1", child_session_id="ses_2", summary="waits for leave"),
    events.ChildAnswered(call_id="cal_1", child_session_id="ses_2"),
    managed_events.SetupDescribed(
        fingerprint="ab" * 32,
        resource_contract_fingerprint="cd" * 32,
        environment_fingerprint="ef" * 32,
        setup={"model": {"provider": "scripted"}},
    ),
    managed_events.ContextMeasured(budget={"window_tokens": 8000}),
    managed_events.OutcomeEvaluated(
        record=outcomes.EvaluationRecord(
            evaluated_at="2026-01-02T03:04:05+00:00",
            wake_id="wak_1",
            iteration=0,
            outcome_title="Green",
            outcome_fingerprint="12" * 32,
            grade_status="in_progress",
            evaluation=outcomes.Evaluation(
                status="not_ready", confidence="low", summary="It is under way."
            ),
        )
    ),
    managed_events.ShellChanged(cwd="/ws/src", set_env=(("LEVEL", "3"),), unset_env=("OLD",)),
    managed_events.ResourceStaged(
        source_path="plan.md", target_path="plan.md", source_hash="aa", target_hash="aa"
    ),
    managed_events.ResourcePromoted(
        target_path="plan.md", version_id="ver_1", content_hash="bb", source_path="plan.md"
    ),
    managed_events.NotesPromoted(version_id="ver_2", content_hash="cc", overridden=True),
    wake_events.WorkspaceKept(
        snapshot="ab" * 32, path="/ws", files=3, bytes=120, added_bytes=20, left_out=1
    ),
    wake_events.WorkspaceStays(place="c0ffee", machine="one", path="/ws", reason="too large"),
    wake_events.WorkspaceLost(snapshot="ab" * 32, path="/ws", calls=2),
)
