"""The door to the index of vectors: what is behind it is loaded when it is opened, as who compares
vectors is an extra.

Whoever composes imports this module alone. What makes vectors of texts is not known here.
"""

from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Protocol

import msgspec

from holdfast.contract.vectors import Pointer, VectorsUnavailable

INSTALL = (
    "install it with: pip install 'holdfast[vectors]', or in holdfast's own folder: pip install"
    " '.[vectors]'"
)


class Place(msgspec.Struct, frozen=True):
    """How far the index came in a session."""

    sequence: int = 0
    event_id: str = ""
    """The event there: while the session has it, it is the same session."""


class Entry(msgspec.Struct, frozen=True):
    """An event, and what it means."""

    event_id: str
    vector: Sequence[float]


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """What is taken up of a session in one transaction."""

    session_id: str
    agent: str | None
    """Whose it is; None: nobody's."""
    before: Place
    now: Place
    entries: tuple[Entry, ...]


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """Which events are compared."""

    agents: tuple[str | None, ...]
    sessions: tuple[str, ...] | None = None
    without: str | None = None
    limit: int = 32
    least: float = 0.0
    """How similar at least."""


class VectorFile(Protocol):
    """Keeps vectors. Blocking; every method raises VectorsUnavailable."""

    def reached(self, agents: Collection[str | None], /) -> Mapping[str, Place]:
        """How far it came, in every session of theirs that it knows."""
        ...

    def keep(self, taken: Taken, /) -> bool:
        """Take it up, unless somebody else did meanwhile."""
        ...

    def forget(self, session_ids: Collection[str], /) -> None:
        """These sessions are gone, or are others now."""
        ...

    def nearest(self, vector: Sequence[float], bounds: Bounds, /) -> Sequence[Pointer]:
        """The events closest to it, the closest first."""
        ...


def load(module: str) -> ModuleType:
    """A module of this package; VectorsUnavailable where what it needs is not installed."""
    try:
        return import_module(f"holdfast.record.vectors.{module}")
    except ImportError as problem:
        raise VectorsUnavailable(
            f"finding by vectors needs a package more ({problem}); {INSTALL}"
        ) from None


def check_vectors() -> None:
    """Load what it needs, and open nothing; VectorsUnavailable."""
    load("comparing")


def open_vectors(path: Path, embedder: str) -> VectorFile:
    """The index in this file, of vectors that ``embedder`` makes; made when something is kept.

    VectorsUnavailable where the extra is not installed.
    """
    check_vectors()
    opened: VectorFile = load("vector_file").SqliteVectors(path, embedder)
    return opened
