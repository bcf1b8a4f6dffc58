"""The environment of a program that somebody declared: PATH, HOME, and what it was allowed.

Nothing else of the parent's reaches it. Names are checked where they are declared.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

_BASE = ("PATH", "HOME")


class ProgramEnvironment(NamedTuple):
    """What the program gets, and which of the allowed names that includes."""

    variables: dict[str, str]
    passed: tuple[str, ...]


def program_environment(parent: Mapping[str, str], allowed: Iterable[str]) -> ProgramEnvironment:
    """The base as far as the parent has it, and the allowed variables that the parent has.

    An empty value is passed on; an empty PATH or HOME is not, whether or not it is allowed.
    """
    has = {name for name, value in parent.items() if value or name not in _BASE}
    passed = tuple(name for name in dict.fromkeys(allowed) if name in has)
    base = [name for name in _BASE if name in has]
    return ProgramEnvironment({name: parent[name] for name in (*base, *passed)}, passed)
