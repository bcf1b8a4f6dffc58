"""The parts that need no editor: ends of turns, attachments, and what is told of rare events."""

from datetime import UTC, datetime
from typing import Any, cast

import msgspec
import pytest
from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    TextContentBlock,
)

from holdfast.agent.place import Sign
from holdfast.app.changed_texts import ChangedText
from holdfast.app.read_along import Below
from holdfast.contract.events import (
    CallAsked,
    CallIntended,
    CallSettled,
    ChildIdle,
    Event,
    ModelReplied,
    ModelRequested,
    Payload,
)
from holdfast.contract.model import CallDelta, TextDelta
from holdfast.contract.runtime import Progress
from holdfast.contract.wake_events import ContextCompacted, ModelBrokenOff, ModelFailed
from holdfast.contract.wakes import WakeEnd
from holdfast.surfaces.acp.calls import NOT_WHOLE, Calls
from holdfast.surfaces.acp.ends import TurnFailed, end_of
from holdfast.surfaces.acp.prompts import prompt_of
from holdfast.surfaces.acp.telling import Telling, plan
from holdfast.surfaces.acp.titles import arguments_in


def _end(ended: str | None, **more: Any) -> WakeEnd:
    given = {"session_id": "s", "executed": True, "ended": ended, **more}
    return msgspec.convert(given, WakeEnd)


def test_what_waits_for_somebody_is_told_with_how_to_answer() -> None:
    asks = ["holdfast sessions answer s apr_1"]
    paused = end_of(_end("requires_action"), asks)
    assert paused.reason == "end_turn"
    assert paused.says is not None
    assert asks[0] in paused.says
    idle = WakeEnd(session_id="s", executed=False, reason="idle")
    assert end_of(idle, asks).says is not None
    assert end_of(idle) == ("end_turn", None)
    assert end_of(_end("requires_action")) == ("end_turn", None)


def test_a_failure_names_its_reason() -> None:
    with pytest.raises(TurnFailed, match="The run failed: no reason is known"):
        end_of(_end("failed"))
    assert end_of(_end("cancelled")) == ("cancelled", None)


def test_what_is_no_text_is_named_and_told() -> None:
    blob = BlobResourceContents(uri="file:///a.bin", blob="aGk=")
    prompt = prompt_of(
        [
            TextContentBlock(type="text", text="Listen."),
            AudioContentBlock(type="audio", data="aGk=", mime_type="audio/wav"),
            EmbeddedResourceContentBlock(type="resource", resource=blob),
        ]
    )
    assert "[a recording was attached here" in prompt.text
    assert "[a file that is no text was attached here" in prompt.text
    assert prompt.remark is not None
    assert prompt.remark.startswith("A recording and a file that is no text of your message ")


class _Told:
    """Tells a session of tests."""

    def __init__(self) -> None:
        self.telling = Telling(Calls(lambda _name: None, "/w"), self._changed, "/w")
        self._count = 0

    async def _changed(self, _call_id: str) -> tuple[ChangedText, ...]:
        return ()

    async def of(self, *told: object) -> list[Any]:
        found: list[Any] = []
        for one in told:
            what = self.event(one) if isinstance(one, Payload) else one
            updates = await self.telling.of(cast("Any", what))
            found += [one.model_dump(by_alias=True, exclude_none=True) for one in updates]
        return found

    def event(self, payload: Payload) -> Event:
        self._count += 1
        return Event(
            session_id="s",
            sequence=self._count,
            id=f"e{self._count}",
            at=datetime.now(UTC),
            wake_id=None,
            payload=payload,
            previous=b"",
            hash=b"",
        )


REQUESTED = ModelRequested(request_id="r", model="m", request_hash="h")
WRITES = CallDelta(index=0, id="c", name="bash", arguments="{")


def _settled(call: str, tool: str, **envelope: object) -> CallSettled:
    return CallSettled(call_id=call, tool=tool, envelope=msgspec.Raw(msgspec.json.encode(envelope)))


