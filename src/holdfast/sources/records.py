"""Classes with named fields, read alike: dataclasses, TypedDicts, named tuples and structs.

It lists fields and their annotations. What an annotation means is not known here.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import NotRequired, Required, TypeGuard, cast, get_args, get_origin, is_typeddict

import msgspec

from holdfast.contract.json_value import JsonValue
from holdfast.sources.defaults import default_json, factory_json
from holdfast.sources.hints import Unresolved, class_hints


class FieldFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One field before its annotation is read."""

    name: str
    wire: str
    annotation: object
    required: bool
    default: "JsonValue | msgspec.UnsetType" = msgspec.UNSET


class RecordFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A class before its fields' annotations are read."""

    build: Callable[..., object]
    fields: tuple[FieldFacts, ...]
    native: bool
    as_array: bool = False
    is_dict: bool = False
    tag: tuple[str, str | int] | None = None
    doc: str | None = None


def is_record(cls: type) -> bool:
    """Whether a class has named fields we know how to list."""
    return any(
        is_kind(cls) for is_kind in (_is_struct, is_typeddict, _is_named_tuple, _is_dataclass)
    )


def _is_struct(cls: type) -> TypeGuard[type[msgspec.Struct]]:
    return issubclass(cls, msgspec.Struct)


def _is_dataclass(cls: type) -> bool:
    return dataclasses.is_dataclass(cls)


def _is_named_tuple(cls: type) -> bool:
    named = hasattr(cls, "_fields") and hasattr(cls, "_field_defaults")
    return named and issubclass(cls, tuple)


def record_facts(annotation: object, *, outgoing: bool) -> RecordFacts | str:
    """List the fields of a record class or its generic alias; a text says what stands against."""
    cls = cast("type", get_origin(annotation) or annotation)
    hints = class_hints(annotation)
    if isinstance(hints, Unresolved):
        return f"the fields of {cls.__name__} cannot be resolved: {hints.problem}"
    try:
        facts = _facts(cls, hints.types, outgoing=outgoing)
    except KeyError as missing:
        return f"the field {missing} of {cls.__name__} has no annotation"
    except ValueError as problem:
        return str(problem)
    return msgspec.structs.replace(facts, native=facts.native and not hints.local)


def _facts(cls: type, hints: Mapping[str, object], *, outgoing: bool) -> RecordFacts:
    if _is_struct(cls):
        return _struct(cls, hints)
    if is_typeddict(cls):
        return _typed_dict(cls, hints)
    if _is_named_tuple(cls):
        return _named_tuple(cls, hints)
    return _dataclass(cls, hints, outgoing=outgoing)


def _dataclass(cls: type, hints: Mapping[str, object], *, outgoing: bool) -> RecordFacts:
    declared = dataclasses.fields(cls)
    if any(isinstance(kind, dataclasses.InitVar) for kind in hints.values()):
        raise ValueError(f"the dataclass {cls.__name__} has an InitVar, which is not supported")
    settable = all(field.init for field in declared)
    fields = tuple(
        FieldFacts(
            name=field.name,
            wire=field.name,
            annotation=hints[field.name],
            required=_absent(field.default) and _absent(field.default_factory),
            default=_default(field.default, field.default_factory),
        )
        for field in declared
        if field.init or outgoing
    )
    # msgspec fills a dataclass without calling its constructor; pydantic's validates in there.
    native = settable and not hasattr(cls, "__pydantic_fields__")
    return RecordFacts(build=cls, fields=fields, native=native, doc=_doc(cls))


def _default(default: object, factory: object) -> "JsonValue | msgspec.UnsetType":
    if not _absent(default):
        return default_json(default)
    if not _absent(factory):
        return factory_json(cast("Callable[[], object]", factory))
    return msgspec.UNSET


def _absent(default: object) -> bool:
    return default is dataclasses.MISSING or default is msgspec.NODEFAULT


def _typed_dict(cls: type, hints: Mapping[str, object]) -> RecordFacts:
    always = cast("Iterable[str]", getattr(cls, "__required_keys__", ()))
    fields: list[FieldFacts] = []
    for name, annotation in hints.items():
        # The wrapper counts, not the class's own list: that one is wrong for annotations in quotes.
        wrapper, required = get_origin(annotation), name in always
        if wrapper in {Required, NotRequired}:
            (annotation,), required = get_args(annotation), wrapper is Required
        fields.append(FieldFacts(name=name, wire=name, annotation=annotation, required=required))
    return RecordFacts(build=dict, fields=tuple(fields), native=True, is_dict=True, doc=_doc(cls))


def _named_tuple(cls: type, hints: Mapping[str, object]) -> RecordFacts:
    names = cast("tuple[str, ...]", getattr(cls, "_fields", ()))
    defaults = cast("Mapping[str, object]", getattr(cls, "_field_defaults", {}))
    fields = tuple(
        FieldFacts(
            name=name,
            wire=name,
            annotation=hints[name],
            required=name not in defaults,
            default=default_json(defaults[name]) if name in defaults else msgspec.UNSET,
        )
        for name in names
    )
    return RecordFacts(build=cls, fields=fields, native=True, as_array=True, doc=_doc(cls))


def _struct(cls: type[msgspec.Struct], hints: Mapping[str, object]) -> RecordFacts:
    config = cls.__struct_config__
    # Trailing defaults belong to the last fields; NODEFAULT marks a required keyword-only one.
    count = len(cls.__struct_fields__) - len(cls.__struct_defaults__)
    defaults = (*(msgspec.NODEFAULT for _ in range(count)), *cls.__struct_defaults__)
    fields: list[FieldFacts] = []
    for name, wire, default in zip(
        cls.__struct_fields__, cls.__struct_encode_fields__, defaults, strict=True
    ):
        factory: object = getattr(default, "factory", msgspec.NODEFAULT)
        value = msgspec.NODEFAULT if factory is not msgspec.NODEFAULT else default
        fields.append(
            FieldFacts(
                name=name,
                wire=wire,
                annotation=hints[name],
                required=default is msgspec.NODEFAULT,
                default=_default(value, factory),
            )
        )
    return RecordFacts(
        build=cls,
        fields=tuple(fields),
        native=True,
        as_array=config.array_like,
        tag=None if config.tag is None else (config.tag_field or "type", config.tag),
        doc=_doc(cls),
    )


def _doc(cls: type) -> str | None:
    """What the author wrote; dataclasses and named tuples put their signature there otherwise."""
    doc: object = vars(cls).get("__doc__")
    if not isinstance(doc, str) or doc.startswith(f"{cls.__name__}("):
        return None
    return doc
