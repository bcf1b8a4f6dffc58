"""Outcomes and permissions as pages: short, and one line for what is one thing."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.events import WantedOutcome
from holdfast.contract.managed.crowding import Pressure
from holdfast.contract.managed.permissions import PendingConfirmation, PermissionPosture
from holdfast.contract.managed.shell_views import ShellPosture
from holdfast.contract.outcomes import Evaluation, EvaluationRecord, Grade, Shown
from holdfast.contract.steps import Step
from holdfast.runtime.managed.outcome_pages import (
    evaluation_page,
    grade_page,
    history_page,
    repair_page,
)
from holdfast.runtime.managed.permission_page import permission_page

STEP = Step(tool="session_get_trace", args={"wake_id": "wak_1"}, rationale="What it\nreally did.")
NEXT = '`session_get_trace` {"wake_id":"wak_1"}: What it really did.'
TILL = WantedOutcome(title="The till\nadds up", success_criteria=("cents add up", "it prints"))
SHOWN = Shown(
    criterion="cents add up", score=7, kind="output", excerpt="3 passed", event_id="evt_1"
)
GRADE = Grade(
    status="in_progress",
    confidence="medium",
    summary="It is under way; 1 of 2 criteria are met.",
    matched_criteria=1,
    total_criteria=2,
    evidence=(SHOWN,),
    next_suggested_tool=STEP,
)
NOT_READY = Evaluation(
    status="not_ready",
    confidence="medium",
    summary=GRADE.summary,
    trend="stable",
    trend_summary="It stands as it did after the run before.",
    next_suggested_tool=STEP,
)
PASS = Evaluation(status="pass", confidence="high", summary="All is met.", promotion_ready=True)


def test_a_grade_is_shown_with_its_evidence_and_what_to_call() -> None:
    page = grade_page(TILL, GRADE)
    assert page.splitlines() == [
        "# Outcome grade",
        "",
        "- Outcome: The till adds up",
        "- Status: in_progress (confidence medium)",
        "- Criteria met: 1 of 2",
        f"- {GRADE.summary}",
        f"- Next: {NEXT}",
        "",
        "## Evidence",
        "",
        "- cents add up: output evt_1: 3 passed",
    ]
    missing = Grade(status="missing_outcome", confidence="high", summary="No outcome is defined.")
    assert "- Outcome: none is defined" in grade_page(None, missing)
    assert "Evidence" not in grade_page(None, missing)


def test_a_verdict_is_shown_with_its_trend() -> None:
    page = evaluation_page(TILL, NOT_READY)
    assert "- Status: not_ready (confidence medium)\n- Promotion ready: no\n" in page
    assert "- Trend: stable. It stands as it did after the run before.\n" in page
    assert page.endswith(f"- Next: {NEXT}\n")
    assert "- Promotion ready: yes" in evaluation_page(TILL, PASS)


def record(number: int, title: str = "The | till") -> EvaluationRecord:
    return EvaluationRecord(
        evaluated_at="2026-01-02T03:04:05+00:00",
        wake_id=f"wak_{number}",
        iteration=number,
        outcome_title=title,
        outcome_fingerprint="ab",
        grade_status="in_progress",
        evaluation=NOT_READY,
    )


def test_the_history_is_a_table_with_the_newest_run_first() -> None:
    lines = history_page([record(0), record(1)]).splitlines()
    assert lines[-2] == (
        "| 1 | wak_1 | 2026-01-02T03:04:05+00:00 | in_progress | not_ready | stable |"
        " The \\| till |"
    )
    assert lines[-1].startswith("| 0 | wak_0 |")
    assert "No run has been evaluated." in history_page([])


@given(st.text(max_size=40))
def test_whatever_a_title_is_a_record_is_one_row(title: str) -> None:
    page = history_page([record(0, title)])
    assert page.count("\n") == 5
    assert page.splitlines()[:4] == history_page([record(0)]).splitlines()[:4]


def test_the_way_to_the_outcome_names_what_is_unmet_and_what_to_call() -> None:
    assert repair_page(TILL, GRADE, NOT_READY).splitlines() == [
        "# Outcome repair",
        "",
        f"- in_progress: {GRADE.summary}",
        "- Unmet: it prints",
        f"- Next: {NEXT}",
    ]
    assert "Nothing is to be repaired" in repair_page(TILL, GRADE, PASS)
    bare = WantedOutcome(title="x")
    assert "It has no criteria" in repair_page(bare, GRADE, NOT_READY)
    failed = Evaluation(status="fail", confidence="high", summary="read failed.")
    assert "- fail: read failed." in repair_page(TILL, GRADE, failed)
    assert "Unmet" not in repair_page(None, GRADE, NOT_READY)


def test_a_posture_is_shown_line_by_line() -> None:
    found = PermissionPosture(
        pending_tool_confirmation_request=PendingConfirmation(
            id="apr_1",
            tool_name="shell_run",
            ownership="managed",
            permission_policy="always_ask",
            input={"command": "cat a"},
            requested_at="now",
        ),
        outcome_evaluation=NOT_READY,
        next_outcome_step=STEP,
        context_pressure=Pressure(level="high", reasons=("low_headroom:3",)),
        shell_mutation_posture=ShellPosture(status="active", busy=True, cwd="/ws"),
        read_only_alternative=STEP,
        next_shell_step=STEP,
        shell_read_first_alternatives=(STEP,),
        always_ask_tools=("shell_run",),
        outcome_gated_tools=(),
    )
    assert permission_page(found).splitlines() == [
        "# Permission posture",
        "",
        '- Waits for a person: shell_run {"command":"cat a"} (apr_1)',
        "- Ask before each call: shell_run",
        "- Wait for the outcome: none",
        f"- Outcome: not_ready: {GRADE.summary}",
        f"- Next for the outcome: {NEXT}",
        "- Context: high (low_headroom:3)",
        "- Shell: active, busy, in /ws",
        f"- Reads the same: {NEXT}",
        f"- Next for the shell: {NEXT}",
        f"- Read first: {NEXT}",
    ]
    plain = PermissionPosture(
        outcome_evaluation=PASS, shell_mutation_posture=ShellPosture(status="none", cwd="/ws")
    )
    assert permission_page(plain).splitlines()[2:] == [
        "- Waits for a person: nothing",
        "- Ask before each call: none",
        "- Wait for the outcome: none",
        "- Outcome: pass: All is met.",
        "- Shell: none, in /ws",
    ]
