"""The repairs: sloppy but unmistakable arguments made right, each repair named.

Per object, in this order: lift a wrapper, correct the spelling of missing required keys, drop empty
optional texts, then repair each declared property by its own shape. Applying the repairs twice
changes nothing more. It judges nothing: what it cannot repair it leaves for the schema check.
"""

from collections.abc import Callable

from holdfast.contract.envelope import Repair
from holdfast.contract.json_value import MAX_DEPTH, JsonObject, JsonValue
from holdfast.preflight.literals import (
    boolean_in,
    container_in,
    integer_in,
    is_blank,
    number_in,
)
from holdfast.preflight.shape import Shape, spelling

WRAPPERS = ("properties", "arguments")

PATH_SYNONYMS = ("filename", "file_name", "filepath", "file_path", "file")

_FROM_TEXT: dict[str, Callable[[str], JsonValue]] = {
    "integer": integer_in,
    "number": number_in,
    "boolean": boolean_in,
}


def repair_arguments(shape: Shape, arguments: JsonObject) -> list[Repair]:
    """Repair the arguments in place and say what was done."""
    done: list[Repair] = []
    if shape.kind == "object":
        _repair_object(shape, arguments, "", done, 1)
    return done


def _repair(shape: Shape, value: JsonValue, path: str, done: list[Repair], depth: int) -> JsonValue:
    if depth > MAX_DEPTH:
        # Text inside text can nest deeper than the arguments did: too deep to be accepted at all.
        return value
    if isinstance(value, str):
        value = _repair_text(shape, value, path, done)
    elif isinstance(value, float) and shape.kind == "integer" and value.is_integer():
        done.append(Repair("integer_from_float", path))
        return int(value)
    if isinstance(value, dict) and shape.kind == "object":
        _repair_object(shape, value, path, done, depth + 1)
    elif isinstance(value, list) and shape.kind == "array":
        _repair_array(shape, value, path, done, depth + 1)
    return value


def _repair_text(shape: Shape, text: str, path: str, done: list[Repair]) -> JsonValue:
    if shape.nullable and text == "null" and text not in (shape.enum or ()):
        done.append(Repair("null_from_text", path))
        return None
    if shape.kind in {"array", "object"}:
        decoded = container_in(text)
        if isinstance(decoded, list if shape.kind == "array" else dict):
            done.append(Repair(f"{shape.kind}_from_text", path))
            return decoded
        return text
    if shape.kind in _FROM_TEXT:
        read = _FROM_TEXT[shape.kind](text)
        if read is None:
            return text
        done.append(Repair(f"{shape.kind}_from_text", path))
        return read
    return _repair_enum(shape, text, path, done)


def _repair_enum(shape: Shape, text: str, path: str, done: list[Repair]) -> JsonValue:
    if shape.enum is None or text in shape.enum:
        return text
    declared = shape.enum_spelling.get(text.casefold())
    if declared is None:
        return text
    done.append(Repair("enum_case", path))
    return declared


def _repair_array(
    shape: Shape, value: list[JsonValue], path: str, done: list[Repair], depth: int
) -> None:
    for index, item in enumerate(value):
        below = shape.prefix[index] if index < len(shape.prefix) else shape.items
        if below is not None:
            value[index] = _repair(below, item, f"{path}[{index}]", done, depth)


def _repair_object(
    shape: Shape, value: JsonObject, path: str, done: list[Repair], depth: int
) -> None:
    if shape.properties:
        _lift_wrappers(shape, value, path, done)
        _correct_keys(shape, value, path, done)
        _drop_empty(shape, value, path, done)
    for name, below in shape.properties.items():
        if name in value:
            value[name] = _repair(below, value[name], _at(path, name), done, depth)


def _lift_wrappers(shape: Shape, value: JsonObject, path: str, done: list[Repair]) -> None:
    while (wrapper := _wrapper_in(shape, value)) is not None:
        name, inner = wrapper
        del value[name]
        for key, item in inner.items():
            value.setdefault(key, item)
        done.append(Repair("lifted_wrapper", _at(path, name)))


def _wrapper_in(shape: Shape, value: JsonObject) -> tuple[str, JsonObject] | None:
    for name in WRAPPERS:
        if name in shape.properties or name not in value:
            continue
        inner = value[name]
        if isinstance(inner, str):
            inner = container_in(inner)
        if isinstance(inner, dict) and any(key in shape.properties for key in inner):
            return name, inner
    return None


def _correct_keys(shape: Shape, value: JsonObject, path: str, done: list[Repair]) -> None:
    for sent in [key for key in value if key in shape.camel]:
        name = shape.camel[sent]
        if sent not in shape.properties and name not in value:
            value[name] = value.pop(sent)
            done.append(Repair("renamed_key", _at(path, name), sent))
    missing = [name for name in shape.required if name in shape.properties and name not in value]
    if not missing:
        return
    strays: dict[str, list[str]] = {}
    for key in value:
        if key not in shape.properties:
            strays.setdefault(spelling(key), []).append(key)
    for name in missing:
        sent = _other_spelling(shape, strays, name)
        if sent is not None:
            value[name] = value.pop(sent)
            done.append(Repair("renamed_key", _at(path, name), sent))


def _other_spelling(shape: Shape, strays: dict[str, list[str]], name: str) -> str | None:
    """The one undeclared key that was sent for this name; no key can be meant for two names."""
    wanted = spelling(name)
    if not wanted or len(shape.by_spelling[wanted]) > 1:
        return None
    same = strays.get(wanted, [])
    if not same and name == "path":
        same = [
            key
            for other, keys in strays.items()
            for key in keys
            if key in PATH_SYNONYMS and other not in shape.by_spelling
        ]
    return same[0] if len(same) == 1 else None


def _drop_empty(shape: Shape, value: JsonObject, path: str, done: list[Repair]) -> None:
    for name, below in shape.properties.items():
        if below.kind != "string" or name in shape.required or name in shape.keep_empty:
            continue
        text = value.get(name)
        if isinstance(text, str) and is_blank(text) and text not in (below.enum or ()):
            del value[name]
            done.append(Repair("dropped_empty", _at(path, name)))


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
