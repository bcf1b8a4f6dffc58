"""Which variables of the parent's environment a program is passed: their names, checked. Pure."""

import re
from collections.abc import Iterable

from holdfast.sources.manifest.blanks import trimmed
from holdfast.sources.manifest.quoting import quoted

_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")


class NameFault(ValueError):
    """Why a name is refused, and which one."""


def variable_names(written: Iterable[str]) -> tuple[str, ...]:
    """The names in capitals, each once; NameFault tells of the first that is none."""
    names: list[str] = []
    for at, text in enumerate(written):
        name = trimmed(text)
        if not name:
            raise NameFault(f"envPassthrough[{at}]: empty name")
        # Some letters outside of ASCII have capitals inside of it: they would pass for others.
        if not name.isascii() or _NAME.fullmatch(name.upper()) is None:
            raise NameFault(
                f"envPassthrough[{at}]: invalid name {quoted(text)} (must match [A-Z_][A-Z0-9_]*)"
            )
        names.append(name.upper())
    return tuple(dict.fromkeys(names))
