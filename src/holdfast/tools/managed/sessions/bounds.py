"""How much the tools of sessions can be asked for at once, and what they were not told.

Arguments that may be left out are not nullable here: with many of them that alone would double what
a model is told of a tool.
"""

from typing import Annotated, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

Count = Annotated[int, msgspec.Meta(ge=1, le=50)]
"""Sessions or wakes."""
Events = Annotated[int, msgspec.Meta(ge=1, le=500)]
Minutes = Annotated[int, msgspec.Meta(ge=1)]

_T = TypeVar("_T")


def given(value: _T | UnsetType) -> _T | None:
    """What was said; None: nothing."""
    return None if value is UNSET else value
