"""JSON out and in: the same value is the same bytes, and what cannot be read is a ModelError.

What comes is a stranger's. Whatever has no shape that is known beforehand stays text until somebody
wants it, and is only read when it is small: a reply must not keep everything else waiting.
"""

import re
from typing import Any, cast

import msgspec

from holdfast.agent.models.troubles import malformed
from holdfast.contract.json_value import JsonObject, JsonValue, plain

MOST_PARTS = 250_000
"""How many objects and lists one event or document may seem to have."""
MOST_OBJECT_BYTES = 4 * 1024 * 1024
"""How large an object may be that is read although its shape is not known."""
_MOST_JOINED_BYTES = 1024 * 1024
_HALF = re.compile(
    rb"\\(?:u([dD][89abAB][0-9a-fA-F]{2})(\\u[dD][c-fC-F][0-9a-fA-F]{2})?"
    rb"|u([dD][c-fC-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""Every escape of a JSON text; the groups are the first half of a character, the second half that
follows it, and a second half alone."""

NOTHING = msgspec.Raw()
"""What a field holds that is not there."""
_encoder = msgspec.json.Encoder()
_decode = msgspec.json.Decoder().decode

Sent = Any
"""A struct of what a provider sends."""


class Halves:
    """Characters that a provider cut in two, as some do: the first half ends one event, the second
    one begins the next."""

    def __init__(self) -> None:
        self._first = b""

    def joined(self, said: bytes) -> bytes:
        """The same JSON, with whole characters only."""
        # Not `in`, which makes an error of bytes first, as they are no number.
        if said.find(b"\\ud") < 0 and said.find(b"\\uD") < 0:
            return said
        return said if len(said) > _MOST_JOINED_BYTES else _HALF.sub(self._whole, said)

    def _whole(self, found: "re.Match[bytes]") -> bytes:
        first, follows, second = found.groups()
        if first is not None and follows is None:
            self._first = first
            return b""
        if second is None:
            return found[0]
        before, self._first = self._first, b""
        return rb"\u%b\u%b" % (before, second) if before else rb"\ufffd"


def encoded(value: JsonObject) -> bytes:
    """Compact JSON in the order it is given; what is no Unicode is replaced."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(plain(value))


def decoded(decoder: "msgspec.json.Decoder[Sent]", said: bytes) -> Sent:
    """What a provider says, in the shape it should have; ModelError."""
    if len(said) > MOST_PARTS and said.count(b"{") + said.count(b"[") > MOST_PARTS:
        raise malformed("sent more parts than a reply can have")
    try:
        return decoder.decode(said)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise malformed(f"sent what cannot be read ({problem})") from None


def is_whole(document: bytes) -> bool:
    """Whether a JSON document has come to its end. It is only looked through."""
    try:
        return bool(bytes(msgspec.json.decode(document, type=msgspec.Raw)))
    except (msgspec.DecodeError, RecursionError):
        return False


def object_in(text: str | bytes) -> JsonObject | None:
    """The JSON object that a text is; None when it is none, or not a whole one."""
    found = _read(text)
    return cast("JsonObject", found) if isinstance(found, dict) else None


def is_given(raw: msgspec.Raw) -> bool:
    """Whether a field is there, and not null."""
    return raw is not NOTHING and bytes(raw) not in {b"", b"null"}


def text_in(raw: msgspec.Raw) -> str:
    """The text that a field is; empty when it is something else."""
    said = bytes(raw)
    found = _read(said) if said.startswith(b'"') else ""
    return found if isinstance(found, str) else ""


def small_object(raw: msgspec.Raw, most_bytes: int = MOST_OBJECT_BYTES) -> JsonObject | None:
    """The object that a field is; None when it is none, or larger."""
    said = bytes(raw)
    return object_in(said) if said.startswith(b"{") and len(said) <= most_bytes else None


def small_value(raw: msgspec.Raw, most_bytes: int) -> JsonValue:
    """What a field is; the beginning of its text when it is larger or cannot be read."""
    said = bytes(raw)
    found = _read(said) if len(said) <= most_bytes else None
    return said[:most_bytes].decode("utf-8", "replace") if found is None else found


def _read(text: str | bytes) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
