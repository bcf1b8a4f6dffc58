"""Raw arguments to an object, whatever a model or an attacker wrote.

Too large, too deep, not JSON, not Unicode: each has a defined answer and none raises. Of a repeated
key the last one counts, here and for every later stage, so no two stages can disagree about it.
It knows no schema.
"""

from collections.abc import Mapping
from typing import cast

import msgspec

from holdfast.contract.arguments import UNPARSEABLE
from holdfast.contract.builders import failure_of
from holdfast.contract.call import RawArguments
from holdfast.contract.envelope import Repair
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import MAX_DEPTH, JsonObject, JsonValue, depth_of, type_name
from holdfast.preflight import copying

MAX_ARGUMENT_BYTES = 8 * 1024 * 1024

NOT_AN_OBJECT = "Arguments must be an object"

_SHOWN = 60
_SHORT = 2 * MAX_DEPTH
"""Text of so few characters cannot nest too deep: a level takes two."""

_decode = msgspec.json.Decoder().decode


class Parsed(msgspec.Struct, frozen=True):
    """Arguments as an object that nobody else holds."""

    arguments: JsonObject
    repairs: tuple[Repair, ...] = ()


def parse_arguments(raw: RawArguments, *, max_bytes: int = MAX_ARGUMENT_BYTES) -> Parsed | Failure:
    """Read the arguments of a call.

    Nothing at all (``None`` or the empty text) is a call without arguments. A text that holds an
    object as text is read one level further.
    """
    if isinstance(raw, (str, bytes)):
        if len(raw) <= _SHORT <= max_bytes:
            return _parse_short(raw)
        return _parse_text(raw, max_bytes)
    if raw is None:
        return Parsed({})
    return _copy_mapping(raw, max_bytes)


def _parse_short(raw: str | bytes) -> Parsed | Failure:
    """Most calls: an object too short to be too large or too deep."""
    try:
        decoded: JsonValue = _decode(raw)
    except ValueError:
        decoded = None
    return Parsed(decoded) if type(decoded) is dict else _parse_text(raw, 4 * _SHORT)


def _parse_text(raw: str | bytes, max_bytes: int) -> Parsed | Failure:
    # Text this short fits however it is encoded.
    if len(raw) > max_bytes // 4 and (size := _size(raw, max_bytes)) > max_bytes:
        return _too_large(size, max_bytes)
    try:
        decoded: JsonValue = _decode(raw)
    except RecursionError:
        return _invalid(copying.TOO_DEEP)
    except ValueError as problem:
        return Parsed({}) if not raw else _unparseable(raw, problem)
    if len(raw) > 2 * MAX_DEPTH and _may_be_deep(raw) and depth_of(decoded) > MAX_DEPTH:
        return _invalid(copying.TOO_DEEP)
    if isinstance(decoded, dict):
        return Parsed(decoded)
    if isinstance(decoded, str):
        inner = _parse_text(decoded, max_bytes)
        if isinstance(inner, Parsed) and not inner.repairs and decoded:
            return Parsed(inner.arguments, (Repair("object_from_text", ""),))
    return not_an_object(decoded)


def _size(raw: str | bytes, limit: int) -> int:
    """How many bytes; text that fits the limit however it is encoded is not encoded to know."""
    if isinstance(raw, bytes) or raw.isascii() or not limit // 4 < len(raw) <= limit:
        return len(raw)
    return len(raw.encode("utf-8", "replace"))


def _may_be_deep(raw: str | bytes) -> bool:
    """Count brackets: much cheaper than a walk, and text with few of them cannot nest deep."""
    if isinstance(raw, str):
        return raw.count("[") + raw.count("{") > MAX_DEPTH
    return raw.count(b"[") + raw.count(b"{") > MAX_DEPTH


def _too_large(size: int, limit: int) -> Failure:
    return _invalid(
        f"Arguments are {size:,} bytes long; at most {limit:,} are accepted."
        " Write large content to a file and pass its path."
    )


def _unparseable(raw: str | bytes, problem: ValueError) -> Failure:
    start = raw[:_SHOWN] if isinstance(raw, str) else raw[:_SHOWN].decode("utf-8", "replace")
    near = start.encode("utf-8", "replace").decode() + ("…" if len(raw) > _SHOWN else "")
    return failure_of(
        FailureKind.INVALID_ARGS,
        UNPARSEABLE,
        extras={"reason": str(problem), "received": near},
    )


def not_an_object(value: object) -> Failure:
    """Say that the arguments are JSON, but not an object."""
    return failure_of(
        FailureKind.INVALID_ARGS, NOT_AN_OBJECT, extras={"received": type_name(value)}
    )


def _invalid(message: str) -> Failure:
    return failure_of(FailureKind.INVALID_ARGS, message)


def _copy_mapping(raw: object, max_bytes: int) -> Parsed | Failure:
    if not isinstance(raw, Mapping):
        return not_an_object(raw)
    try:
        return Parsed(
            copying.copy_object(cast("Mapping[object, object]", raw), max_bytes=max_bytes)
        )
    except copying.NotJson as problem:
        return _invalid(str(problem))
    except Exception as problem:  # noqa: BLE001 - a foreign mapping may raise anything at all
        return _invalid(f"Arguments could not be read: {type(problem).__name__}: {problem}")


def parse_flow_arguments(raw: str | None) -> tuple[JsonObject | None, bool]:
    """Read arguments as the flow loop does: the object or None, and whether there was an error."""
    if not raw:
        return None, False
    parsed = parse_arguments(raw)
    if isinstance(parsed, Failure) or parsed.repairs:
        return None, True
    return parsed.arguments, False
