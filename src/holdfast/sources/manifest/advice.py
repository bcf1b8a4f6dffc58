"""Requirements as they are written into an entry: JSON that can be copied. Pure.

A refusal names what would admit it as ``requires.fs.read = ['notes/*']``, which is no JSON.
"""

import ast
import json
import re
from collections.abc import Mapping
from typing import cast

import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.requirements import RequirementSet

DOTTED = {"fs.read": ("fs", "read"), "fs.write": ("fs", "write"), "net.hosts": ("net", "hosts")}
"""Where a list of patterns is in a declaration, by its dotted name."""

_WANTED = re.compile(r"requires\.(fs\.read|fs\.write|net\.hosts) = (\[.*\])")
_EITHER = " or "
"""Between two requirements of which nobody knows which one it is."""
_READS = "fs.read"


def wider_entry(wanted: str | None, has: RequirementSet, *, names_reads: bool) -> str | None:
    """What to write into an entry that has this and wants more; None: that cannot be told.

    ``names_reads``: the entry says what it reads; else it need not, unless it wants to read more.
    """
    found = None if wanted is None or _EITHER in wanted else _WANTED.fullmatch(wanted)
    if found is None:
        return None
    lists: dict[str, tuple[str, ...]] = {
        _READS: has.fs.read,
        "fs.write": has.fs.write,
        "net.hosts": has.net.hosts,
    }
    more = cast("list[str]", ast.literal_eval(found[2]))
    lists[found[1]] = tuple(dict.fromkeys((*lists[found[1]], *more)))
    says_reads = names_reads or found[1] == _READS
    kept: dict[str, JsonValue] = {
        name: [*patterns]
        for name, patterns in lists.items()
        if (says_reads if name == _READS else patterns)
    }
    others: JsonObject = {
        "shell": msgspec.to_builtins(has.shell),
        "capabilities": [*has.capabilities],
    }
    return written(nested(kept) | {name: value for name, value in others.items() if value})


def nested(
    lists: Mapping[str, JsonValue], inside: Mapping[str, JsonValue] | None = None
) -> JsonObject:
    """Lists by their dotted names as a declaration, beside what is in one already."""
    made: JsonObject = {**(inside or {})}
    for dotted, patterns in lists.items():
        place, key = DOTTED[dotted]
        had = made.get(place)
        made[place] = {**(had if isinstance(had, dict) else {}), key: patterns}
    return made


def written(declared: JsonObject) -> str:
    """As it stands in an entry, on one line."""
    text = json.dumps(declared, ensure_ascii=False)
    return f'"requires": {text if text.isprintable() else json.dumps(declared)}'
