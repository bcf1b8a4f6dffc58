"""Defaults as JSON: what a model is told a missing value stands for."""

import math
from collections.abc import Callable
from pathlib import PurePath
from typing import Protocol, cast, runtime_checkable

import msgspec

from holdfast.contract.json_value import JsonValue, depth_of

_EMPTY_FACTORIES: dict[object, JsonValue] = {list: [], tuple: [], set: [], frozenset: [], dict: {}}


@runtime_checkable
class _Dumps(Protocol):
    def model_dump(self, *, mode: str) -> object: ...


def default_json(value: object) -> "JsonValue | msgspec.UnsetType":
    """The default as JSON, or UNSET when JSON cannot hold it."""
    try:
        plain = cast("JsonValue", msgspec.to_builtins(value, enc_hook=_written, str_keys=True))
        text = msgspec.json.encode(plain)
        depth_of(plain)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return msgspec.UNSET
    # The encoder writes infinity as null, which would be a different default.
    if isinstance(plain, float) and not math.isfinite(plain):
        return msgspec.UNSET
    return cast("JsonValue", msgspec.json.decode(text))


def factory_json(factory: Callable[[], object]) -> "JsonValue | msgspec.UnsetType":
    """What an empty container's factory gives; any other factory is not called."""
    empty = _EMPTY_FACTORIES.get(factory, msgspec.UNSET)
    return empty.copy() if isinstance(empty, (list, dict)) else msgspec.UNSET


def _written(value: object) -> object:
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, _Dumps) and not isinstance(value, type):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} has no JSON form")
