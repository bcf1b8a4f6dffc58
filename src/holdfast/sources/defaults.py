"""Defaults as JSON: what a model is told a missing value stands for."""

import json
from collections.abc import Callable
from pathlib import PurePath
from typing import Protocol, get_origin, runtime_checkable

import msgspec

from holdfast.contract.json_value import JsonValue, decode_json

_EMPTY_FACTORIES: dict[object, JsonValue] = {list: [], tuple: [], set: [], frozenset: [], dict: {}}


@runtime_checkable
class _Dumps(Protocol):
    def model_dump(self, *, mode: str) -> object: ...


def default_json(value: object) -> "JsonValue | msgspec.UnsetType":
    """The default as JSON, or UNSET when JSON cannot hold it."""
    try:
        plain = msgspec.to_builtins(value, enc_hook=_written, str_keys=True)
        # Unlike msgspec, json can refuse infinity instead of writing null for it.
        text = json.dumps(plain, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return msgspec.UNSET
    return decode_json(text)


def factory_json(factory: Callable[[], object]) -> "JsonValue | msgspec.UnsetType":
    """What an empty container's factory gives; any other factory is not called."""
    empty = _EMPTY_FACTORIES.get(get_origin(factory) or factory, msgspec.UNSET)
    return empty.copy() if isinstance(empty, (list, dict)) else msgspec.UNSET


def _written(value: object) -> object:
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, _Dumps) and not isinstance(value, type):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} has no JSON form")
