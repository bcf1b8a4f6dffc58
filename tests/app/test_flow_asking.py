"""What a loop asks its model stands in the journal, and what may pass is tried again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from app.recorded import SECRET, around, events_of
from flow_kit import UNKEPT, Safe, Scripted, agent, asks, gives, kinds, says, user
from telemetry_kit import Memory, told

from holdfast.agent import asking
from holdfast.agent.replies import read_reply
from holdfast.agent.requests import request_hash
from holdfast.app.flow_options import SettlingOptions
from holdfast.app.settings import Settings, TelemetrySettings
from holdfast.contract.agents import DEFAULT_RETRIES
from holdfast.contract.chunks import AskedCall
from holdfast.contract.events import CallAsked, Event, FlowGrown, ModelReplied, ModelRequested
from holdfast.contract.flow import FlowSession
from holdfast.contract.model import ModelError, ModelReply
from holdfast.contract.wake_events import ModelFailed
from holdfast.flow import run_session_compress_async, run_session_loop_async

BUSY = ModelError("rate_limited", "slow down", status=429)
WRONG = ModelError("authentication", f"the key {SECRET} is refused")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "FIRST_PAUSE", 0.001)


def _kept(root: Path, *secrets: str) -> SettlingOptions:
    return {"settings": Settings(), "surroundings": around(root, *secrets)}


def _one(_session: FlowSession, _arguments: Mapping[str, object]) -> object:
    return 1


def _said(events: tuple[Event, ...], kind: type) -> list[Any]:
    return [one.payload for one in events if isinstance(one.payload, kind)]


async def test_a_failure_that_may_pass_is_tried_again_and_written_down(tmp_path: Path) -> None:
    model = Scripted(BUSY, BUSY, says("here I am", cost=5))
    out = await run_session_loop_async(user(), agent(), model, **_kept(tmp_path))
    assert out.chunk_table.rows[-1].content == "here I am"
    assert kinds(out) == ["user", "assistant"]
    assert len({request_hash(one, "scripted") for one in model.requests}) == 1
    events = await events_of(tmp_path, out.id)
    failed = _said(events, ModelFailed)
    assert [(one.trouble, one.attempt) for one in failed] == [
        ("rate_limited", 1),
        ("rate_limited", 2),
    ]
    assert all(one.retry_in_seconds is not None for one in failed)
    asked = _said(events, ModelRequested)
    assert len({one.request_id for one in asked}) == 3
    assert [one.request_id for one in failed] == [one.request_id for one in asked[:2]]


async def test_what_does_not_pass_is_raised_and_written_down_without_secrets(
    tmp_path: Path,
) -> None:
    model = Scripted(says("I", "tool_calls"), WRONG)
    with pytest.raises(ModelError, match="is refused"):
        await run_session_loop_async(user(), agent(), model, **_kept(tmp_path, SECRET))
    assert len(model.requests) == 2
    journaled = b"".join(one.read_bytes() for one in tmp_path.rglob("*") if one.is_file())
    assert b"authentication" in journaled
    assert SECRET.encode() not in journaled


async def test_a_failure_that_does_not_pass_in_time_is_raised_in_the_end() -> None:
    model = Scripted(BUSY)
    with pytest.raises(ModelError, match="slow down"):
        await run_session_loop_async(user(), agent(), model, **UNKEPT)
    assert len(model.requests) == 1 + DEFAULT_RETRIES


async def test_a_provider_that_wants_to_be_left_alone_for_long_is() -> None:
    model = Scripted(ModelError("overloaded", "tomorrow", retry_after=86_400))
    with pytest.raises(ModelError, match="tomorrow"):
        await run_session_loop_async(user(), agent(), model, **UNKEPT)
    assert len(model.requests) == 1


async def test_telling_in_short_is_tried_again_as_well() -> None:
    model = Scripted(BUSY, says("In short."))
    short = await run_session_compress_async(user(), agent(), model, **UNKEPT)
    assert [row.content for row in short.chunk_table] == ["In short."]


async def test_requests_and_replies_stand_in_the_journal_as_those_of_a_wake(
    tmp_path: Path,
) -> None:
    """A request names the rows it told, and a reply its calls as their trails name them."""
    tools = [gives("b", 2), Safe("a", _one)]
    alike = AskedCall("c1", "a", '{"n": 1}')
    others = AskedCall("c2", "a", '{"n": 2}'), AskedCall("c3", "b", "{}")
    both = ModelReply(text="so", calls=(alike, others[0], alike, others[1]), finish="tool_calls")
    model = Scripted(both, says("done", cost=7))
    out = await run_session_loop_async(user(), agent(), model, tools, **_kept(tmp_path))
    events = await events_of(tmp_path, out.id)
    asked = _said(events, ModelRequested)
    assert [one.request_hash for one in asked] == [
        request_hash(one, "scripted") for one in model.requests
    ]
    grown = [one.sequence for one in events if isinstance(one.payload, FlowGrown)]
    assert [one.through for one in asked] == [grown[0], grown[2]]
    first, last = map(read_reply, (one.reply for one in _said(events, ModelReplied)))
    assert (first.text, last.text) == ("so", "done")
    trails = {one.call_id: one for one in _said(events, CallAsked)}
    assert [(trails[one.id].tool, trails[one.id].arguments) for one in first.calls] == [
        ("a", '{"n": 1}'),
        ("a", '{"n": 2}'),
        ("a", '{"n": 1}'),
        ("b", "{}"),
    ]
    assert len(trails) == 4
    assert [one.usage.get("input_tokens", 0) for one in _said(events, ModelReplied)] == [0, 7]


async def test_what_a_model_is_asked_by_a_loop_is_a_span(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    memory = Memory()
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER", memory.tracers)
    monkeypatch.setattr("opentelemetry.metrics._internal._METER_PROVIDER", memory.meters)
    settings = Settings(telemetry=TelemetrySettings(enabled=True))
    model = Scripted(BUSY, asks(("mine", "{}")), says("done"))
    await run_session_loop_async(
        user(), agent(), model, [gives("mine", 1)], settings=settings, surroundings=around(tmp_path)
    )
    assert memory.tree() == [
        *["chat scripted"] * 2,
        *("execute_tool mine", "  permission.evaluate"),
        "chat scripted",
    ]
    chats = [told(one) for one in memory.spans if one.name == "chat scripted"]
    assert {one["gen_ai.provider.name"] for one in chats} == {"tests"}
    assert [one.get("error.type") for one in chats] == ["rate_limited", None, None]
