"""Conversations as the AI SDK's stream: a reader of its protocol gets the same messages back."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import Raw
from record.conversations import ENVELOPES, PAYLOADS, SESSION, Kept, closing, keep, kept_by
from record.ui_stream import BadStream, ReadMessage, read_stream

from holdfast.contract import events
from holdfast.contract.archive import Message, Part
from holdfast.contract.events import AgentChunk, CallAsked, CallSettled, Payload, UserMessage
from holdfast.record.codec import Chain
from holdfast.record.live import LiveStream
from holdfast.record.memory import memory_store
from holdfast.record.model_view import model_view
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.record.stream import AnyChunk, lowered, text_of
from holdfast.testing.fakes import FakeClock, FakeIds

Json = dict[str, Any]


def in_memory(payloads: Sequence[Payload]) -> Kept:
    async def main() -> Kept:
        async with closing(memory_store(FakeClock(), FakeIds())) as store:
            return await kept_by(store, payloads)

    return anyio.run(main)


def plain(chunks: Iterable[AnyChunk]) -> list[Json]:
    return [json.loads(text_of(chunk)) for chunk in chunks]


def live(kept: Kept, *, skipped: int = 0) -> list[AnyChunk]:
    stream = LiveStream(SESSION)
    told: list[AnyChunk] = []
    for number, event in enumerate(kept.events):
        if number < skipped:
            stream.skip(event)
        else:
            told += stream.told(event)
    return [*told, *stream.ended()]


def expected(part: Part) -> Json:
    """What the protocol can say of a part: not who asked, nor what a failed call answered."""
    data = dict(part.data)
    if part.type in ("text", "reasoning"):
        return {"type": part.type, "text": data["text"], "state": data.get("state", "done")}
    if part.tool_call_id is None:
        return data
    state = "approval-requested" if part.tool_state == "approval-responded" else part.tool_state
    if state == "input-available" and "input" not in data:
        state = "input-streaming"  # without an input there is only its beginning
    told: Json = {"type": data["type"], "toolCallId": part.tool_call_id, "state": state}
    if "input" in data:
        told["input"] = data["input"]
    else:
        told["rawInput"] = data.get("rawInput", "")
    if state == "approval-requested":
        told["approval"] = data["approval"]["id"]  # pyright: ignore[reportArgumentType,reportCallIssue,reportIndexIssue,reportOptionalSubscript] - as it is written
    if state == "output-available":
        told["output"] = data["output"]
    if state == "output-error":
        told["errorText"] = data["errorText"]
    return told


def as_expected(messages: Iterable[Message]) -> list[tuple[str, str, list[Json]]]:
    return [
        (one.id, one.role, [expected(part) for part in one.parts if part.type != "data-abort"])
        for one in messages
    ]


def as_read(messages: Iterable[ReadMessage]) -> list[tuple[str, str, list[Json]]]:
    return [(one.id, one.role, one.parts) for one in messages]


def without_approvals(read: list[tuple[str, str, list[Json]]]) -> list[tuple[str, str, list[Json]]]:
    """Live, the question of a call that has its answer was told, too."""
    for _, _, parts in read:
        for part in parts:
            if str(part.get("state")).startswith("output-"):
                part.pop("approval", None)
    return read


def said(*chunks: Json) -> list[Payload]:
    return [AgentChunk(chunk=chunk) for chunk in chunks]


LATE: list[Payload] = [
    CallAsked(call_id="cal_1", tool="run", arguments="{}"),
    UserMessage(message="and?"),
    *said({"type": "text-start", "id": "a"}),
    CallSettled(call_id="cal_1", tool="run", envelope=Raw(b'{"ok":true,"result":1}')),
    *said({"type": "text-delta", "id": "a", "delta": "x"}),
]
"""A call whose answer comes while a later message is being told."""


@pytest.mark.req("SPEC-REC-15")
@given(PAYLOADS)
@example(LATE)
@settings(max_examples=150)
def test_a_reader_gets_the_messages_back_from_the_rows(payloads: list[Payload]) -> None:
    kept = in_memory(payloads)
    read = read_stream(plain(lowered(kept.messages)))
    assert as_read(read) == as_expected(kept.messages)
    for message, told in zip(kept.messages, read, strict=True):
        aborted = any(part.type == "data-abort" for part in message.parts)
        assert told.ends == ["abort" if aborted else "finish"]


@given(PAYLOADS)
@settings(max_examples=60)
def test_the_same_rows_give_the_same_bytes(payloads: list[Payload]) -> None:
    first, second = in_memory(payloads), in_memory(payloads)
    assert [text_of(one) for one in lowered(first.messages)] == [
        text_of(one) for one in lowered(second.messages)
    ]


@pytest.mark.req("SPEC-REC-24")
@given(PAYLOADS)
@example(LATE)
@settings(max_examples=150)
def test_live_and_replayed_the_stream_has_the_same_chunks(payloads: list[Payload]) -> None:
    kept = in_memory(payloads)
    told = live(kept)
    assert [text_of(one) for one in told] == [text_of(one) for one in live(kept)]
    read = read_stream(plain(told))
    assert without_approvals(as_read(read)) == as_expected(kept.messages)


@given(PAYLOADS, st.integers(0, 25))
@example(LATE, 3)
@example(LATE, 5)
@settings(max_examples=150)
def test_a_stream_from_later_on_can_be_read_alone(payloads: list[Payload], skipped: int) -> None:
    kept = in_memory(payloads)
    read = without_approvals(as_read(read_stream(plain(live(kept, skipped=skipped)))))
    assert all(one in as_expected(kept.messages) for one in read)


def lines(*payloads: Payload) -> list[str]:
    return [text_of(one) for one in live(in_memory(payloads))]


def message_of(line: str) -> str:
    return str(json.loads(line)["messageId"])


def asked(arguments: str = '{"b": 1, "a":2}') -> CallAsked:
    return CallAsked(call_id="cal_1", tool="run", arguments=arguments)


def answered(envelope: object) -> CallSettled:
    return CallSettled(call_id="cal_1", tool="run", envelope=Raw(json.dumps(envelope).encode()))


QUESTION = events.ApprovalAsked(
    approval_id="apr_1", call_id="cal_1", tool="run", arguments_hash="x", reason="why"
)
YES = events.ApprovalAnswered(approval_id="apr_1", call_id="cal_1", allowed=True, by="ada")
INPUT = (
    '{"type":"tool-input-available","toolCallId":"cal_1","toolName":"run","input":{"b": 1, "a":2}}'
)
REQUEST = '{"type":"tool-approval-request","toolCallId":"cal_1","approvalId":"apr_1"}'
BEGUN = '{"type":"tool-input-start","toolCallId":"cal_1","toolName":"run"}'


@pytest.mark.req("SPEC-REC-15")
@pytest.mark.parametrize(
    ("payloads", "wanted"),
    [
        (said({"type": "tool-input-start", "toolCallId": "cal_1", "toolName": "run"}), [BEGUN]),
        ([asked()], [INPUT]),
        ([asked(), QUESTION], [INPUT, REQUEST]),
        ([asked(), QUESTION, YES], [INPUT, REQUEST]),
        (
            [asked(), QUESTION, YES, answered(ENVELOPES[0])],
            [
                INPUT,
                '{"type":"tool-output-available","toolCallId":"cal_1","output":'
                f"{json.dumps(ENVELOPES[0])}}}",
            ],
        ),
        (
            [asked(), answered(ENVELOPES[2])],
            [INPUT, '{"type":"tool-output-error","toolCallId":"cal_1","errorText":"boom"}'],
        ),
        (
            [asked(), answered(ENVELOPES[3])],
            [INPUT, '{"type":"tool-output-denied","toolCallId":"cal_1"}'],
        ),
        ([asked("")], [BEGUN]),
        (
            [asked("{no json"), answered(ENVELOPES[2])],
            [
                BEGUN,
                '{"type":"tool-input-delta","toolCallId":"cal_1","inputTextDelta":"{no json"}',
                '{"type":"tool-output-error","toolCallId":"cal_1","errorText":"boom"}',
            ],
        ),
    ],
    ids=[
        *("input-streaming", "input-available", "approval-requested", "approval-responded"),
        *("output-available", "output-error", "output-denied", "no input", "no JSON"),
    ],
)
def test_a_call_is_told_by_its_state(payloads: list[Payload], wanted: list[str]) -> None:
    kept = in_memory(payloads)
    told = [text_of(one) for one in lowered(kept.messages)]
    assert message_of(told[0]) == kept.messages[0].id
    assert told[1:] == [*wanted, '{"type":"finish"}']


def test_text_and_reasoning_begin_go_on_and_end() -> None:
    kept = in_memory(
        [
            *said({"type": "start"}, {"type": "reasoning-start", "id": "r"}),
            *said({"type": "reasoning-delta", "id": "r", "delta": "hm"}),
            *said({"type": "reasoning-end", "id": "r"}, {"type": "text-start", "id": "t"}),
            *said({"type": "text-delta", "id": "t", "delta": "He"}),
            *said({"type": "text-delta", "id": "t", "delta": "llo"}),
            *said({"type": "text-end", "id": "t"}),
            events.AgentMessage(message="Hello", summary=""),
            UserMessage(message="thanks"),
        ]
    )
    start, reasoning_start, reasoning_delta, reasoning_end, text_start, *rest = plain(live(kept))
    assert start == {"type": "start", "messageId": kept.messages[0].id}
    assert (reasoning_start, reasoning_end) == (
        {"type": "reasoning-start", "id": "r"},
        {"type": "reasoning-end", "id": "r"},
    )
    assert reasoning_delta == {"type": "reasoning-delta", "id": "r", "delta": "hm"}
    assert text_start == {"type": "text-start", "id": "t"}
    part = kept.messages[1].parts[0].id
    assert rest == [
        {"type": "text-delta", "id": "t", "delta": "He"},
        {"type": "text-delta", "id": "t", "delta": "llo"},
        {"type": "text-end", "id": "t"},
        {"type": "finish"},
        {
            "type": "start",
            "messageId": kept.messages[1].id,
            "messageMetadata": {"role": "user"},
        },
        {"type": "text-start", "id": part},
        {"type": "text-delta", "id": part, "delta": "thanks"},
        {"type": "text-end", "id": part},
        {"type": "finish"},
    ]


def test_what_comes_late_for_an_older_message_waits_until_the_next_one_has_ended() -> None:
    kinds = [json.loads(line)["type"] for line in lines(*LATE)]
    assert kinds[-6:] == [
        *("text-start", "text-delta", "finish"),
        *("start", "tool-output-available", "finish"),
    ]


def test_a_question_is_told_once() -> None:
    assert lines(asked(), QUESTION, YES, answered(ENVELOPES[0]))[1:3] == [INPUT, REQUEST]
    assert lines(asked(), QUESTION, YES).count(REQUEST) == 1


def test_an_input_that_was_another_one_in_the_end_begins_again() -> None:
    begun = {"type": "tool-input-start", "toolCallId": "cal_1", "toolName": "run"}
    more = {"type": "tool-input-delta", "toolCallId": "cal_1", "inputTextDelta": "{a"}
    (message,) = read_stream(plain(live(in_memory([*said(begun, more), asked("xyz")]))))
    assert message.parts[0]["rawInput"] == "xyz"


def test_the_input_of_a_call_that_is_over_does_not_begin_again() -> None:
    begun = {"type": "tool-input-start", "toolCallId": "cal_1", "toolName": "run"}
    kept = in_memory([asked(), answered(ENVELOPES[0]), *said(begun)])
    assert as_read(read_stream(plain(live(kept)))) == as_expected(kept.messages)


@pytest.mark.req("SPEC-CHECK-05")
@pytest.mark.anyio
async def test_what_came_before_an_abort_is_kept_and_what_comes_later_is_not(
    tmp_path: Path,
) -> None:
    async with closing(open_sqlite(tmp_path / "db", Chain(bytes(32)), FakeClock(), FakeIds())) as s:
        await keep(s.journal, [asked(), *said({"type": "text-start", "id": "t"})])
        before = await s.archive.messages(SESSION)
        late = said(
            {"type": "text-delta", "id": "t", "delta": "kept"},
            {"type": "abort"},
            {"type": "text-delta", "id": "t", "delta": "late"},
            {"type": "text-start", "id": "u"},
            {"type": "reasoning-start", "id": "u"},
            {"type": "tool-input-start", "toolCallId": "cal_2", "toolName": "run"},
            {"type": "file", "url": "u", "mediaType": "m"},
            {"type": "abort"},
        )
        await s.journal.append(SESSION, late)
        (message,) = await s.archive.messages(SESSION)
        call, text, end = message.parts
        assert call == before[0].parts[0]  # it runs, and stays as it is
        assert text.data == {"id": "t", "state": "streaming", "text": "kept", "type": "text"}
        assert end.data == {"type": "data-abort"}
        assert [one["type"] for one in plain(lowered([message]))][-3:] == [
            *("text-start", "text-delta", "abort"),
        ]
        await s.journal.append(SESSION, said({"type": "start"}, {"type": "text-start", "id": "n"}))
        assert len(await s.archive.messages(SESSION)) == 2


@pytest.mark.req("SPEC-REC-16")
@pytest.mark.anyio
async def test_a_model_is_shown_neither_reasoning_nor_calls_without_an_answer(
    tmp_path: Path,
) -> None:
    async with closing(open_sqlite(tmp_path / "db", Chain(bytes(32)), FakeClock(), FakeIds())) as s:
        other = CallAsked(call_id="cal_2", tool="look", arguments="{}")
        third = CallAsked(call_id="cal_3", tool="look", arguments="{}")
        await keep(
            s.journal,
            [
                *said({"type": "reasoning-start", "id": "r"}),
                events.AgentMessage(message="", summary=""),
                UserMessage(message="go"),
                *said({"type": "reasoning-start", "id": "r"}, {"type": "text-start", "id": "t"}),
                *said({"type": "data-note", "data": 1}, {"type": "text-end", "id": "t"}),
                *said({"type": "tool-input-start", "toolCallId": "cal_9", "toolName": "run"}),
                *(asked(), other, third, QUESTION),
                answered(ENVELOPES[3]),
                CallSettled(call_id="cal_2", tool="look", envelope=Raw(b'{"ok":true}')),
            ],
        )
        shown = model_view(await s.archive.messages(SESSION))
        assert [[part.type for part in one.parts] for one in shown] == [
            ["text"],
            ["text", "tool-run", "tool-look"],
        ]
        assert [part.tool_call_id for part in shown[1].parts] == [None, "cal_1", "cal_2"]


def test_the_reader_refuses_a_stream_that_the_sdk_would_not_understand() -> None:
    for bad in (
        [{"type": "finish"}],
        [{"type": "start", "messageId": "m"}],
        [{"type": "start", "messageId": "m"}, {"type": "text-delta", "id": "t", "delta": ""}],
        [{"type": "start", "messageId": "m"}, {"type": "tool-output-denied", "toolCallId": "c"}],
        [{"type": "start", "messageId": "m", "unknown": 1}],
    ):
        with pytest.raises(BadStream):
            read_stream(bad)
