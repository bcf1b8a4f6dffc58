"""JSON as values: one encoder for everything that leaves, and a fallback that never fails.

Pure text and objects. It does not know what an envelope or a tool is.
"""

import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, runtime_checkable

import msgspec

if TYPE_CHECKING:
    JsonValue: TypeAlias = (
        "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
    )
else:
    JsonValue = Any  # msgspec reads no alias that contains itself, and structs hold these values
JsonObject: TypeAlias = dict[str, JsonValue]

MAX_DEPTH = 128
"""How deep JSON may nest: deeper arguments are refused, deeper results flattened."""

MAX_INTEGER_BITS = 14_000
"""Python itself refuses to write an integer of more than 4,300 digits."""

_DEEPER = "…"
_CONTAINERS = (dict, list)


@runtime_checkable
class _PydanticModel(Protocol):
    def model_dump(self, *, mode: str) -> object: ...


def dumped(value: object) -> object:
    """A pydantic model as plain data, known by its face; anything else as it is."""
    if isinstance(value, type):
        return value
    try:
        return value.model_dump(mode="json") if isinstance(value, _PydanticModel) else value
    except Exception:  # noqa: BLE001 - a foreign attribute or dump may raise anything at all
        return text_of(value)


def _foreign(value: object) -> object:
    """Give msgspec something it can write for a type it does not know."""
    plainer = dumped(value)
    return text_of(value) if plainer is value else plainer


_encoder = msgspec.json.Encoder(enc_hook=_foreign, order="sorted")
_decoder = msgspec.json.Decoder()


def text_of(value: object) -> str:
    """``str(value)``, even for an object whose ``__str__`` raises."""
    try:
        return str(value)
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - a foreign __str__ may raise anything
        return f"<{type(value).__name__}: str() raised {type(problem).__name__}>"


def encode_json(value: object) -> bytes:
    """Compact JSON with sorted keys. Total: whatever cannot be held becomes its ``str()`` form.

    NaN and infinity become null; text that is not valid Unicode has its lone surrogates replaced.
    """
    try:
        encoded = _encoder.encode(value)
        if len(encoded) <= 2 * MAX_DEPTH:  # two characters a level: too short to nest too deep
            return encoded
        fits = not nests_too_deep(encoded)
    except Exception:  # noqa: BLE001 - a foreign object may raise anything at all while it is read
        encoded, fits = b"", False
    return encoded if fits else _encoder.encode(plain(value))


def nests_too_deep(encoded: bytes, most: int = MAX_DEPTH) -> bool:
    """Whether a JSON text nests deeper; ValueError, RecursionError."""
    # Much cheaper than a walk: text with few brackets cannot nest deep.
    if encoded.count(b"[") + encoded.count(b"{") <= most:
        return False
    return depth_of(_decoder.decode(encoded)) > most


def decode_json(text: bytes | str) -> JsonValue:
    """Read JSON text that we wrote ourselves."""
    return _decoder.decode(text)


def plain(value: object) -> JsonValue:
    """Copy any object into plain JSON values, whatever it holds, cycles included."""
    return _plain(value, ())


def _plain(value: object, above: tuple[int, ...]) -> JsonValue:
    """Copy a value; ``above`` are the ids of the containers it is in."""
    try:
        return _copy(value, above)
    except Exception:  # noqa: BLE001 - a foreign object may raise anything at all while it is read
        return clean_text(value)


def _copy(value: object, above: tuple[int, ...]) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int):
        return int(value) if value.bit_length() <= MAX_INTEGER_BITS else clean_text(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if len(above) >= MAX_DEPTH or id(value) in above:
        return _DEEPER
    return _copy_container(value, (*above, id(value)))


def _copy_container(value: object, above: tuple[int, ...]) -> JsonValue:
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {clean_text(key): _plain(item, above) for key, item in items}
    if isinstance(value, AbstractSet):
        members = sorted(cast("AbstractSet[object]", value), key=text_of)
        return [_plain(item, above) for item in members]
    if isinstance(value, (list, tuple)):
        return [_plain(item, above) for item in cast("list[object]", value)]
    builtins: object = msgspec.to_builtins(value, enc_hook=_foreign, str_keys=True)
    if isinstance(builtins, _CONTAINERS):
        return _plain(cast("object", builtins), above)
    return clean_text(builtins)


def clean_text(value: object) -> str:
    """Text as valid Unicode; anything else as its ``str()``."""
    if type(value) is str and value.isascii():
        return value  # as nearly all of it is
    text = value if isinstance(value, str) else text_of(value)
    return str.encode(text, "utf-8", "replace").decode("utf-8")


def depth_of(value: JsonValue) -> int:
    """How many containers deep the value nests, without recursion."""
    depth = 0
    level: Iterable[JsonValue] = [value]
    while containers := [
        here.values() if isinstance(here, dict) else here
        for here in level
        if isinstance(here, _CONTAINERS)
    ]:
        depth += 1
        level = chain.from_iterable(containers)
    return depth


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
