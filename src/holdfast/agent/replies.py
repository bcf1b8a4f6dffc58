"""A model's reply as the journal keeps it: with the names that its calls have here.

The model's own names of calls are its to choose and may repeat; ours never do.
"""

from collections.abc import Callable
from typing import cast

import msgspec

from holdfast.contract.chunks import AskedCall, AssistantChunk
from holdfast.contract.events import ModelReplied
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.model import FinishReason, ModelReply

_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder().decode


class TurnCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that a reply asks for."""

    id: str
    model_call_id: str
    name: str
    arguments: str
    """As the model wrote them."""


class KeptReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is written down of a reply."""

    text: str | None = None
    calls: tuple[TurnCall, ...] = ()
    finish: FinishReason = "stop"
    reasoning: str | None = None
    opaque: JsonObject | None = None
    cut_calls: tuple[str, ...] = ()
    """The names of calls that were not whole, and are left out."""

    def row(self) -> AssistantChunk:
        """As the model is told it again."""
        calls = tuple(AskedCall(one.model_call_id, one.name, one.arguments) for one in self.calls)
        opaque = msgspec.UNSET if self.opaque is None else self.opaque
        return AssistantChunk(self.text, calls or None, opaque)


def kept_reply(reply: ModelReply, new_id: Callable[[], str]) -> KeptReply:
    """The reply with a name for each of its calls; a model that gives none has ours."""
    calls: list[TurnCall] = []
    taken: set[str] = set()
    for asked in reply.calls:
        call_id = new_id()
        named = asked.id if asked.id and asked.id not in taken else call_id
        taken.add(named)
        calls.append(
            TurnCall(id=call_id, model_call_id=named, name=asked.name, arguments=asked.arguments)
        )
    return KeptReply(
        text=reply.text,
        calls=tuple(calls),
        finish=reply.finish,
        reasoning=reply.reasoning,
        opaque=reply.opaque,
        cut_calls=reply.cut_calls,
    )


def replied(
    request_id: str, kept: KeptReply, reply: ModelReply, clean: Callable[[bytes], bytes]
) -> ModelReplied:
    """The event that says so. ``clean`` takes secrets out of JSON."""
    usage = cast("JsonObject", msgspec.to_builtins(reply.usage))
    told: JsonValue = _decode(clean(_encode(kept)))
    return ModelReplied(request_id=request_id, reply=told, usage=usage)


def read_reply(reply: JsonValue) -> KeptReply:
    """What was written down of a reply; msgspec.ValidationError where it is none of ours."""
    return msgspec.convert(reply, KeptReply)
