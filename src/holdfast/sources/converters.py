"""Conversion step by step, for what msgspec alone cannot decode.

Stray keys are refused, constructors are called, and members of a union are tried in their order.
Every converter raises for a value that does not fit; the way to it is in the `Misfit`.
"""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any, cast

import msgspec

from holdfast.contract.json_value import type_name
from holdfast.sources import misfit
from holdfast.sources.merging import json_type
from holdfast.sources.native import decode_foreign, native_form
from holdfast.sources.shapes import (
    Alternatives,
    Anything,
    Array,
    Choices,
    CompoundShape,
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

Convert = Callable[[object], object]

_LEFT_OUT = object()


def converter_of(shape: Shape, *, exact: bool = False) -> Convert:
    """The function that turns JSON of this shape into what the body takes."""
    form = native_form(shape, exact=exact)
    if form is None and not isinstance(shape, (Anything, Scalar, Written)):
        return _own(shape, exact=exact)
    return partial(msgspec.convert, type=cast("type", form), dec_hook=decode_foreign)


def _own(shape: Choices | Model | CompoundShape, *, exact: bool) -> Convert:
    match shape:
        case Choices():
            return _choices(shape)
        case Model():
            return _model(shape)
        case Array(container=container, item=item):
            build = cast("Callable[[list[object]], object]", container)
            return _array(build, converter_of(item, exact=exact))
        case FixedTuple(items=items):
            return _places([converter_of(item, exact=exact) for item in items])
        case Map(value=value):
            return _map(converter_of(value, exact=True))
        case Record():
            return _record(shape)
        case Alternatives(members=members):
            return _first_fitting([converter_of(member, exact=True) for member in members])
        case Qualified(shape=inner):
            return converter_of(inner, exact=exact)


def _choices(shape: Choices) -> Convert:
    by_value = {
        (json_type(value), value): member
        for value, member in zip(shape.values, shape.members, strict=True)
    }

    def convert(value: object) -> object:
        member = by_value.get((json_type(value), cast("Any", value)), _LEFT_OUT)
        if member is _LEFT_OUT:
            raise misfit.Misfit(f"{value!r} is none of {', '.join(map(repr, shape.values))}")
        return member

    return convert


def _model(shape: Model) -> Convert:
    properties = shape.schema.get("properties")
    known = properties.keys() if isinstance(properties, dict) else None

    def convert(value: object) -> object:
        if known is not None:
            _refuse_stray(_object(value), known)
        return decode_foreign(shape.python, value)

    return convert


def _refuse_stray(given: dict[str, object], known: AbstractSet[str]) -> None:
    if stray := given.keys() - known:
        raise misfit.Misfit("unexpected property", (min(stray),), other_kind=True)


def _array(build: Callable[[list[object]], object], item: Convert) -> Convert:
    def convert(value: object) -> object:
        items: list[object] = []
        for at, one in enumerate(_list(value)):
            try:
                items.append(item(one))
            except (ValueError, TypeError) as problem:
                raise misfit.misfit_of(problem, at) from problem
        return build(items)

    return convert


def _places(items: list[Convert]) -> Convert:
    def convert(value: object) -> object:
        given = _list(value)
        if len(given) != len(items):
            raise misfit.Misfit(f"expected {len(items)} items, got {len(given)}")
        return tuple(_each(items, given))

    return convert


def _each(items: list[Convert], given: list[object]) -> list[object]:
    converted: list[object] = []
    for at, (item, one) in enumerate(zip(items, given, strict=False)):
        try:
            converted.append(item(one))
        except (ValueError, TypeError) as problem:
            raise misfit.misfit_of(problem, at) from problem
    return converted


def _map(item: Convert) -> Convert:
    def convert(value: object) -> object:
        converted: dict[str, object] = {}
        for key, one in _object(value).items():
            try:
                converted[key] = item(one)
            except (ValueError, TypeError) as problem:
                raise misfit.misfit_of(problem, key) from problem
        return converted

    return convert


def _first_fitting(members: list[Convert]) -> Convert:
    def convert(value: object) -> object:
        problems: list[misfit.Misfit] = []
        for member in members:
            try:
                return member(value)
            except (ValueError, TypeError) as problem:
                problems.append(misfit.misfit_of(problem))
        raise _nearest(problems)

    return convert


def _nearest(problems: "list[misfit.Misfit]") -> "misfit.Misfit":
    """Of several failures, those that got furthest, if they agree on the place."""
    furthest = max(map(_progress, problems))
    nearest = [problem for problem in problems if _progress(problem) == furthest]
    if any(problem.path != nearest[0].path for problem in nearest):
        return misfit.Misfit("fits none of the alternatives")
    return misfit.Misfit("; ".join(dict.fromkeys(one.message for one in nearest)), nearest[0].path)


def _progress(problem: "misfit.Misfit") -> tuple[bool, int]:
    return not problem.other_kind, len(problem.path)


def _record(record: Record) -> Convert:
    return _record_as_array(record) if record.as_array else _record_as_object(record)


def _record_as_object(record: Record) -> Convert:
    fields = [(field, converter_of(field.shape, exact=True)) for field in record.fields]
    known = {field.wire for field in record.fields}
    tag_field, tag = record.tag or (None, None)
    if tag_field is not None:
        known.add(tag_field)

    def convert(value: object) -> object:
        given = _object(value)
        _refuse_stray(given, known)
        if tag_field is not None and given.get(tag_field) != tag:
            raise misfit.Misfit(f"must be {tag!r}", (tag_field,), other_kind=True)
        values: dict[str, object] = {}
        for field, item in fields:
            if field.wire in given:
                try:
                    values[field.name] = item(given[field.wire])
                except (ValueError, TypeError) as problem:
                    raise misfit.misfit_of(problem, field.wire) from problem
            elif field.required:
                raise misfit.Misfit("is missing", (field.wire,), other_kind=True)
        return record.build(**values)

    return convert


def _record_as_array(record: Record) -> Convert:
    items = [converter_of(field.shape) for field in record.fields]
    least = sum(field.required for field in record.fields)

    def convert(value: object) -> object:
        given = _list(value)
        if record.tag is not None:
            if not given or given[0] != record.tag[1]:
                raise misfit.Misfit(f"must be {record.tag[1]!r}", (0,))
            given = given[1:]
        if not least <= len(given) <= len(items):
            raise misfit.Misfit(f"expected {least} to {len(items)} items, got {len(given)}")
        values = _each(items, given)
        names = map(_name, record.fields)
        return record.build(**dict(zip(names, values, strict=False)))

    return convert


def _name(field: Field) -> str:
    return field.name


def _list(value: object) -> list[object]:
    if isinstance(value, list):
        return cast("list[object]", value)
    raise misfit.Misfit(f"expected an array, got {type_name(value)}")


def _object(value: object) -> dict[str, object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value)
    raise misfit.Misfit(f"expected an object, got {type_name(value)}")
