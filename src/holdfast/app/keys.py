"""Are these the keys and types of the settings? Says which key of which origin is not.

It reads nothing and merges nothing.
"""

from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Literal, TypeGuard, Union, cast, get_args, get_origin

import msgspec

from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings
from holdfast.app.spelling import advice
from holdfast.contract.late_pattern import late_pattern

Table = dict[str, object]
"""A table as TOML gives it."""

_NOT_KEYS = frozenset({"at_most", "source", "capability"})
"""Fields that no table has: found out while loading, or said by what ships alone."""

_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "array": "a list",
    "str": "text",
    "bool": "true or false",
}
_EXAMPLES: dict[object, str] = {int: "1000", float: "2.5", str: '"text"', bool: "true"}
_BY_KEY = {"commands": '[["/usr/local/bin/ask-the-office", "--quick"]]'}
"""What is a list of lists for a reason that a made-up value does not show."""
_EXPECTED = late_pattern(r"Expected `(\w+)[^`]*`(?: (?P<bound>[<>]=? [0-9.]+))?")


def check_keys(table: Mapping[str, object], origin: str) -> None:
    """Raise ConfigurationError for the first unknown key or wrong type."""
    _check_table(Settings, table, "", origin)


def _check_table(
    kind: type[msgspec.Struct], table: Mapping[str, object], path: str, origin: str
) -> None:
    fields = {
        field.name: field
        for field in msgspec.structs.fields(kind)
        if field.encode_name not in _NOT_KEYS
    }
    for key, value in table.items():
        here = f"{path}.{key}" if path else key
        if key not in fields:
            raise ConfigurationError(
                f"{origin}: {here}: there is no such key; {advice(key, fields)}"
            )
        _check_value(fields[key].type, value, here, origin)
    for name, field in fields.items():
        if field.required and name not in table:
            wanted = f"{name} = {_example(field.type)}"
            raise ConfigurationError(f"{origin}: {path}: {name} is missing; write {wanted}")


def _check_value(kind: object, value: object, path: str, origin: str) -> None:
    kind = _given(kind)
    inside: tuple[object, ...] = get_args(kind)
    if _is_struct(kind):
        _check_table(kind, _as_table(value, path, origin), path, origin)
    elif get_origin(kind) is dict:
        for name, item in _as_table(value, path, origin).items():
            _check_value(inside[1], item, f"{path}.{name}", origin)
    elif get_origin(kind) is tuple and _is_struct(inside[0]) and isinstance(value, list):
        for place, item in enumerate(cast("list[object]", value), 1):
            where = f"{path} #{place}"
            _check_table(inside[0], _as_table(item, path, origin, f"[[{path}]]"), where, origin)
    else:
        _check_leaf(kind, value, path, origin)


def _given(kind: object) -> object:
    """What a value is when it is given at all."""
    if get_origin(kind) not in (Union, UnionType):
        return kind
    (given,) = [one for one in get_args(kind) if one is not type(None)]
    return given


def _is_struct(kind: object) -> TypeGuard[type[msgspec.Struct]]:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _as_table(
    value: object, path: str, origin: str, header: str | None = None
) -> Mapping[str, object]:
    if isinstance(value, dict):
        return cast("Table", value)
    head = header or f"[{path}]"
    raise ConfigurationError(
        f"{origin}: {path}: expected a table; write {head} and its keys below it"
    )


def _check_leaf(kind: object, value: object, path: str, origin: str) -> None:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        key = path.rpartition(".")[2]
        raise ConfigurationError(
            f"{origin}: {path}: {_explained(str(problem), key, kind)}"
        ) from None


def _explained(said: str, key: str, kind: object) -> str:
    if get_origin(kind) is Literal:
        known = ", ".join(map(str, get_args(kind)))
        return f"it must be one of {known}; write for example {key} = {_example(kind)}"
    expected = _EXPECTED.match(said)
    if expected is None:
        return f"{said}; choose another value"
    name, bound = expected.group(1), expected.group("bound")
    wanted = f"{_WORDS.get(name, name)} {bound}" if bound else _WORDS.get(name, name)
    return f"expected {wanted}; write for example {key} = {_BY_KEY.get(key) or _example(kind)}"


def _example(kind: object) -> str:
    """A value of this type, as TOML."""
    kind = _given(kind)
    inside: tuple[object, ...] = get_args(kind)
    if get_origin(kind) is Annotated:
        return _example(inside[0])
    if get_origin(kind) is Literal:
        return f'"{inside[0]}"'
    if _is_struct(kind):
        needed = [one for one in msgspec.structs.fields(kind) if one.required]
        return f"{{ {', '.join(f'{one.name} = {_example(one.type)}' for one in needed)} }}"
    if get_origin(kind) is tuple:
        return '["one", "two"]' if inside[0] is str else f"[{_example(inside[0])}]"
    return _EXAMPLES.get(kind, "...")
