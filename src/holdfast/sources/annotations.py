"""Annotations read into shapes. The JSON side of every type we accept is decided here.

It raises ToolDefinitionError for what JSON cannot hold; it does not write schemas.
"""

import datetime
import enum
import types
import uuid
from collections import abc
from collections.abc import Callable
from decimal import Decimal
from pathlib import PurePath
from typing import (
    Annotated,
    Any,
    ForwardRef,
    Literal,
    LiteralString,
    NewType,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.sources import pydantic_schema
from holdfast.sources.docstring import read_docstring
from holdfast.sources.merging import is_scalar
from holdfast.sources.metadata import facts_of
from holdfast.sources.places import Place
from holdfast.sources.records import RecordFacts, is_record, record_facts
from holdfast.sources.shapes import (
    Alternatives,
    Anything,
    Array,
    Choices,
    Container,
    Field,
    FixedTuple,
    Map,
    Model,
    Qualified,
    Record,
    Scalar,
    Shape,
    Written,
)

_SIMPLE: dict[object, Shape] = {
    Any: Anything(),
    object: Anything(),
    str: Scalar("string"),
    LiteralString: Scalar("string"),
    int: Scalar("integer"),
    float: Scalar("number"),
    bool: Scalar("boolean"),
    None: Scalar("null"),
    types.NoneType: Scalar("null"),
}

_TEXTS: dict[object, JsonObject] = {
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    datetime.timedelta: {"type": "string", "format": "duration"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    # Models write prices as numbers; text keeps every digit.
    Decimal: {"type": ["number", "string"], "pattern": r"^[+-]?[0-9.]+([eE][+-]?[0-9]+)?$"},
    bytes: {"type": "string", "contentEncoding": "base64"},
    bytearray: {"type": "string", "contentEncoding": "base64"},
}

_CONTAINERS: dict[object, Container] = {
    list: list,
    abc.Sequence: list,
    abc.MutableSequence: list,
    abc.Collection: list,
    abc.Iterable: list,
    set: set,
    abc.Set: set,
    abc.MutableSet: set,
    frozenset: frozenset,
}

_MAPPINGS: frozenset[object] = frozenset({dict, abc.Mapping, abc.MutableMapping})

_MAX_NESTING = 40
"""Records within records; a generic class can grow for ever without repeating itself."""

_ADVICE = (
    "use a JSON type, a dataclass, a TypedDict, a msgspec.Struct or a pydantic model,"
    " or hand the tool an input_schema"
)


def read_annotation(annotation: object, place: Place, *, outgoing: bool = False) -> Shape:
    """Say what the annotation means for JSON. Outgoing: for a result instead of an argument."""
    return _Reader(outgoing=outgoing).read(annotation, place)


def or_null(shape: Shape) -> Shape:
    """The same shape with null allowed, as a default of None implies."""
    match shape:
        case Anything() | Scalar(kind="null"):
            return shape
        case Choices(values=values) if None in values:
            return shape
        case Qualified(shape=inner, facts=facts):
            return Qualified(or_null(inner), facts)
        case Alternatives(members=members):
            if any(or_null(member) == member for member in members):
                return shape
            return Alternatives((*members, Scalar("null")))
        case _:
            return Alternatives((shape, Scalar("null")))


class _Reader:
    def __init__(self, *, outgoing: bool) -> None:
        self._outgoing = outgoing
        self._by_origin: dict[object, Callable[[object, Place], Shape]] = {
            Annotated: self._annotated,
            Literal: self._literal,
            Union: self._union,
            types.UnionType: self._union,
            tuple: self._tuple,
        }

    def read(self, annotation: object, place: Place) -> Shape:
        try:
            simple = _SIMPLE.get(annotation)
        except TypeError:
            # Unhashable: an Annotated that holds a list, say, or no type at all.
            if get_origin(annotation) is None:
                place.refuse(f"{annotation!r} is not a type")
            simple = None
        if simple is not None:
            return simple
        if isinstance(annotation, (str, ForwardRef)):
            place.refuse(
                f"{annotation!r} cannot be resolved, or refers to itself; a tool's schema is"
                " finite: use `Any` for arbitrary JSON"
            )
        if isinstance(annotation, TypeVar):
            place.refuse(f"the type variable {annotation} stands for no type here")
        if isinstance(annotation, NewType):
            return self.read(annotation.__supertype__, place)
        # get_origin knows the bare generics of `typing`, such as List, too.
        origin: object = get_origin(annotation) or annotation
        if hasattr(origin, "__value__"):
            return self._alias(annotation, origin, place)
        return self._by_kind(annotation, origin, place)

    def _by_kind(self, annotation: object, origin: object, place: Place) -> Shape:
        reader = self._by_origin.get(origin)
        if reader is not None:
            return reader(annotation, place)
        if origin in _CONTAINERS:
            (item,) = get_args(annotation) or (Any,)
            return Array(_CONTAINERS[origin], self.read(item, place.below("[]")))
        if origin in _MAPPINGS:
            return self._mapping(annotation, place)
        if isinstance(origin, type):
            return self._class(annotation, origin, place)
        return place.refuse(f"{_spelled(annotation)} has no JSON form; {_ADVICE}")

    def _alias(self, annotation: object, origin: object, place: Place) -> Shape:
        self._check_recursion(origin, "the type alias", place)
        value: Any = getattr(origin, "__value__", None)
        arguments = get_args(annotation)
        return self.read(value[arguments] if arguments else value, place.inside(origin))

    def _annotated(self, annotation: object, place: Place) -> Shape:
        inner, *metadata = get_args(annotation)
        try:
            facts = facts_of(metadata)
        except ValueError as problem:
            place.refuse(str(problem))
        return Qualified(self.read(inner, place), facts)

    def _literal(self, annotation: object, place: Place) -> Shape:
        members = get_args(annotation)
        return _choices(members, annotation, place)

    def _union(self, annotation: object, place: Place) -> Shape:
        # UNSET says that the field was left out; on the wire it does not exist.
        members = [one for one in get_args(annotation) if one is not msgspec.UnsetType]
        shapes = tuple(self.read(member, place) for member in members)
        return shapes[0] if len(shapes) == 1 else Alternatives(shapes)

    def _tuple(self, annotation: object, place: Place) -> Shape:
        items = get_args(annotation)
        # Without arguments only `tuple[()]` is an alias; `tuple` and `typing.Tuple` say nothing.
        if not items and not isinstance(annotation, types.GenericAlias):
            return Array(tuple, Anything())
        if len(items) == 2 and items[1] is Ellipsis:
            return Array(tuple, self.read(items[0], place.below("[]")))
        return FixedTuple(
            tuple(self.read(item, place.below(f"[{at}]")) for at, item in enumerate(items))
        )

    def _mapping(self, annotation: object, place: Place) -> Shape:
        key, value = get_args(annotation) or (str, Any)
        shape = self.read(key, place)
        if shape != Scalar("string"):
            place.refuse(f"{_spelled(annotation)}: JSON objects have text keys; use `str` for them")
        return Map(self.read(value, place.below("{}")))

    def _class(self, annotation: object, cls: type, place: Place) -> Shape:
        text = _text_schema(cls)
        if text is not None:
            return Written(cls, text)
        if is_record(cls):
            return self._record(annotation, place)
        if pydantic_schema.is_model(cls):
            return self._model(cls, place)
        if issubclass(cls, enum.Enum):
            return _choices(tuple(cls), cls, place)
        return place.refuse(f"{_spelled(annotation)} has no JSON form; {_ADVICE}")

    def _model(self, model: "pydantic_schema.PydanticModel", place: Place) -> Shape:
        try:
            schema = pydantic_schema.model_schema(model, outgoing=self._outgoing)
        except pydantic_schema.UnusableModel as problem:
            place.refuse(str(problem))
        return Model(cast("type", model), schema)

    def _record(self, annotation: object, place: Place) -> Shape:
        self._check_recursion(annotation, "the class", place)
        facts = record_facts(annotation, outgoing=self._outgoing)
        if isinstance(facts, str):
            place.refuse(facts)
        doc = read_docstring(facts.doc, [field.name for field in facts.fields])
        inside = place.inside(annotation)
        fields = tuple(
            Field(
                name=field.name,
                wire=field.wire,
                shape=self.read(field.annotation, inside.below(f".{field.wire}")),
                required=field.required,
                default=msgspec.UNSET if self._outgoing else field.default,
                description=doc.parameters.get(field.name),
            )
            for field in facts.fields
        )
        return _record(annotation, facts, fields, doc.description or None)

    def _check_recursion(self, kind: object, noun: str, place: Place) -> None:
        if kind in place.open_types or len(place.open_types) > _MAX_NESTING:
            place.refuse(
                f"{noun} {_spelled(kind)} contains itself; a tool's schema must be finite:"
                " bound the depth, or take the value as `dict[str, Any]`"
            )


def _text_schema(cls: type) -> JsonObject | None:
    known = _TEXTS.get(cls)
    return {"type": "string", "format": "path"} if issubclass(cls, PurePath) else known


def _record(
    annotation: object, facts: RecordFacts, fields: tuple[Field, ...], description: str | None
) -> Record:
    return Record(
        annotation=annotation,
        build=facts.build,
        fields=fields,
        native=facts.native,
        as_array=facts.as_array,
        is_dict=facts.is_dict,
        tag=facts.tag,
        description=description,
    )


def _choices(members: tuple[object, ...], annotation: object, place: Place) -> Choices:
    values = [one.value if isinstance(one, enum.Enum) else one for one in members]
    for value in values:
        if not is_scalar(value):
            place.refuse(f"the value {value!r} of {_spelled(annotation)} is no JSON scalar")
    if not values:
        place.refuse(f"{_spelled(annotation)} has no members to choose from")
    return Choices(
        values=tuple(cast("list[JsonValue]", values)),
        members=members,
        annotation=annotation,
        plain=not any(isinstance(one, enum.Enum) for one in members),
    )


def _spelled(annotation: object) -> str:
    if isinstance(annotation, type) and not get_args(annotation):
        return f"`{annotation.__name__}`"
    return f"`{annotation}`"
