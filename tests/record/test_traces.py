"""Spans by wake: what was written down, and what follows from the steps of calls."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from record.stores import sqlite_at

from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    Payload,
    SessionCreated,
    SpanCompleted,
    SpanStarted,
)
from holdfast.contract.rules import Use
from holdfast.record.traces import Span, nested, trace

pytestmark = pytest.mark.anyio

S = "ses_1"


async def traced(
    path: Path, *wakes: tuple[str, list[Payload]], only: str | None = None
) -> tuple[Span, ...]:
    async with sqlite_at(path / "h.db")() as journal:
        await journal.create(S, [SessionCreated()])
        for wake_id, payloads in wakes:
            for payload in payloads:
                await journal.append(S, [payload], wake_id=wake_id)
        return trace(await journal.events(S), only)


def settled(call_id: str, envelope: bytes) -> CallSettled:
    return CallSettled(call_id=call_id, tool="bash", envelope=Raw(envelope))


@pytest.mark.req("SPEC-REC-23")
async def test_calls_and_decisions_over_them_are_spans(tmp_path: Path) -> None:
    truncated = b'{"metadata":{"duration_ms":7,"truncated":true},"ok":true,"result":1}'
    spans = await traced(
        tmp_path,
        (
            "wak_1",
            [
                CallAsked(call_id="cal_1", model_call_id="m1", tool="bash", arguments="{}"),
                ApprovalAsked(
                    approval_id="apr_1",
                    call_id="cal_1",
                    tool="bash",
                    arguments_hash="h",
                    reason="no rule speaks of it",
                    uses=(Use(capability="shell.run", kind="command", target="ls -l"),),
                ),
                ApprovalAnswered(approval_id="apr_1", call_id="cal_1", allowed=True, by="ada"),
                CallIntended(call_id="cal_1", tool="bash", arguments_hash="h", grounds="ada"),
                settled("cal_1", truncated),
            ],
        ),
    )
    call, asked, allowed = spans
    assert (call.kind, call.name, call.parent_id, call.result) == (
        *("tool.call", "bash", "wak_1", "success"),
    )
    assert call.attributes == {
        "call_id": "cal_1",
        "model_call_id": "m1",
        "duration_ms": 7,
        "truncated": True,
        "error": None,
    }
    assert call.ended_at is not None
    assert call.started_at <= call.ended_at
    assert asked.attributes == {
        "tool": "bash",
        "pattern": "ls -l",
        "action": "ask",
        "source": "no rule speaks of it",
    }
    assert (allowed.kind, allowed.parent_id) == ("permission.evaluate", "cal_1")
    assert allowed.attributes["action"] == "allow"
    assert allowed.attributes["source"] == "ada"


@pytest.mark.parametrize(
    ("kind", "result"), [("rejected", "blocked"), ("user_denied", "blocked"), ("timeout", "error")]
)
async def test_how_a_call_failed_is_told(tmp_path: Path, kind: str, result: str) -> None:
    envelope = f'{{"kind":"{kind}","message":"why","ok":false,"retryable":false}}'.encode()
    refused = CallRefused(
        call_id="cal_1", tool="bash", arguments_hash="h", kind=kind, reason="a rule"
    )
    asked = CallAsked(call_id="cal_1", tool="bash", arguments="{}")
    spans = await traced(tmp_path, ("wak_1", [asked, refused, settled("cal_1", envelope)]))
    assert (spans[0].result, spans[0].attributes["error"]) == (result, "why")
    assert spans[1].attributes["action"] == "deny"


async def test_spans_of_a_wake_are_a_tree_and_apart_from_other_wakes(tmp_path: Path) -> None:
    def wake(name: str) -> list[Payload]:
        tool = {"span_id": f"{name}-t", "parent_span_id": name, "span_kind": "tool", "name": "x"}
        return [
            SpanStarted(span_id=name, span_kind="wake", name="session_run"),
            SpanStarted(**tool),  # type: ignore[arg-type] - the fields of a span
            SpanCompleted(**tool, result="error"),  # type: ignore[arg-type] - the same
        ]

    done = SpanCompleted(span_id="wak_1", span_kind="wake", name="session_run", result="success")
    late = SpanCompleted(span_id="lost", span_kind="tool", name="y", result="blocked")
    spans = await traced(
        tmp_path, ("wak_1", [*wake("wak_1"), done]), ("wak_2", [*wake("wak_2"), late])
    )
    assert [span.id for span in spans] == ["wak_1", "wak_1-t", "wak_2", "wak_2-t", "lost"]
    assert [span.result for span in spans] == ["success", "error", None, "error", "blocked"]
    (tmp_path / "second").mkdir()
    spans = await traced(
        tmp_path / "second", ("wak_1", wake("wak_1")), ("wak_2", wake("wak_2")), only="wak_2"
    )
    assert [(span.id, span.parent_id) for span in spans] == [("wak_2", None), ("wak_2-t", "wak_2")]


MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def _span(name: str, parent: str | None) -> Span:
    return Span(id=name, parent_id=parent, wake_id=None, kind="tool", name=name, started_at=MOMENT)


def test_spans_stand_behind_what_they_are_inside_of() -> None:
    spans = [_span("b", "a"), _span("a", None), _span("c", "b"), _span("d", "a"), _span("e", "?")]
    assert [(depth, span.id) for depth, span in nested(spans)] == [
        *((0, "a"), (1, "b"), (2, "c"), (1, "d"), (0, "e")),
    ]
    assert [span.id for _, span in nested([_span("e", "?"), _span("a", None)])] == ["e", "a"]


def test_spans_that_are_inside_of_each_other_are_told_once() -> None:
    spans = [_span("a", "b"), _span("b", "a"), _span("c", "c"), _span("d", "a")]
    assert [(depth, span.id) for depth, span in nested(spans)] == [
        *((0, "a"), (1, "b"), (1, "d"), (0, "c")),
    ]


@given(st.lists(st.sampled_from(["?", *"abcdefgh"]), max_size=8))
def test_no_span_is_left_out_or_told_twice(parents: list[str]) -> None:
    spans = [_span(name, parent) for name, parent in zip("abcdefgh", parents, strict=False)]
    found = list(nested(spans))
    assert sorted(span.id for _, span in found) == [span.id for span in spans]
    above: list[str] = []
    for depth, span in found:
        assert depth <= len(above)
        assert depth == 0 or span.parent_id == above[depth - 1]
        above[depth:] = [span.id]


def test_spans_may_be_as_deep_as_they_like() -> None:
    spans = [_span(str(number), str(number - 1)) for number in range(20_000)]
    assert [depth for depth, _ in nested(spans)] == list(range(20_000))


async def test_an_answer_that_is_no_envelope_is_an_error(tmp_path: Path) -> None:
    asked = CallAsked(call_id="cal_1", tool="bash", arguments="{}")
    odd = settled("cal_1", b'{"ok":true,"metadata":7}')
    (span,) = await traced(tmp_path, ("wak_1", [asked, odd]))
    assert (span.result, span.attributes["error"]) == ("error", "the answer cannot be read")
