"""The part of a catalog that an agent can see. A tool filtered out looks as if it did not exist."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from holdfast.runtime.catalog import Catalog


class Admits(Protocol):
    """Whoever decides what is seen."""

    def admits(self, name: str) -> bool:
        """Whether a tool of this name is visible."""
        ...


class SeenAbove(msgspec.Struct, frozen=True):
    """What the session above sees, and what was given to the one below it alone."""

    sees: Callable[[str], bool]
    own: frozenset[str]

    def admits(self, name: str) -> bool:
        """Whether a tool of this name is visible."""
        return name in self.own or self.sees(name)


def visible(catalog: Catalog, *visibilities: Admits) -> Catalog:
    """The catalog an agent gets to see: what each of them admits."""
    return catalog.restrict(
        tool.name for tool in catalog if all(one.admits(tool.name) for one in visibilities)
    )
