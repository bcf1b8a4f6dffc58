"""The clean schema as a type: arguments are read and checked in one pass over their text.

Most schemas of tools are closed objects of texts, numbers, enums, lists and further objects. Those
are written down here as msgspec types. A reader accepts only what the clean schema accepts; what it
does not accept, or cannot express, takes the careful path. It keeps nothing of what it read.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, cast, get_args, get_origin

import msgspec

from holdfast.contract.json_value import MAX_DEPTH, JsonObject, JsonValue
from holdfast.preflight.clean import NOT_BLANK, NOT_THE_WORD_NULL
from holdfast.preflight.literals import is_blank
from holdfast.preflight.schema import only_annotations

Reader = Callable[[str | bytes], object]
"""Reads clean arguments; raises ValueError for all others."""

_UNDERSTOOD = frozenset(
    {
        *("type", "enum", "const", "anyOf", "not", "pattern", "minLength", "maxLength"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("items", "minItems", "maxItems"),
        *("properties", "required", "additionalProperties"),
        "format",  # never checked, so it says nothing
    }
)
_BOUNDS = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
}
_LITERALS: dict[type, str] = {str: "string", int: "integer", type(None): "null"}
_SMALL = 2**53
"""Integers below this are the same number as a float."""

_NOT_BLANK = str(NOT_BLANK["pattern"])
_BLANK = _NOT_BLANK.replace("[^", "[", 1)
_NOT_NULL = NOT_THE_WORD_NULL["not"]
_PATTERNS: dict[tuple[bool, bool], str | None] = {
    # msgspec searches; neither end is implied.
    (False, False): None,
    (True, False): _NOT_BLANK,
    (False, True): r"\A(?!null\Z)",
    (True, True): rf"\A(?!null\Z){_BLANK}*+{_NOT_BLANK}",
}


class _NotExpressible(Exception):
    """Raised and caught inside this module: msgspec has no type for the schema."""


def compile_reader(clean: JsonObject) -> Reader | None:
    """A reader of what the clean schema accepts, or of a part of that; None if there is none."""
    try:
        return msgspec.json.Decoder(cast("type", _form(clean, 0))).decode
    except (_NotExpressible, TypeError, ValueError, OverflowError, RuntimeError):
        # The others are msgspec's: a union it cannot tell apart, a number it cannot hold.
        return None


def _form(node: JsonValue, depth: int) -> object:
    """The type of a node that lies inside so many containers."""
    if not isinstance(node, dict) or depth > MAX_DEPTH:
        raise _NotExpressible
    said = {key: value for key, value in node.items() if not only_annotations((key,))}
    if not _UNDERSTOOD.issuperset(said):
        raise _NotExpressible
    if "anyOf" in said:
        return _either_of(said, depth)
    if "enum" in said or "const" in said:
        return _choice(said)
    declared = said.get("type")
    names = declared if isinstance(declared, list) else [declared]
    if not names or ("not" in said and "string" not in names):
        raise _NotExpressible
    return _union([_of_type(name, said, depth) for name in names])


def _of_type(name: JsonValue, said: JsonObject, depth: int) -> object:
    match name:
        case "null":
            return None
        case "boolean":
            return bool
        case "integer":
            return _bounded(int, said)
        case "number":
            return _union([_bounded(int, said), _bounded(float, said)])
        case "string":
            return _text(said)
        case "array":
            return _array(said, depth + 1)
        case "object":
            return _object(said, depth + 1)
        case _:
            raise _NotExpressible


def _union(forms: list[object]) -> object:
    # A bounded scalar beside a container: msgspec has been seen to crash on such unions.
    containers = [form for form in forms if _is_container(form)]
    if containers and any(_is_bounded(form) for form in forms if form not in containers):
        raise _NotExpressible
    union: Any = forms[0]
    for form in forms[1:]:
        union = union | form
    return union


def _is_bounded(form: object) -> bool:
    return get_origin(form) is Annotated


def _is_container(form: object) -> bool:
    inner = get_args(form)[0] if _is_bounded(form) else form
    return get_origin(inner) is list or isinstance(inner, msgspec.StructMeta)


def _either_of(said: JsonObject, depth: int) -> object:
    branches = said["anyOf"]
    if len(said) > 1 or not isinstance(branches, list) or not branches:
        raise _NotExpressible
    return _union([_form(branch, depth) for branch in branches])


def _choice(said: JsonObject) -> object:
    """One of some texts and integers; what stands beside them must not narrow them further."""
    values = said["enum"] if "enum" in said else [said["const"]]
    if len(said.keys() - {"type", "not", "pattern"}) > 1 or not isinstance(values, list):
        raise _NotExpressible
    texts = [value for value in values if isinstance(value, str)]
    if not (_accepts_all(texts, said) and values):
        raise _NotExpressible
    types = {_LITERALS.get(type(value)) for value in values}
    declared = said.get("type", [*types])
    if None in types or not types.issubset(declared if isinstance(declared, list) else [declared]):
        raise _NotExpressible
    return Literal[tuple(values)]


def _accepts_all(texts: list[str], said: JsonObject) -> bool:
    """Whether what no repair touches is all that is said of the texts, and true of each."""
    not_null, not_blank = "not" in said, "pattern" in said
    return (
        said.get("not", _NOT_NULL) == _NOT_NULL
        and said.get("pattern", _NOT_BLANK) == _NOT_BLANK
        and not (not_null and "null" in texts)
        and not (not_blank and any(is_blank(text) for text in texts))
    )


def _bounded(number: type, said: JsonObject) -> object:
    bounds: dict[str, Any] = {}
    for keyword, name in _BOUNDS.items():
        bound = said.get(keyword)
        if bound is None:
            continue
        if type(bound) is not int or abs(bound) > _SMALL:
            raise _NotExpressible
        bounds[name] = bound
    return Annotated[cast("Any", number), msgspec.Meta(**bounds)] if bounds else number


def _text(said: JsonObject) -> object:
    if not _accepts_all([], said):
        raise _NotExpressible  # engines differ in what a pattern of somebody else's means
    meta = msgspec.Meta(
        pattern=_PATTERNS["pattern" in said, "not" in said],
        min_length=_length(said, "minLength"),
        max_length=_length(said, "maxLength"),
    )
    return str if meta == msgspec.Meta() else Annotated[str, meta]


def _array(said: JsonObject, depth: int) -> object:
    meta = msgspec.Meta(min_length=_length(said, "minItems"), max_length=_length(said, "maxItems"))
    items = list[cast("Any", _form(said.get("items"), depth))]
    return items if meta == msgspec.Meta() else Annotated[items, meta]


def _length(said: JsonObject, keyword: str) -> int | None:
    length = said.get(keyword)
    if length is not None and type(length) is not int:
        raise _NotExpressible
    return length


def _object(said: JsonObject, depth: int) -> object:
    # What is required and not declared has become an allOf before this, which is not expressible.
    properties = cast("JsonObject", said.get("properties", {}))
    required = cast("list[str]", said.get("required", []))
    if said.get("additionalProperties") is not False:
        raise _NotExpressible
    fields: list[tuple[str, type] | tuple[str, type, object]] = []
    rename: dict[str, str] = {}
    for place, (name, child) in enumerate(properties.items()):
        if child is False:
            if name in required:
                raise _NotExpressible  # no arguments fit: let that be explained
            continue  # accepts nothing: the closed struct refuses it
        field = f"field_{place}"
        form = cast("type", _form(child, depth))
        fields.append((field, form) if name in required else (field, form, msgspec.UNSET))
        rename[field] = name
    return msgspec.defstruct(
        "closed_object", fields, kw_only=True, forbid_unknown_fields=True, rename=rename, gc=False
    )