@pytest.mark.parametrize(
    "broken",
    [
        ModelBrokenOff(request_id="r", text="x"),
        ModelFailed(request_id="r", trouble="connection", message="gone", attempt=1),
        ModelReplied(request_id="r", reply={"text": "x", "cut_calls": ["bash"]}),
    ],
)
async def test_a_call_that_was_never_whole_has_failed(broken: Payload) -> None:
    told = await _Told().of(REQUESTED, WRITES, WRITES, TextDelta("x"), broken)
    cards = [one for one in told if "toolCallId" in one]
    assert [one["status"] for one in cards] == ["pending", "failed"]
    assert cards[1]["content"][0]["content"]["text"] == NOT_WHOLE
    assert [one["content"]["text"] for one in told if "toolCallId" not in one] == ["x"]


async def test_a_model_that_is_asked_again_is_told() -> None:
    failed = ModelFailed(
        request_id="r", trouble="overloaded", message="busy", attempt=1, retry_in_seconds=1.5
    )
    (told,) = await _Told().of(REQUESTED, failed)
    assert told["sessionUpdate"] == "agent_thought_chunk"
    assert "busy; it is asked again in 1.5 s" in told["content"]["text"]


async def test_a_summary_is_no_part_of_the_conversation() -> None:
    aside = ModelRequested(request_id="r", model="m", request_hash="h", purpose="summary")
    replied = ModelReplied(request_id="r", reply={"text": "All of it."})
    compacted = ContextCompacted(summary="All of it.", kept_from=1)
    told = await _Told().of(aside, TextDelta("All"), replied, compacted, TextDelta("Now."))
    assert [one["content"]["text"] for one in told] == [
        "(A summary stands for what was said before.)",
        "Now.",
    ]


async def test_what_did_not_come_in_pieces_is_told_whole() -> None:
    replied = ModelReplied(request_id="r", reply={"text": "Hello.", "reasoning": "Hm."})
    told = await _Told().of(REQUESTED, replied)
    assert [one["sessionUpdate"] for one in told] == ["agent_thought_chunk", "agent_message_chunk"]


async def test_a_sign_of_life_is_told_of_calls_that_run() -> None:
    told = _Told()
    sign = Sign(call_id="c", progress=Progress(message="half"))
    asked = CallAsked(call_id="c", tool="x", arguments="not json")
    intended = CallIntended(call_id="c", tool="x", arguments_hash="h", grounds="g")
    updates = await told.of(sign, asked, intended, sign, Sign(call_id="c", progress=Progress()))
    assert [one.get("rawInput") for one in updates] == ["not json", "not json", None]
    assert updates[-1]["content"][0]["content"]["text"] == "half"
    assert list(told.telling.calls.prints("c", "one\n")) != []
    assert list(told.telling.calls.prints("c", "one\n")) == []  # nothing is new
    assert await told.of(sign) == []  # what it prints tells more
    (end,) = await told.of(_settled("c", "x", ok=True, result=None))
    assert end["status"] == "completed"
    assert await told.of(sign, intended, _settled("d", "x", ok=True)) == []


async def test_work_in_the_background_tells_its_end() -> None:
    idle = ChildIdle(
        child_session_id="b", child_stop_reason="idle", summary="Six words.", executed_cycles=1
    )
    (told,) = await _Told().of(idle)
    assert told["content"]["text"] == "(Work in the background has ended: Six words.)"


@pytest.mark.parametrize(
    "payload",
    [
        CallAsked(call_id="k", tool="read", arguments="["),
        ContextCompacted(summary="x", kept_from=1),
    ],
)
async def test_what_nobody_waits_for_is_not_told(payload: Payload) -> None:
    told = _Told()
    below = Below(name="coder", depth=1, event=told.event(payload))
    assert await told.telling.below(below) == []


def test_a_list_that_is_none_is_an_empty_plan() -> None:
    assert plan(None).entries == []
    assert plan([{"content": "x"}]).entries == []
    assert arguments_in("[1]") is None
