"""Finding events by what they mean: who makes vectors of texts, and who finds by them.

Values and protocols only. What is found is a hint: what an event says is read from the journal.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What a backend is asked. Nothing outside of these bounds may be answered."""

    text: str
    agents: tuple[str | None, ...]
    """Whose sessions; None: those without an agent."""
    sessions: tuple[str, ...] | None = None
    """Only these; None: all of the agents."""
    without: str | None = None
    """Not this session."""
    limit: int = 32


class Pointer(msgspec.Struct, frozen=True, kw_only=True):
    """An event that may be meant."""

    session_id: str
    event_id: str
    similarity: float
    """From 0 to 1."""


class Pointed(msgspec.Struct, frozen=True, kw_only=True):
    """What a backend answers."""

    pointers: tuple[Pointer, ...] = ()
    """The closest first."""
    unindexed: int = 0
    """How many events were not looked through, as they are too new."""
    note: str | None = None
    """What whoever asked should know."""


class VectorsUnavailable(Exception):
    """Nothing can be found by what it means; says why, and what to do."""


class VectorBackend(Protocol):
    """Whoever finds events by what they mean. It keeps an index of its own beside the journal, and
    points at events: what they say, whose they are and how they count is read from the journal.

    A pointer outside of the question's bounds, or at an event that is gone, is dropped.
    """

    async def nearest(self, asked: Question, /) -> Pointed:
        """The events closest to what is asked; VectorsUnavailable. Whoever is slow is not waited
        for."""
        ...


class Embedder(Protocol):
    """Makes vectors of texts: what means the same is close. Used on one event loop at a time."""

    @property
    def name(self) -> str:
        """What it is called: vectors of another name cannot be compared with its own."""
        ...

    async def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """A vector for each text, in their order, all of one length; VectorsUnavailable. No secret
        is in them any more."""
        ...


class OpenedEmbedder(Embedder, Protocol):
    """One that was made for a session."""

    async def close(self) -> None:
        """Let go of what is open; it can be used again."""
        ...
