"""Are these the keys and types of the settings? Says which key of which origin is not.

It reads nothing and merges nothing.
"""

import re
from collections.abc import Mapping
from typing import TypeGuard, cast, get_args, get_origin

import msgspec

from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings
from holdfast.app.spelling import advice

Table = dict[str, object]
"""A table as TOML gives it."""

_NOT_A_KEY = "at_most"

_WORDS = {"int": "a whole number", "float": "a number", "array": "a list", "str": "text"}
_EXAMPLES = {"int": "1000", "float": "2.5", "array": '["one", "two"]', "str": '["one", "two"]'}
_EXPECTED = re.compile(r"Expected `(\w+)[^`]*`(?: (?P<bound>[<>]=? [0-9.]+))?")


def check_keys(table: Mapping[str, object], origin: str) -> None:
    """Raise ConfigurationError for the first unknown key or wrong type."""
    _check_table(Settings, table, (), origin)


def _check_table(
    kind: type[msgspec.Struct], table: Mapping[str, object], path: tuple[str, ...], origin: str
) -> None:
    fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
    fields.pop(_NOT_A_KEY, None)
    for key, value in table.items():
        here = (*path, key)
        if key not in fields:
            raise ConfigurationError(
                f"{origin}: {_shown(here)}: there is no such key; {advice(key, fields)}"
            )
        _check_value(fields[key], value, here, origin)


def _check_value(kind: object, value: object, path: tuple[str, ...], origin: str) -> None:
    if _is_struct(kind):
        _check_table(kind, _as_table(value, path, origin), path, origin)
    elif get_origin(kind) is dict:
        inside: object = get_args(kind)[1]
        for name, item in _as_table(value, path, origin).items():
            _check_value(inside, item, (*path, name), origin)
    else:
        _check_leaf(kind, value, path, origin)


def _is_struct(kind: object) -> TypeGuard[type[msgspec.Struct]]:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _as_table(value: object, path: tuple[str, ...], origin: str) -> Mapping[str, object]:
    if isinstance(value, dict):
        return cast("Table", value)
    raise ConfigurationError(
        f"{origin}: {_shown(path)}: expected a table; write [{_shown(path)}] and its keys below it"
    )


def _check_leaf(kind: object, value: object, path: tuple[str, ...], origin: str) -> None:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        raise ConfigurationError(
            f"{origin}: {_shown(path)}: {_explained(str(problem), path[-1])}"
        ) from None


def _explained(said: str, key: str) -> str:
    expected = _EXPECTED.match(said)
    if expected is None:
        return f"{said}; choose another value"
    kind, bound = expected.group(1), expected.group("bound")
    wanted = f"{_WORDS.get(kind, kind)} {bound}" if bound else _WORDS.get(kind, kind)
    return f"expected {wanted}; write for example {key} = {_EXAMPLES.get(kind, '...')}"


def _shown(path: tuple[str, ...]) -> str:
    return ".".join(path)
