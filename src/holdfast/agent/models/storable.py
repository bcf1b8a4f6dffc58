"""What any model gives, made into what can be kept: foreign models may return anything.

Text is valid Unicode, values nest no deeper than JSON may, counts are whole numbers that can be
added up. What is so already stays as it is, so that a reply that was kept once is the same again.
"""

from typing import cast, get_args

import msgspec

from holdfast.agent.models.counting import UNREPORTED, count
from holdfast.contract.chunks import AskedCall
from holdfast.contract.json_value import JsonObject, JsonValue, clean_text, encode_json, plain
from holdfast.contract.model import (
    CallDelta,
    FinishReason,
    ModelDelta,
    ModelReply,
    ModelUsage,
    ReasoningDelta,
    TextDelta,
)

_FINISHES = frozenset(get_args(FinishReason))


def storable_reply(reply: ModelReply) -> ModelReply:
    """The same reply, whatever its fields really hold."""
    return ModelReply(
        text=_text(reply.text),
        calls=tuple(_call(call) for call in reply.calls or ()),
        finish=reply.finish if reply.finish in _FINISHES else "other",
        usage=_usage(reply.usage),
        reasoning=_text(reply.reasoning),
        opaque=_opaque(reply.opaque),
        cut_calls=tuple(clean_text(name) for name in reply.cut_calls or ()),
    )


def storable_delta(delta: ModelDelta) -> ModelDelta:
    """The same piece, as text that can be written anywhere."""
    match delta:
        case TextDelta():
            return TextDelta(clean_text(delta.text))
        case ReasoningDelta():
            return ReasoningDelta(clean_text(delta.text))
        case CallDelta():
            return CallDelta(
                index=delta.index,
                id=clean_text(delta.id),
                name=clean_text(delta.name),
                arguments=clean_text(delta.arguments),
            )


def _text(text: str | None) -> str | None:
    return None if text is None else clean_text(text)


def _call(call: AskedCall) -> AskedCall:
    return AskedCall(clean_text(call.id), clean_text(call.name), _arguments(call.arguments))


def _arguments(written: object) -> str:
    """Foreign models may give the object itself."""
    return clean_text(written) if isinstance(written, str) else encode_json(written).decode()


def _usage(usage: ModelUsage) -> ModelUsage:
    if not isinstance(usage, ModelUsage):  # pyright: ignore[reportUnnecessaryIsInstance] - a stranger's
        return UNREPORTED
    found = cast("dict[str, JsonValue]", msgspec.structs.asdict(usage))
    estimated = found.pop("estimated")
    counts = {name: count(value) for name, value in found.items()}
    return ModelUsage(**counts, estimated=bool(estimated))


def _opaque(opaque: JsonObject | None) -> JsonObject | None:
    found = None if opaque is None else plain(opaque)
    return found if isinstance(found, dict) else None
