"""JSON as values: one encoder for everything that leaves, and a fallback that never fails.

Pure text and objects. It does not know what an envelope or a tool is.
"""

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Protocol, TypeAlias, TypeGuard, cast, runtime_checkable

import msgspec

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = dict[str, JsonValue]

MAX_DEPTH = 128
"""How deep JSON may nest: deeper arguments are refused, deeper results flattened."""

_DEEPER = "…"


@runtime_checkable
class _PydanticModel(Protocol):
    def model_dump(self, *, mode: str) -> object: ...


def dumped(value: object) -> object:
    """A pydantic model as plain data, known by its face; anything else as it is."""
    if isinstance(value, _PydanticModel) and not isinstance(value, type):
        try:
            return value.model_dump(mode="json")
        except ValueError:
            return text_of(value)
    return value


def _foreign(value: object) -> object:
    """Give msgspec something it can write for a type it does not know."""
    plainer = dumped(value)
    return text_of(value) if plainer is value else plainer


_CANNOT_ENCODE = (TypeError, ValueError, OverflowError, RecursionError, AttributeError)
_encoder = msgspec.json.Encoder(enc_hook=_foreign, order="sorted")
_decoder = msgspec.json.Decoder()


def text_of(value: object) -> str:
    """``str(value)``, even for an object whose ``__str__`` raises."""
    try:
        return str(value)
    except Exception as problem:  # noqa: BLE001 - a foreign __str__ may raise anything at all
        return f"<{type(value).__name__}: str() raised {type(problem).__name__}>"


def encode_json(value: object) -> bytes:
    """Compact JSON with sorted keys. Total: whatever cannot be held becomes its ``str()`` form.

    NaN and infinity become null; text that is not valid Unicode has its lone surrogates replaced.
    """
    try:
        return _encoder.encode(value)
    except _CANNOT_ENCODE:
        return _encoder.encode(plain(value))


def decode_json(text: bytes | str) -> JsonValue:
    """Read JSON text that we wrote ourselves."""
    return _decoder.decode(text)


def plain(value: object) -> JsonValue:
    """Copy any object into plain JSON values, whatever it holds, cycles included."""
    return _plain(value, 0)


def _plain(value: object, depth: int) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if depth >= MAX_DEPTH:
        return _DEEPER
    return _plain_container(value, depth)


def _plain_container(value: object, depth: int) -> JsonValue:
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {_clean_text(text_of(key)): _plain(item, depth + 1) for key, item in items}
    if isinstance(value, (list, tuple, AbstractSet)):
        members = cast("list[object]", value)
        return [_plain(item, depth + 1) for item in members]
    try:
        builtins: object = msgspec.to_builtins(value, enc_hook=_foreign, str_keys=True)
    except _CANNOT_ENCODE:
        return _clean_text(text_of(value))
    if isinstance(builtins, (dict, list)):
        return _plain(cast("object", builtins), depth + 1)
    return _clean_text(text_of(builtins))


def _clean_text(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def is_object(value: JsonValue) -> TypeGuard[JsonObject]:
    """Whether the value is a JSON object."""
    return isinstance(value, dict)


def depth_of(value: JsonValue) -> int:
    """How many containers deep the value nests, without recursion."""
    deepest = 0
    open_values: list[tuple[JsonValue, int]] = [(value, 0)]
    while open_values:
        here, depth = open_values.pop()
        if isinstance(here, dict):
            children: list[JsonValue] = list(here.values())
        elif isinstance(here, list):
            children = here
        else:
            continue
        deepest = max(deepest, depth + 1)
        open_values.extend((child, depth + 1) for child in children)
    return deepest


def type_name(value: Any) -> str:  # noqa: ANN401 - any JSON value, also not yet checked ones
    """What JSON calls the value's type, for messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list() | tuple():
            return "an array"
        case _:
            return "an object"
