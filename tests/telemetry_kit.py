"""Providers of OpenTelemetry that keep what they are told in memory, and events to tell them."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from holdfast.contract.envelope import Envelope
from holdfast.contract.events import CallSettled, Event, Payload, SessionCreated
from holdfast.envelope.dialects.ok import render
from holdfast.record.telemetry.opened import Opened

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
_EPOCH = int(BEGINNING.timestamp()) * 10**9

Point = tuple[dict[str, Any], float, int]
"""Of a histogram: its attributes, the sum and how many there are."""


class Memory:
    """Keeps spans that have ended, and metrics."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.meters = MeterProvider((self.reader,), shutdown_on_exit=False)

    def opened(self) -> Opened:
        return Opened(self.tracers, self.meters)

    @property
    def spans(self) -> list[ReadableSpan]:
        """Of holdfast, in the order they ended."""
        return [one for one in self.exporter.get_finished_spans() if _scope(one) == "holdfast"]

    def span(self, name: str) -> ReadableSpan:
        (found,) = [one for one in self.spans if one.name == name]
        return found

    def tree(self) -> list[str]:
        """Every span below the one it is inside of, in the order they began."""
        return list(_lines(sorted(self.spans, key=_began), None, 0))

    def points(self, name: str) -> list[Point]:
        """What a histogram holds."""
        return [
            (dict(point.attributes), point.sum, point.count)
            for metric in self._metrics()
            if metric.name == name
            for point in metric.data.data_points
        ]

    def bounds(self, name: str) -> tuple[float, ...]:
        (found,) = [one for one in self._metrics() if one.name == name]
        return tuple(found.data.data_points[0].explicit_bounds)

    def _metrics(self) -> list[Any]:
        told: Any = self.reader.get_metrics_data()
        if told is None:
            return []
        scopes = [scope for resource in told.resource_metrics for scope in resource.scope_metrics]
        return [metric for scope in scopes for metric in scope.metrics]


def heard(
    memory: Memory,
    steps: Iterable[tuple[float, Payload] | tuple[float, Payload, str | None]],
    *,
    created: SessionCreated | None = None,
    content: bool = False,
    provider: str | None = None,
    closes: bool = True,
) -> None:
    """Tell the memory events of a session: seconds since its beginning, what, and in which wake."""
    session = created or SessionCreated()
    listening = memory.opened().listening("ses_1", session, content=content)
    if provider is not None:
        listening.asks_models_of(provider)
    for number, (seconds, payload, *wake) in enumerate(steps, 1):
        listening.hear(event(payload, seconds, wake[0] if wake else None, number))
    if closes:
        listening.close()


def event(
    payload: Payload, seconds: float = 0, wake_id: str | None = None, number: int = 1
) -> Event:
    return Event(
        session_id="ses_1",
        sequence=number,
        id=f"evt_{number}",
        at=BEGINNING + timedelta(seconds=seconds),
        wake_id=wake_id,
        payload=payload,
        previous=b"",
        hash=b"",
    )


def settled(call_id: str, envelope: Envelope, tool: str = "bash") -> CallSettled:
    return CallSettled(call_id=call_id, tool=tool, envelope=msgspec.Raw(render(envelope).encode()))


def times(span: ReadableSpan) -> tuple[float, float]:
    """Begin and end, in seconds since the beginning."""
    assert span.start_time is not None
    assert span.end_time is not None
    return (span.start_time - _EPOCH) / 1e9, (span.end_time - _EPOCH) / 1e9


def told(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def identity(span: ReadableSpan) -> tuple[int, int]:
    """Of its trace, and its own."""
    assert span.context is not None
    return span.context.trace_id, span.context.span_id


def _scope(span: ReadableSpan) -> str:
    return "" if span.instrumentation_scope is None else span.instrumentation_scope.name


def _began(span: ReadableSpan) -> int:
    return span.start_time or 0


def _lines(spans: list[ReadableSpan], parent: int | None, depth: int) -> Iterator[str]:
    known = {identity(one)[1] for one in spans}
    for one in spans:
        above = None if one.parent is None else one.parent.span_id
        if (above if above in known else None) == parent:
            yield f"{'  ' * depth}{one.name}"
            yield from _lines(spans, identity(one)[1], depth + 1)
