"""Variables in path and host patterns: ``{workspace}``, ``{ad-hoc}``, ``{user-data}``.

Text only. A brace group without a comma is a variable; with a comma it is alternation.
It does not know where a workspace is: the values are handed in.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import product

from holdfast.contract.late_pattern import late_pattern

STANDARD_VARIABLES = ("workspace", "ad-hoc", "user-data")

_GROUP = late_pattern(r"\{([^{}]*)\}")
_GLOB_CHARACTER = late_pattern(r"[*?\[\]{},\\]")


class UnknownVariable(ValueError):
    """A pattern names a variable that does not exist."""


def check_pattern(pattern: str) -> None:
    """Raise for an unknown variable, an empty name or an unclosed brace."""
    for name in variables_in(pattern):
        if name not in STANDARD_VARIABLES:
            known = ", ".join(f"{{{known}}}" for known in STANDARD_VARIABLES)
            raise UnknownVariable(
                f"pattern {pattern!r}: unknown variable {{{name}}}; known: {known}"
            )


def variables_in(pattern: str) -> list[str]:
    """Name the variables a pattern holds, in order."""
    names: list[str] = []
    outside = pattern
    # Alternation may hold a variable inside, as in {a,{workspace}}: from the inside out.
    while groups := _GROUP.findall(outside):
        names += [name for name in groups if "," not in name]
        outside = _GROUP.sub("…", outside)
    if "{" in outside or "}" in outside:
        raise UnknownVariable(f"pattern {pattern!r}: a brace is not closed")
    return names


def expand(pattern: str, values: Mapping[str, Sequence[str]]) -> list[str]:
    """Every pattern this one stands for. A variable without values gives none.

    Values are literal text: glob characters in a directory's name match only themselves.
    """
    check_pattern(pattern)
    names = variables_in(pattern)
    choices = [[_literal(value) for value in values.get(name, ())] for name in names]
    return [_fill(pattern, list(chosen)) for chosen in product(*choices)]


def _fill(pattern: str, values: list[str]) -> str:
    def next_value(group: re.Match[str]) -> str:
        return group.group(0) if "," in group.group(1) else values.pop(0)

    return _GROUP.sub(next_value, pattern)


def _literal(text: str) -> str:
    return _GLOB_CHARACTER.sub(lambda found: "\\" + found.group(0), text)
