"""Looking after a store: how much each session weighs, and what nobody refers to any more.

Values and a protocol; stores are in `record`.
"""

from collections.abc import Mapping
from typing import Protocol

import msgspec


class Weight(msgspec.Struct, frozen=True, kw_only=True):
    """What a session takes up in a store."""

    bytes: int
    """Of its events, the parts of its conversation, and the files that it carries."""
    waits: bool
    """Something a person said was not taken into account yet."""


class Swept(msgspec.Struct, frozen=True, kw_only=True):
    """What nobody referred to."""

    entries: int = 0
    """Of the full text, of sessions that are gone."""
    contents: int = 0
    """Of versions that are gone."""
    bytes: int = 0


class Upkeep(Protocol):
    """Looks after a store. All of it may be stopped at any moment and done again."""

    async def weights(self) -> Mapping[str, Weight]:
        """What each session takes up, by its id."""
        ...

    async def sweep(self, *, dry: bool) -> Swept:
        """Remove what nobody refers to; ``dry``: only say what."""
        ...

    async def compact(self) -> int:
        """Give back what is free to whoever keeps the store; how many bytes it is smaller by."""
        ...
