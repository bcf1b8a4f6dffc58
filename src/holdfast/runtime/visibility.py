"""Which tools an agent can see. A tool filtered out looks as if it did not exist."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

import msgspec

from holdfast.runtime.catalog import Catalog


class Visibility(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names or patterns with `*`. Deny wins; no allow list means all."""

    allow: tuple[str, ...] = ()
    also_allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def admits(self, name: str) -> bool:
        """Whether a tool of this name is visible."""
        if _matches(name, self.deny):
            return False
        return not self.allow or _matches(name, (*self.allow, *self.also_allow))


def visible(catalog: Catalog, visibility: Visibility) -> Catalog:
    """The catalog an agent gets to see."""
    return catalog.restrict(tool.name for tool in catalog if visibility.admits(tool.name))


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern.strip()) for pattern in patterns if pattern.strip())
