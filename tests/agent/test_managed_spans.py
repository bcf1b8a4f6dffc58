"""Managed calls: each in a span of its own, inside of the wake's."""

from pathlib import Path

import pytest
from agents_at_work import at_work, calls

from holdfast import tool
from holdfast.contract.events import SpanCompleted, SpanStarted, ToolUse

pytestmark = pytest.mark.anyio


@tool(read_only=True)
async def add(a: int, b: int) -> int:
    """Add two numbers.

    Slowly.
    """
    return a + b


@tool(permission_policy="always_ask")
async def deploy() -> str:
    """Deploy."""
    return "deployed"


ADD = ("add", '{"a": 1, "b": 2}')


@pytest.mark.req("BOA-CALL-01", "BOA-EVT-11")
async def test_every_managed_call_is_inside_a_span(tmp_path: Path) -> None:
    asked = calls(ADD, ("nobody", "{}"), ("add", '{"a": "x"}'))
    async with at_work(tmp_path, [asked, "3"], tools=[add], equipment={"managed": True}) as desk:
        await desk.told("1 + 2?")
        assert desk.session.last is not None
        wake_id = desk.session.last.wake_id
        wake, *begun = await desk.payloads(SpanStarted)
        assert (wake.span_id, wake.parent_span_id, wake.span_kind, wake.name) == (
            *(wake_id, None),
            *("wake", "session_run"),
        )
        assert wake.summary == "1 new event"
        assert [(one.parent_span_id, one.span_kind, one.name) for one in begun] == [
            (wake_id, "tool", "add"),
            (wake_id, "tool", "nobody"),
            (wake_id, "tool", "add"),
        ]
        assert [one.summary for one in begun] == ["Add two numbers.", None, "Add two numbers."]
        *ended, _wake = await desk.payloads(SpanCompleted)
        assert [one.span_id for one in ended] == [one.span_id for one in begun]
        assert [one.result for one in ended] == ["success", "error", "error"]
        events = await desk.events()
        for span in begun:
            of_call = [
                event.type
                for event in events
                if span.span_id
                in {getattr(event.payload, name, None) for name in ("span_id", "call_id")}
            ]
            assert of_call[0] == "span.started"
            assert of_call[-1] == "span.completed"
            assert "call.settled" in of_call


async def test_what_waits_is_a_blocked_span_and_no_use_yet(tmp_path: Path) -> None:
    async with at_work(
        tmp_path, [calls(("deploy", "{}"))], tools=[deploy], equipment={"managed": True}
    ) as desk:
        await desk.told("Deploy.")
        span, _wake = await desk.payloads(SpanCompleted)
        assert (span.name, span.result) == ("deploy", "blocked")
        (used,) = await desk.payloads(ToolUse)
        assert used.output is None
