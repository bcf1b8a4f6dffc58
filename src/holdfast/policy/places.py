"""The directories that the variables of patterns stand for, resolved once and then fixed.

Each is kept twice: as it was written, which is how paths will be written, and as it lies on the
disk, which is what they are judged by.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from holdfast.contract.ports import PathFacts, PathProblem
from holdfast.contract.variables import STANDARD_VARIABLES


class PlaceProblem(ValueError):
    """A directory that cannot stand for a variable."""


class Place(NamedTuple):
    """One directory."""

    written: str
    physical: str


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """What each variable stands for; a variable without places stands for nothing."""

    workspace: tuple[Place, ...] = ()
    """The root, where relative paths begin, and every further root."""
    ad_hoc: tuple[Place, ...] = ()
    user_data: tuple[Place, ...] = ()

    @property
    def base(self) -> str | None:
        """Where a relative path begins; None without a workspace."""
        return self.workspace[0].written if self.workspace else None

    def each(self) -> Iterator[Place]:
        """Every place there is."""
        yield from (*self.workspace, *self.ad_hoc, *self.user_data)

    def as_written(self) -> dict[str, list[str]]:
        """Both spellings of every place, by variable."""
        return {
            name: list(dict.fromkeys(_value(text) for place in places for text in place))
            for name, places in self._by_name()
        }

    def on_disk(self) -> dict[str, list[str]]:
        """Where every place lies, by variable."""
        return {
            name: [_value(place.physical) for place in places] for name, places in self._by_name()
        }

    def _by_name(self) -> Iterator[tuple[str, tuple[Place, ...]]]:
        yield from zip(
            STANDARD_VARIABLES, (self.workspace, self.ad_hoc, self.user_data), strict=True
        )


NOWHERE = Places()


def places_of(variables: Mapping[str, Sequence[str]], facts: PathFacts) -> Places:
    """Resolve what the variables stand for. Done once, when a session starts."""
    unknown = sorted(set(variables) - set(STANDARD_VARIABLES))
    if unknown:
        raise PlaceProblem(f"there is no variable {unknown[0]!r}")
    found = {
        name.replace("-", "_"): tuple(_place(path, name, facts) for path in paths)
        for name, paths in variables.items()
    }
    return Places(**found)


def _value(path: str) -> str:
    # A pattern that ends with a separator means everything below; the root alone is not that.
    return "/." if path == "/" else path


def _place(path: str, name: str, facts: PathFacts) -> Place:
    # An empty or relative text would turn "{workspace}/**" into a pattern for the whole disk.
    if not path.startswith("/"):
        raise PlaceProblem(f"{{{name}}} must be an absolute path; got {path!r}")
    seen = facts.look(path, None)
    if isinstance(seen, PathProblem):
        raise PlaceProblem(f"{{{name}}} cannot be {path!r}: {seen.trouble.replace('_', ' ')}")
    return Place(seen.lexical, seen.physical)
