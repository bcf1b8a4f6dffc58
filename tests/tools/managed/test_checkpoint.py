"""The checkpoint of a session: where it stands, by its journal and by nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
from tool_kit import result
from tools.managed.memory_kit import (
    TILL,
    events_of,
    home_of,
    managed_of,
    outcome,
    remembering,
    run,
    written,
)

from holdfast.contract.events import EventsProcessed, ModelRequested, SpanCompleted, UserMessage
from holdfast.contract.managed_events import OutcomeEvaluated
from holdfast.contract.outcomes import Evaluation, EvaluationRecord
from holdfast.contract.wake_events import DirectiveTaken, WakeQueued
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio


async def read(hf: Any, target: str) -> Any:
    return (await result(hf, "memory_read", target=target))["content"]


@pytest.mark.req("BOA-MEM-31")
async def test_a_checkpoint_says_where_the_session_stands_by_its_journal(workspace: Path) -> None:
    clock = FakeClock()
    async with remembering(workspace, clock=clock) as hf:
        empty = await read(hf, "checkpoint")
        assert (empty["last_wake_id"], empty["active_outcome"]) == (None, None)
        assert empty["event_cursor"] == {
            "last_context_event_id": None,
            "last_processed_event_id": None,
            "last_produced_event_id": None,
        }
        (defined, said) = await written(hf, [outcome(), UserMessage(message="Go.")])
        asked = ModelRequested(request_id="req", model="m", request_hash="h", through=said.sequence)
        due = clock.now()
        await written(
            *(hf, [EventsProcessed(event_ids=(defined.id, said.id)), asked]), wake_id="wak_1"
        )
        await written(
            *(
                hf,
                [
                    DirectiveTaken(outcome="continue", summary="More is to come."),
                    WakeQueued(
                        queued_wake_id="wak_q", due_at=due, reason="look", note="The blue one."
                    ),
                ],
            ),
            wake_id="wak_1",
        )
        await run(hf, "wak_1", shows="nothing")
        record = EvaluationRecord(
            evaluated_at=due.isoformat(),
            wake_id="wak_1",
            iteration=0,
            outcome_title=TILL.title,
            outcome_fingerprint="f",
            grade_status="in_progress",
            evaluation=Evaluation(status="not_ready", confidence="low", summary="Not yet."),
        )
        await written(hf, [OutcomeEvaluated(record=record)])
        found = await read(hf, "checkpoint")
        events = await events_of(hf)
        of_run = [one for one in events if one.wake_id == "wak_1"]
        assert set(found) == {
            *("last_wake_id", "last_event_ids", "event_cursor", "last_outcome", "last_summary"),
            *("response_message", "next_wake_at", "consecutive_follow_ups", "active_outcome"),
            *("queued_wakes", "stop_reason", "last_agent_setup_fingerprint"),
            "outcome_evaluation_history",
        }
        assert (found["last_wake_id"], found["last_outcome"]) == ("wak_1", "continue")
        assert found["event_cursor"] == {
            "last_context_event_id": said.id,
            "last_processed_event_id": said.id,
            "last_produced_event_id": of_run[-1].id,
        }
        known = [one.id for one in events]
        assert len(found["last_event_ids"]) == 10
        start = known.index(found["last_event_ids"][0])
        assert known[start : start + 10] == found["last_event_ids"]
        assert (found["last_summary"], found["response_message"]) == (
            "Did wak_1.",
            "Said in wak_1.",
        )
        assert found["next_wake_at"] == due.isoformat()
        (queued,) = found["queued_wakes"]
        assert (queued["queued_wake_id"], queued["note"]) == ("wak_q", "The blue one.")
        assert found["active_outcome"]["success_criteria"] == ["all tests pass"]
        assert [one["wake_id"] for one in found["outcome_evaluation_history"]] == ["wak_1"]
        assert found["stop_reason"] == "idle"
        await managed_of(hf).memory.refresh()
        file = home_of(workspace) / "sessions" / hf.session_id / "memory" / "checkpoint.json"
        assert json.loads(file.read_text("utf-8"))["last_wake_id"] == "wak_1"


async def test_a_session_without_an_outcome_is_told_by_its_spans(workspace: Path) -> None:
    async with remembering(workspace) as hf:
        span = SpanCompleted(
            span_id="wak_9", span_kind="wake", name="session_run", summary="So.", result="success"
        )
        (ended,) = await written(hf, [span], wake_id="wak_9")
        found = await read(hf, "checkpoint")
        assert (found["last_wake_id"], found["last_summary"]) == ("wak_9", "So.")
        assert found["event_cursor"]["last_produced_event_id"] == ended.id


async def test_a_file_that_cannot_be_shown_is_told_in_the_log_and_nothing_else(
    workspace: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with remembering(workspace) as hf:
        folder = home_of(workspace) / "sessions" / hf.session_id
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "memory").rmdir()
        (folder / "memory").write_text("in the way", "utf-8")
        kept = await result(hf, "memory_write", target="working_buffer", content="kept")
        assert kept["content"] == "kept"
        assert "was not written" in caplog.text
        (folder / "memory").unlink()
