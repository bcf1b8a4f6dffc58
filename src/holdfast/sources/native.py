"""Shapes as types msgspec decodes by itself, in one compiled step.

None wherever msgspec would refuse the type, or build something else than its constructor would.
"""

from functools import reduce
from pathlib import PurePath
from types import GenericAlias
from typing import Annotated, Any, cast

import msgspec

from holdfast.sources import pydantic_schema
from holdfast.sources.shapes import (
    Alternatives,
    Anything,
    Array,
    Choices,
    CompoundShape,
    Facts,
    FixedTuple,
    LeafShape,
    Map,
    Model,
    Qualified,
    Record,
    Scalar,
    Shape,
    Written,
)

_SCALARS: dict[str, object] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": type(None),
}

_BOUNDS = {
    "gt": "exclusiveMinimum",
    "ge": "minimum",
    "lt": "exclusiveMaximum",
    "le": "maximum",
    "multiple_of": "multipleOf",
}


def decode_foreign(kind: type, value: object) -> object:
    """Build what msgspec does not know; errors are raised, msgspec adds the place."""
    if pydantic_schema.is_model(kind):
        return kind.model_validate(value)
    if issubclass(kind, PurePath) and isinstance(value, str):
        return kind(value)
    raise TypeError(f"Expected `{kind.__name__}`, got `{type(value).__name__}`")


def is_plain(shape: Shape) -> bool:
    """Whether a checked JSON value already is what the body takes."""
    match shape:
        case Anything():
            return True
        case Scalar(kind=kind):
            return kind != "number"
        case Choices(plain=plain):
            return plain
        case Array(container=container, item=item):
            return container is list and is_plain(item)
        case Map(value=value):
            # The preflight does not look at the values of an open object.
            return isinstance(value, Anything)
        case _:
            return _is_plain_compound(shape)


def _is_plain_compound(shape: Shape) -> bool:
    match shape:
        case Record(is_dict=True, fields=fields):
            return all(is_plain(field.shape) for field in fields)
        case Alternatives(members=members):
            # Beside int, a float annotation leaves integers as they are.
            kept = Scalar("number") if Scalar("integer") in members else None
            return all(is_plain(member) or member == kept for member in members)
        case Qualified(shape=inner, facts=facts):
            return facts.aware is None and is_plain(inner)
        case _:
            return False


def native_form(shape: Shape, *, exact: bool = False) -> object | None:
    """The type to hand to msgspec. Exact: None for what would let stray keys pass."""
    form = _form(shape, exact=exact)
    return form if form is not None and _accepted(form) else None


def _accepted(form: object) -> bool:
    try:
        msgspec.json.Decoder(cast("type", form))
    except (TypeError, NameError, AttributeError, RuntimeError):  # NotImplementedError is one
        return False
    return True


def _form(shape: Shape, *, exact: bool) -> object | None:
    match shape:
        case Model() if exact:
            return None
        case Anything() | Scalar() | Written() | Choices() | Model():
            return _leaf(shape)
        case _:
            return _compound(shape, exact=exact)


def _leaf(shape: LeafShape) -> object:
    match shape:
        case Anything():
            return Any
        case Scalar(kind=kind):
            return _SCALARS[kind]
        case Written(python=python) | Model(python=python):
            return python
        case Choices(annotation=annotation):
            return annotation


def _compound(shape: CompoundShape, *, exact: bool) -> object | None:
    match shape:
        case Array(container=container, item=item):
            inner = _forms((item,), exact=exact)
            if inner is None:
                return None
            return GenericAlias(container, (*inner, ...) if container is tuple else inner)
        case FixedTuple(items=items):
            inner = _forms(items, exact=exact)
            return None if inner is None else GenericAlias(tuple, inner)
        case Map(value=value):
            # Nothing before us has looked into an open object, so stray keys are ours to find.
            inner = _forms((value,), exact=True)
            return None if inner is None else GenericAlias(dict, (str, *inner))
        case Record():
            return _record(shape, exact=exact)
        case Alternatives(members=members):
            inner = None if _crashes(members) else _forms(members, exact=exact)
            return None if inner is None else reduce(_either, inner)
        case Qualified(shape=inner_shape, facts=facts):
            return _qualified(_form(inner_shape, exact=exact), facts)


def _crashes(members: tuple[Shape, ...]) -> bool:
    """Some unions of a bounded scalar and a container end the process inside msgspec 0.22."""
    bounded = any(isinstance(one, Qualified) for one in members)
    scalars = Scalar | Choices | Written | Qualified
    return bounded and not all(isinstance(one, scalars) for one in members)


def _forms(shapes: tuple[Shape, ...], *, exact: bool) -> tuple[object, ...] | None:
    forms = [_form(shape, exact=exact) for shape in shapes]
    return None if None in forms else tuple(forms)


def _record(record: Record, *, exact: bool) -> object | None:
    if exact or not record.native:
        return None
    fields = tuple(field.shape for field in record.fields)
    return None if _forms(fields, exact=False) is None else record.annotation


def _qualified(form: object | None, facts: Facts) -> object | None:
    if form is None:
        return None
    said = {name: facts.bounds.get(keyword) for name, keyword in _BOUNDS.items()}
    try:
        meta = msgspec.Meta(
            pattern=facts.pattern,
            min_length=facts.min_length,
            max_length=facts.max_length,
            tz=facts.aware,
            **cast("dict[str, Any]", said),
        )
    except ValueError:
        # Both an open and a closed bound: only the schema can say that.
        return form
    qualified: object = Annotated[cast("Any", form), meta]
    return qualified if _accepted(qualified) else form


def _either(left: object, right: object) -> object:
    return cast("Any", left) | cast("Any", right)
