"""docs/reference/configuration.md: every key, from the structs that hold the settings."""

import re

import msgspec
from msgspec import inspect as kinds

from holdfast.app.agent_settings import AgentSettings
from holdfast.app.settings import Settings
from holdfast.contract.agents import Agent
from reference_pages.shapes import (
    Field,
    anchor,
    fields_of,
    first_paragraph,
    kind_words,
    sentences,
    table,
)

_ELSEWHERE: dict[type, type] = {AgentSettings: Agent}
"""Whose docstrings speak for another struct's fields."""
_NO_NEWS = re.compile(r"^(The|One) `[^`]*` table[.:]? ?")
"""How a docstring begins that only says where it is written."""
_NO_KEY = "not a key of the table"


def page() -> str:
    """The whole page."""
    lines = [
        "# Every key of the configuration",
        "",
        "Which files there are, which of them counts, and an example of everything:",
        "[configuration](../configuration.md).",
        "",
    ]
    told: dict[type[msgspec.Struct], str] = {}
    for field in fields_of(Settings):
        lines += _section(field.name, field.kind, told)
    return "\n".join(lines)


def _section(name: str, kind: kinds.Type, told: dict[type[msgspec.Struct], str]) -> list[str]:
    """One table with what is nested in it; `told` has the structs that were shown already."""
    found = _struct_in(kind)
    if found is None:
        return []
    struct, shape = found
    title = {"one": f"[{name}]", "named": f"[{name}.NAME]", "many": f"[[{name}]]"}[shape]
    keys, further = _keys(struct)
    path = name if shape != "named" else f"{name}.NAME"
    says = _NO_NEWS.sub("", first_paragraph(struct))
    lines = [f"## `{title}`", "", *((f"{says[0].upper()}{says[1:]}", "") if says else ())]
    if struct in told:
        return [*lines, f"The keys are those of {told[struct]}.", ""]
    told[struct] = f"[`{title}`](#{anchor(title)})"
    if keys:
        rows = ((f"`{one.name}`", kind_words(one.kind), one.default, one.says) for one in keys)
        lines += table(("key", "type", "default", "meaning"), rows)
    for one in further:
        lines += _section(f"{path}.{one.name}", one.kind, told)
    return lines


def _keys(struct: type[msgspec.Struct]) -> tuple[list[Field], list[Field]]:
    """Those that are written in the table, and those that are tables of their own."""
    says = sentences(_ELSEWHERE[struct]) if struct in _ELSEWHERE else {}
    shown = [one for one in fields_of(struct, says) if _NO_KEY not in one.says.lower()]
    further = [one for one in shown if _struct_in(one.kind) is not None]
    return [one for one in shown if one not in further], further


def _struct_in(kind: kinds.Type) -> tuple[type[msgspec.Struct], str] | None:
    """The struct of a table, and whether it is one, one of many by name, or one of a list."""
    match kind:
        case kinds.StructType(cls=struct):
            return struct, "one"
        case kinds.DictType(value_type=kinds.StructType(cls=struct)):
            return struct, "named"
        case kinds.VarTupleType(item_type=kinds.StructType(cls=struct)):
            return struct, "many"
        case kinds.UnionType(types=several):
            return next((one for one in map(_struct_in, several) if one is not None), None)
        case _:
            return None


def undocumented() -> list[str]:
    """The keys that nothing is said of."""
    return [
        line for line in page().splitlines() if line.startswith("| `") and line.endswith("|  |")
    ]
