"""What spans and metrics are made with: a tracer, four histograms, and who stands above whom.

One for all sessions that tell the same place. Where spans go is not known here.
"""

from opentelemetry.context import Context, get_current
from opentelemetry.metrics import Histogram, Meter, MeterProvider
from opentelemetry.trace import Span, Status, StatusCode, Tracer, TracerProvider

from holdfast._version import __version__
from holdfast.record.telemetry.attributes import ERROR_TYPE, UNFINISHED, Attributes

SCOPE = "holdfast"
_TOKENS = (1, *(4**power for power in range(1, 14)))
_SECONDS = tuple(2**power / 100 for power in range(14))
_LONG_SECONDS = tuple(2**power / 10 for power in range(13))


class Instruments:
    """A tracer and histograms, in the buckets of the conventions."""

    def __init__(self, tracers: TracerProvider, meters: MeterProvider) -> None:
        self.tracer: Tracer = tracers.get_tracer(SCOPE, __version__)
        meter = meters.get_meter(SCOPE, __version__)
        self.tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Tokens that a request to a model used.",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self.chats = _durations(meter, "gen_ai.client.operation.duration", _SECONDS)
        self.tools = _durations(meter, "gen_ai.execute_tool.duration", _SECONDS)
        self.agents = _durations(meter, "gen_ai.invoke_agent.duration", _LONG_SECONDS)
        self.above: dict[str, Context] = {}
        """By session of a subagent: inside of what its spans are."""

    def around(self, session_id: str) -> Context:
        """Inside of what a session is: of the call that began it, or of what the program does."""
        above = self.above.get(session_id)
        return get_current() if above is None else above


def _durations(meter: Meter, name: str, buckets: tuple[float, ...]) -> Histogram:
    return meter.create_histogram(
        name,
        unit="s",
        description="How long it took.",
        explicit_bucket_boundaries_advisory=buckets,
    )


class Timed:
    """A span that has begun."""

    def __init__(self, span: Span, began: int) -> None:
        self.span = span
        self.began = began
        """In nanoseconds since 1970, as all times of spans."""

    def end(self, at: int, attributes: Attributes, *, error: str | None = None) -> float:
        """End it; gives the seconds it took."""
        self.span.set_attributes(attributes)
        if error is not None:
            self.span.set_attribute(ERROR_TYPE, error)
            self.span.set_status(Status(StatusCode.ERROR))
        at = max(at, self.began)
        self.span.end(at)
        return (at - self.began) / 1e9

    def leave(self, at: int, attributes: Attributes) -> None:
        """End it where its own end is not known."""
        self.end(at, {**attributes, UNFINISHED: True})
