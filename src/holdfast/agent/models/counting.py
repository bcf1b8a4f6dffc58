"""What a reply cost: as its provider says where that can be, and estimated where it says nothing.

Numbers of a stranger end up in sums and limits: none is below zero, and none without end.
"""

import math

import msgspec

from holdfast.agent.models.wire import small_object
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.model import ModelReply, ModelUsage
from holdfast.contract.tokens import tokens_of

MOST_COUNTED = 2**53
"""More than that is nobody's count, and not every reader of JSON could hold it."""
UNREPORTED = ModelUsage(estimated=True)
"""The provider said nothing."""
_MOST_BYTES = 16 * 1024


def counts_in(raw: msgspec.Raw) -> JsonObject:
    """What a provider counts; empty when it is not there, or odd."""
    return small_object(raw, _MOST_BYTES) or {}


def part(counts: JsonObject, name: str) -> JsonObject:
    """Counts inside of counts; empty without them."""
    found = counts.get(name)
    return found if isinstance(found, dict) else {}


def number(value: JsonValue) -> int | None:
    """A whole number that can be added to others; None for what is no count at all."""
    if type(value) is int and 0 <= value <= MOST_COUNTED:
        return value  # as nearly all are
    if type(value) is not int and (type(value) is not float or math.isnan(value)):
        return None
    return int(min(max(value, 0), MOST_COUNTED))


def count(value: JsonValue) -> int:
    """A whole number that can be added to others; 0 for what is none."""
    return number(value) or 0


def reported(
    *, read: int, written: int, cached: int = 0, cache_written: int = 0, reasoned: int = 0
) -> ModelUsage:
    """The usage that a provider tells; one that counts nothing at all tells nothing."""
    if not read and not written:
        return UNREPORTED
    return ModelUsage(
        input_tokens=min(read, MOST_COUNTED),
        output_tokens=written,
        cached_tokens=min(cached, read),
        cache_write_tokens=min(cache_written, read),
        reasoning_tokens=reasoned,
    )


def counted(reply: ModelReply, sent: bytes) -> ModelReply:
    """The reply with its usage: estimated by all that was sent and said, unless it is known."""
    if not reply.usage.estimated:
        return reply
    said = [reply.text or "", reply.reasoning or ""]
    said += [part for call in reply.calls for part in (call.name, call.arguments)]
    usage = ModelUsage(
        input_tokens=tokens_of(sent), output_tokens=tokens_of("".join(said)), estimated=True
    )
    return msgspec.structs.replace(reply, usage=usage)
