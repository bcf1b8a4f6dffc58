"""The step from checked JSON arguments to what a body takes, compiled once per tool.

Arguments a body takes as they are cost nothing; the others are converted by msgspec in one call,
from values or, better, from the text they came in. It does not check a schema; that has been done
before.
"""

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any, cast

import msgspec
import msgspec.inspect

from holdfast.contract.json_value import JsonObject
from holdfast.contract.tool import ArgumentFault, Decode, Read
from holdfast.sources import converters, misfit
from holdfast.sources.native import decode_foreign, is_plain, native_form
from holdfast.sources.shapes import (
    Alternatives,
    Choices,
    Model,
    Qualified,
    Scalar,
    Shape,
    Written,
    parts_of,
)


class Decoding(msgspec.Struct, frozen=True):
    """How the arguments of one tool become what its body takes."""

    decode: Decode | None = None
    """None: the body takes them as they are."""
    read: Read | None = None


def exactly_decoded(parameters: Mapping[str, Shape]) -> frozenset[str]:
    """The parameters msgspec converts: it takes no float for an integer, not even a whole one.

    A pydantic model does, so it does not count.
    """
    return frozenset(
        name
        for name, shape in parameters.items()
        if not is_plain(shape)
        and not _is_float(shape)
        and native_form(shape) is not None
        and not any(isinstance(one, Model) for one in parts_of(shape))
    )


def compile_decode(
    parameters: Mapping[str, Shape], required: Collection[str], *, takes_any: bool = False
) -> Decoding:
    """Prepare the decoding of these parameters; those required are there in every call.

    What is sent beside them is passed on as it is.
    """
    converted = {name: shape for name, shape in parameters.items() if not is_plain(shape)}
    if not converted:
        return Decoding()
    if all(_is_float(shape) for shape in converted.values()):
        return Decoding(_floats(tuple(converted)))
    forms: dict[str, object] = {}
    others: list[tuple[str, converters.Convert]] = []
    for name, shape in converted.items():
        form = native_form(shape)
        if form is not None:
            forms[name] = form
        else:
            others.append((name, converters.converter_of(shape)))
    plain = [name for name in parameters if name not in converted]
    optional = tuple(name for name in parameters if name not in required)
    made = _decode(dict.fromkeys(plain, Any) | forms, optional, others)
    exactly = not takes_any and not any(map(_reads_otherwise, converted.values()))
    return made if exactly else Decoding(made.decode)


def _is_float(shape: Shape) -> bool:
    return shape == Scalar("number") or (
        isinstance(shape, Qualified) and shape.shape == Scalar("number")
    )


def _floats(names: tuple[str, ...]) -> Decode:
    def decode(arguments: JsonObject) -> dict[str, object] | ArgumentFault:
        values = cast("dict[str, object]", arguments.copy())
        for name in names:
            given = values.get(name)
            if type(given) is int:
                try:
                    values[name] = float(given)
                except OverflowError as problem:
                    return misfit.fault_of(misfit.misfit_of(problem, name))
        return values

    return decode


def _holds_foreign(struct: type[msgspec.Struct]) -> bool:
    """Whether there is a type in it that msgspec does not know by itself."""
    return "CustomType(" in repr(msgspec.inspect.type_info(struct))


def _reads_otherwise(shape: Shape) -> bool:
    """Whether msgspec makes something else of JSON text than of the values in it.

    A decimal keeps digits of the text that no float can hold, and beside chosen integers a large
    one is read as a float.
    """
    return any(
        (isinstance(one, Written) and one.python is Decimal)
        or (isinstance(one, Alternatives) and _mixes_numbers(one))
        for one in parts_of(shape)
    )


def _mixes_numbers(union: Alternatives) -> bool:
    chosen = [one for one in union.members if isinstance(one, Choices)]
    integers = any(isinstance(value, int) for one in chosen for value in one.values)
    return integers and any(_is_float(one) for one in union.members)


def _decode(
    forms: dict[str, object],
    optional: tuple[str, ...],
    others: "list[tuple[str, converters.Convert]]",
) -> Decoding:
    # One struct for all parameters: msgspec compiles it once, and names the place of an error.
    # What stays as it is rides along as Any, so that one call gives all the values.
    fields = {**dict.fromkeys([name for name, _ in others], Any), **forms}
    struct = msgspec.defstruct(
        "arguments",
        [(name, cast("type", form), msgspec.UNSET) for name, form in fields.items()],
    )
    # A hook doubles the price of a conversion: only where there is something for it to do.
    hook = decode_foreign if _holds_foreign(struct) else None
    # msgspec compiles on first use, here; a first call should not pay for it.
    read_text = msgspec.json.Decoder(struct, dec_hook=hook).decode

    def values_of(converted: msgspec.Struct) -> dict[str, object]:
        values: dict[str, object] = msgspec.structs.asdict(converted)
        for name in optional:
            if values[name] is msgspec.UNSET:
                del values[name]
        return values

    def read(text: str | bytes) -> dict[str, object] | ArgumentFault:
        try:
            values = values_of(read_text(text))
        except Exception as problem:  # noqa: BLE001 - a foreign validator may raise anything at all
            return misfit.fault_of(misfit.misfit_of(problem))
        return _converted(values, others) if others else values

    def decode(arguments: JsonObject) -> dict[str, object] | ArgumentFault:
        try:
            values = values_of(msgspec.convert(arguments, struct, dec_hook=hook))
            if len(values) < len(arguments):
                values |= {name: arguments[name] for name in arguments.keys() - values.keys()}
        except Exception as problem:  # noqa: BLE001 - a foreign validator may raise anything at all
            return misfit.fault_of(misfit.misfit_of(problem))
        return _converted(values, others) if others else values

    return Decoding(decode, read)


def _converted(
    values: dict[str, object], others: "list[tuple[str, converters.Convert]]"
) -> dict[str, object] | ArgumentFault:
    for name, convert in others:
        if name in values:
            try:
                values[name] = convert(values[name])
            except Exception as problem:  # noqa: BLE001 - a foreign validator may raise anything
                return misfit.fault_of(misfit.misfit_of(problem, name))
    return values
