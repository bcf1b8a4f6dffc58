"""JSON out and in: the same value is the same bytes, and what cannot be read is a ModelError."""

from typing import Any, cast

import msgspec

from holdfast.agent.models.troubles import malformed
from holdfast.contract.json_value import JsonObject, plain

_encoder = msgspec.json.Encoder()

Sent = Any
"""A struct of what a provider sends."""


def encoded(value: JsonObject) -> bytes:
    """Compact JSON in the order it is given; what is no Unicode is replaced."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(plain(value))


def decoded(decoder: "msgspec.json.Decoder[Sent]", said: bytes) -> Sent:
    """What a provider says, in the shape it should have; ModelError."""
    try:
        return decoder.decode(said)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise malformed(f"sent what cannot be read ({problem})") from None


def object_in(text: str) -> JsonObject | None:
    """The JSON object that a text is; None when it is none, or not a whole one."""
    try:
        found: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return cast("JsonObject", found) if isinstance(found, dict) else None
