"""Whatever a session goes through: nothing is raised, and nothing stays open."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from record.legal_events import JSON, TEXTS, Step, sessions
from record.samples import SAMPLES
from telemetry_kit import Memory, event, identity

from holdfast.contract.events import (
    Event,
    ModelReplied,
    ModelRequested,
    Payload,
    SessionCreated,
    SpanCompleted,
    SpanStarted,
)
from holdfast.contract.json_value import JsonValue
from holdfast.contract.wake_events import ModelFailed
from holdfast.record.telemetry.content import LONGEST, bounded, said_by_model

PROVIDERS = Memory()


class Counting(SpanProcessor):
    """Which spans are open."""

    def __init__(self) -> None:
        self.open: set[int] = set()
        self.ended: list[ReadableSpan] = []

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        self.open.add(identity(span)[1])

    def on_end(self, span: ReadableSpan) -> None:
        self.open.remove(identity(span)[1])
        self.ended.append(span)


COUNTING = Counting()
PROVIDERS.tracers.add_span_processor(COUNTING)


def _listen(events: list[Event], *, content: bool) -> None:
    COUNTING.ended.clear()
    created = SessionCreated(metadata={"agent": 5})
    listening = PROVIDERS.opened().listening("ses_1", created, content=content)
    for one in events:
        listening.hear(one)
    listening.close()
    assert COUNTING.open == set()
    PROVIDERS.exporter.clear()
    for span in COUNTING.ended:
        assert span.start_time is not None
        assert span.end_time is not None
        assert span.start_time <= span.end_time


def _events(steps: list[Step]) -> list[Event]:
    at, events = 0.0, list[Event]()
    for number, step in enumerate(steps, 1):
        at += step.seconds
        events.append(event(step.payload, at, step.wake_id, number))
    return events


@given(sessions(), st.booleans())
def test_any_legal_session_can_be_told(steps: list[Step], content: bool) -> None:
    _listen(_events(steps), content=content)


NAMES = st.sampled_from(["one", "other"])
WAKES = (
    st.builds(SpanStarted, span_id=NAMES, span_kind=st.just("wake"), name=TEXTS)
    | st.builds(
        SpanCompleted,
        span_id=NAMES,
        span_kind=st.just("wake"),
        name=TEXTS,
        result=st.sampled_from(["success", "error", "blocked"]),
    )
    | st.builds(ModelRequested, request_id=NAMES, model=TEXTS, request_hash=TEXTS)
    | st.builds(
        ModelReplied,
        request_id=NAMES,
        reply=JSON,
        usage=st.dictionaries(st.sampled_from(["input_tokens", "output_tokens"]), JSON),
    )
    | st.builds(
        ModelFailed,
        request_id=NAMES,
        trouble=st.just("timeout"),
        message=TEXTS,
        attempt=st.integers(1, 9),
    )
)


@given(
    st.lists(
        st.tuples(st.sampled_from(SAMPLES) | WAKES, st.none() | NAMES, st.floats(-5, 5)),
        max_size=25,
    ),
    st.booleans(),
)
def test_events_in_any_order_and_clocks_that_go_back_can_be_told(
    steps: list[tuple[Payload, str | None, float]], content: bool
) -> None:
    at, events = 0.0, list[Event]()
    for payload, wake_id, seconds in steps:
        at += seconds
        events.append(event(payload, at, wake_id))
    _listen(events, content=content)


@given(st.text() | st.text(alphabet="\ud800x"), st.integers(1, 20))
def test_a_bounded_text_is_no_longer_and_can_be_sent(text: str, most: int) -> None:
    shown = bounded(text, most)
    assert len(shown) <= most
    shown.encode("utf-8")
    if len(text) <= most and not any("\ud800" <= one <= "\udfff" for one in text):
        assert shown == text


@given(JSON | st.fixed_dictionaries({"text": JSON, "calls": JSON, "finish": JSON}))
def test_what_a_model_said_can_be_told_whatever_it_was(reply: Any) -> None:
    said = said_by_model(reply)
    assert said is None or said.startswith('[{"role":"assistant"')


def test_what_a_model_said_is_bounded() -> None:
    calls: list[JsonValue] = [{"name": "n" * 9999, "arguments": "a" * 99_999}] * 99
    said = said_by_model({"text": "t" * 99_999, "calls": calls})
    assert said is not None
    assert len(said) < 33 * (LONGEST + 600)
