"""What a struct says of itself, in words: its fields, their types, defaults and docstrings."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec
from msgspec import inspect as kinds

from holdfast.contract.json_value import encode_json


class Field(NamedTuple):
    """One field, as a row of a table has it."""

    name: str
    kind: kinds.Type
    default: str
    says: str


def fields_of(struct: type[msgspec.Struct], elsewhere: Mapping[str, str] = {}) -> list[Field]:
    """Its fields in their order; `elsewhere` has sentences for those that have none here."""
    told = kinds.type_info(struct)
    assert isinstance(told, kinds.StructType)
    said = {**elsewhere, **sentences(struct)}
    return [
        Field(one.encode_name, one.type, _default(one), said.get(one.name, ""))
        for one in told.fields
    ]


def sentences(struct: type) -> dict[str, str]:
    """The docstring behind each field, also of the classes it comes from."""
    found: dict[str, str] = {}
    for one in reversed(struct.__mro__):
        if one.__module__.startswith("holdfast."):
            found.update(_sentences(one))
    return found


def _sentences(struct: type) -> Iterator[tuple[str, str]]:
    body = ast.parse(textwrap.dedent(inspect.getsource(struct))).body[0]
    assert isinstance(body, ast.ClassDef)
    for field, behind in zip(body.body, body.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant):
            yield field.target.id, one_line(str(behind.value.value))


def _default(field: kinds.Field) -> str:
    if field.default_factory is not msgspec.NODEFAULT:
        value: object = field.default_factory()
    elif field.default is msgspec.NODEFAULT:
        return "needed" if field.required else "none"
    else:
        value = field.default
    if value is None or value is msgspec.UNSET or isinstance(value, msgspec.Struct):
        return "none"
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1024:
        return f"`{value}`"
    return f"`{encode_json(msgspec.to_builtins(value)).decode()}`"


_PLAIN: Mapping[type[kinds.Type], str] = {
    kinds.AnyType: "any value",
    kinds.NoneType: "null",
    kinds.BoolType: "true or false",
    kinds.StrType: "text",
    kinds.BytesType: "bytes",
    kinds.DateTimeType: "date and time",
    kinds.RawType: "JSON",
}


def kind_words(kind: kinds.Type) -> str:
    """A type in a few words."""
    match kind:
        case kinds.Metadata(type=inner):
            return kind_words(inner)
        case kinds.IntType() | kinds.FloatType():
            return _number(kind)
        case kinds.LiteralType(values=values):
            return " or ".join(f"`{value}`" for value in sorted(values, key=str))
        case kinds.UnionType(types=several):
            parts = [kind_words(one) for one in several if not isinstance(one, kinds.NoneType)]
            return " or ".join(dict.fromkeys(" or ".join(parts).split(" or ")))
        case kinds.VarTupleType(item_type=item) | kinds.ListType(item_type=item):
            return f"list of {kind_words(item)}"
        case kinds.DictType(value_type=value):
            return f"table of {kind_words(value)}"
        case kinds.StructType(cls=struct):
            return f"`{struct.__name__}`"
        case _:
            return _PLAIN.get(type(kind), "value")


def _number(kind: kinds.IntType | kinds.FloatType) -> str:
    word = "whole number" if isinstance(kind, kinds.IntType) else "number"
    bounds = [
        f"{sign} {bound:g}"
        for sign, bound in (("≥", kind.ge), (">", kind.gt), ("≤", kind.le), ("<", kind.lt))
        if bound is not None
    ]
    return " ".join((word, *bounds))


def one_line(text: str | None) -> str:
    """A docstring as one line."""
    return " ".join((text or "").split())


def first_paragraph(struct: object) -> str:
    """What a docstring says first."""
    return one_line((inspect.getdoc(struct) or "").partition("\n\n")[0])


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """A table of Markdown."""
    titles = tuple(head)
    return [
        f"| {' | '.join(titles)} |",
        f"|{'---|' * len(titles)}",
        *(f"| {' | '.join(cell(one) for one in row)} |" for row in rows),
        "",
    ]


def cell(text: str) -> str:
    """What a cell can hold: one line, in which nothing ends the cell or begins a tag."""
    safe = re.sub(r"(?<!\\)\|", r"\\|", one_line(text))
    return "".join(
        part if index % 2 else part.replace("<", "&lt;")
        for index, part in enumerate(re.split(r"(`[^`]*`)", safe))
    )


def anchor(title: str) -> str:
    """What a heading of this text can be linked to as."""
    kept = re.sub(r"[^\w\- ]", "", title.lower())
    return kept.replace(" ", "-")
