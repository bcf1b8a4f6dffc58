"""A model that is asked, and what it replies. Values, and the port behind which models stand.

A request holds all that a model is told: the same request is the same bytes on the wire, whoever
sends it. Rows that were sent before stay as they were, so that a provider's cache of them holds;
what is only for one step comes last. Who asks, when and how often is not known here.
"""

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

import msgspec

from holdfast.contract.chunks import AskedCall, Chunk
from holdfast.contract.json_value import JsonObject, JsonValue

FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "other"]
"""Why a model stopped; `tool_calls`: it waits for the answers to its calls."""

ModelTrouble = Literal[
    "timeout",
    "connection",
    "rate_limited",
    "overloaded",
    "server_error",
    "malformed",
    "authentication",
    "bad_request",
    "context_length",
    "unavailable",
]
"""Why a model gave no reply."""

RETRYABLE: frozenset[ModelTrouble] = frozenset(
    {"timeout", "connection", "rate_limited", "overloaded", "server_error", "malformed"}
)
"""The same request may succeed a little later."""


def in_one_order(schema: JsonObject) -> JsonObject:
    """A schema with its names in one order: equal ones come out as the same text.

    A journal sorts names, and a program writes them as they come; a provider's cache knows a tool
    by its bytes. Models fill arguments in as they are listed, so what is required comes first, in
    the order in which it is required: that is the author's, and no store changes a list.
    """
    ordered = {name: _inside(value) for name, value in sorted(schema.items())}
    properties, required = ordered.get("properties"), ordered.get("required")
    if isinstance(properties, dict) and isinstance(required, list):
        first = [name for name in required if isinstance(name, str) and name in properties]
        ordered["properties"] = {**{name: properties[name] for name in first}, **properties}
    return ordered


def _inside(value: JsonValue) -> JsonValue:
    match value:
        case dict():
            return in_one_order(value)
        case list():
            return [_inside(one) for one in value]
        case _:
            return value


ANY_OBJECT: JsonObject = {"type": "object", "properties": {}}
"""What a model is told where a tool leaves its parameters open: each of their wires wants a schema,
or takes none for a tool without arguments."""


class ModelTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as a model is told of it."""

    name: str
    description: str | None
    schema: JsonObject
    """Of its arguments; its names are in one order, wherever it comes from."""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "schema", in_one_order(self.schema))


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """All that a model is told."""

    rows: tuple[Chunk, ...]
    """What was said so far: what an agent is to be first, then the conversation."""
    tools: tuple[ModelTool, ...] = ()
    notices: tuple[str, ...] = ()
    """Advice for this one step, told behind everything else and never again."""
    max_output_tokens: int | None = None
    """None: as the model is configured."""


class ModelUsage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one reply cost, as its provider counted, or as it is estimated."""

    input_tokens: int = 0
    """All that was read, cached or not."""
    output_tokens: int = 0
    """All that was written, reasoning included."""
    cached_tokens: int = 0
    """How many of those read came from the provider's cache."""
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost_micros: int = 0
    """In millionths of the currency its prices are configured in; 0 without prices."""
    estimated: bool = False
    """Its provider did not say: it is counted here, by how long the texts are."""

    @property
    def total_tokens(self) -> int:
        """Read and written."""
        return self.input_tokens + self.output_tokens


class ModelReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a model said: words, calls, or both."""

    text: str | None = None
    calls: tuple[AskedCall, ...] = ()
    """In the order it wants their answers. A malformed one is here as it was written."""
    finish: FinishReason = "stop"
    usage: ModelUsage = ModelUsage()
    reasoning: str | None = None
    """What it thought aloud, for people; it is not told again."""
    opaque: JsonObject | None = None
    """What the provider wants to see again with this reply, in its own terms."""
    cut_calls: tuple[str, ...] = ()
    """Calls that are not among the others, because the reply was cut inside of them: their names,
    as far as those had come. `finish` says why it was cut."""


class TextDelta(msgspec.Struct, frozen=True, tag_field="kind", tag="text"):
    """A piece of what it says."""

    text: str


class ReasoningDelta(msgspec.Struct, frozen=True, tag_field="kind", tag="reasoning"):
    """A piece of what it thinks."""

    text: str


class CallDelta(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="call"):
    """A piece of a call that it asks for: the name comes first, then its arguments."""

    index: int
    id: str
    name: str
    arguments: str
    """Only what is new."""


ModelDelta: TypeAlias = TextDelta | ReasoningDelta | CallDelta
Heard: TypeAlias = Callable[[ModelDelta], None]
"""Told of each piece as it comes."""


class ModelError(Exception):
    """A model gave no reply; says why, and what to do where a person can do something."""

    def __init__(
        self,
        trouble: ModelTrouble,
        told: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(told)
        self.trouble: ModelTrouble = trouble
        self.status = status
        """Of HTTP, where there was one."""
        self.retry_after = retry_after
        """Seconds the provider asks to be left alone."""

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.trouble in RETRYABLE


class ChatModel(Protocol):
    """A model that can be asked. Used on one event loop, by many sessions at once."""

    @property
    def name(self) -> str:
        """What its provider calls it: goes into the record."""
        ...

    @property
    def provider(self) -> str:
        """Whose it is, in the words of OpenTelemetry's GenAI conventions: `openai`, `anthropic`."""
        ...

    @property
    def window(self) -> int:
        """How many tokens a request and its reply may hold together."""
        ...

    @property
    def max_output_tokens(self) -> int:
        """How many of them a reply may have."""
        ...

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        """Ask once, without trying again; ModelError.

        ``heard``: told of pieces while they come; without it nobody listens.
        """
        ...

    async def close(self) -> None:
        """Let go of connections and memory; it may be used again afterwards."""
        ...
