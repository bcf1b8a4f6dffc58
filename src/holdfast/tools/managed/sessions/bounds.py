"""How much the tools of sessions can be asked for at once, and what they were not told.

Arguments that may be left out are not nullable here: with many of them that alone would double what
a model is told of a tool.
"""

from typing import Annotated, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.tools.managed.given import trimmed

Count = Annotated[int, msgspec.Meta(ge=1, le=50)]
"""Sessions or wakes."""
Events = Annotated[int, msgspec.Meta(ge=1, le=500)]
Most = Annotated[int, msgspec.Meta(ge=1, le=100_000)]
"""Events of one wake."""
Beside = Annotated[int, msgspec.Meta(le=500)]
"""Events before or after another one; less than none is none."""
Minutes = Annotated[int, msgspec.Meta(ge=1, le=10_000_000)]
"""Up to some nineteen years."""

_T = TypeVar("_T")


def given(value: _T | UnsetType) -> _T | None:
    """What was said; None: nothing."""
    return None if value is UNSET else value


def said(value: str | UnsetType) -> str | None:
    """A text that was said; None: nothing, or a blank one."""
    return trimmed(given(value))


def names_of(values: tuple[str, ...]) -> tuple[str, ...]:
    """Names without spaces around them, and without blank ones."""
    return tuple(name for one in values if (name := one.strip()))
