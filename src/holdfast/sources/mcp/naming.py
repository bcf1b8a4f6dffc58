"""What tools of MCP servers are called here: ``<server>_<tool>``, in letters, digits, underscore.

Two that would be called the same both get a suffix made of their full names, unless one of them
fits as it is: so no name depends on the order in which servers answer.
"""

import hashlib
from collections.abc import Collection, Iterable

from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.tool import LOCKED_NAMES

MOST_CHARACTERS = 64
"""What providers of models take."""

_OTHER = late_pattern(r"[^A-Za-z0-9_]")
_SUFFIX = 6

Named = tuple[str, str]
"""A server and its tool, as they call themselves."""


def alias_of(named: Named) -> str:
    """The name that rules may use, too."""
    return f"mcp:{named[0]}:{named[1]}"


def reduced(named: Named) -> str:
    """The plain name."""
    return _OTHER.sub("_", "_".join(named))


def names_of(tools: Iterable[Named], taken: Collection[str] = ()) -> dict[Named, str]:
    """One name for each of them, none of which is taken or locked."""
    wanted = sorted(set(tools))
    by_name: dict[str, list[Named]] = {}
    for one in wanted:
        by_name.setdefault(reduced(one), []).append(one)
    given: dict[Named, str] = {}
    for name, those in by_name.items():
        exact = [one for one in those if "_".join(one) == name]
        keeps = those if len(those) == 1 else exact if len(exact) == 1 else []
        free = name not in taken and name not in LOCKED_NAMES and len(name) <= MOST_CHARACTERS
        if keeps and free:
            given[keeps[0]] = name
    used = {*given.values(), *taken, *LOCKED_NAMES}
    for one in wanted:
        if one not in given:
            given[one] = _suffixed(one, used)
            used.add(given[one])
    return given


def _suffixed(named: Named, used: Collection[str]) -> str:
    digest = hashlib.sha256(alias_of(named).encode("utf-8", "surrogatepass")).hexdigest()
    plain = reduced(named)
    for length in range(_SUFFIX, MOST_CHARACTERS - 1):
        name = f"{plain[: MOST_CHARACTERS - length - 1]}_{digest[:length]}"
        if name not in used:
            return name
    return digest
