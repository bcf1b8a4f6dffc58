"""Which events may be meant by some words: any of them counts, rare ones count for more.

The work is bounded, however much is kept: a word that very many events hold brings only its newest
ones, and those that hold it together with others. Where words are kept, and how they are found, is
a store's own matter; it finds words, and this decides which.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import log2
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from holdfast.contract.archive import WordQuery
from holdfast.record.words import MOST_ASKED, Phrase, phrases_of

MOST_KNOWN = 1000
"""Events that hold a word, of which all are known; a word that more hold is common."""
MOST_LOOKED_FOR = 12
"""Words of a question that are looked for: the rarest ones."""
MOST_LISTED = 500
"""The newest events that hold a common word."""
MOST_TOGETHER = 3
"""Of the words that are looked for, the rarest: which events hold two of them, unless all that
hold one are known anyway?"""
MOST_BOTH = 60
"""The newest events that do."""

Place: TypeAlias = int | tuple[str, int]
P_co = TypeVar("P_co", bound=Place, covariant=True)
P = TypeVar("P", int, tuple[str, int])


class Scope(NamedTuple):
    """Among which events is looked."""

    agents: tuple[str, ...]
    """Empty text: sessions without an agent."""
    types: tuple[str, ...]
    but_types: tuple[str, ...]
    sessions: tuple[str, ...] | None
    without: str | None


class Words(Protocol[P_co]):
    """A store that finds words, in a scope of its own. The greater a place, the newer its event."""

    def count(self, phrase: Phrase, most: int, /) -> int:
        """How many events hold it, whosesoever; it is counted no further than ``most``."""
        ...

    def every(self, phrase: Phrase, /) -> Sequence[P_co]:
        """All events of the scope that hold it, the newest first. Asked where few do."""
        ...

    def places(self, phrases: Sequence[Phrase], most: int, /) -> Sequence[P_co]:
        """The events of the scope that hold all of them, the newest first."""
        ...


def scope_of(wanted: WordQuery) -> Scope:
    """Where it is looked."""
    agents = tuple(agent or "" for agent in wanted.agents)
    return Scope(agents, wanted.types, wanted.but_types, wanted.sessions, wanted.without)


def asked_of(wanted: WordQuery) -> tuple[Phrase, ...]:
    """What is looked for, each once."""
    return phrases_of(wanted.words)[:MOST_ASKED]


def nearest(words: Words[P], asked: Sequence[Phrase], limit: int) -> list[P]:
    """The events that hold any of it: those with the most and the rarest first.

    Of those that hold as much, the newest come first.
    """
    counted = [(words.count(phrase, MOST_KNOWN), at) for at, phrase in enumerate(asked)]
    rarest = sorted(one for one in counted if one[0])[:MOST_LOOKED_FOR]
    found: dict[P, int] = {}
    weights: list[float] = []
    for bit, (count, at) in enumerate(rarest):
        is_rare = count < MOST_KNOWN
        here = words.every(asked[at]) if is_rare else words.places([asked[at]], MOST_LISTED)
        weights.append(1 + log2(1 + MOST_LISTED / max(1, len(here))))
        for place in here:
            found[place] = found.get(place, 0) | 1 << bit
    for bit, ((_, at), (count, then)) in enumerate(pairwise(rarest[:MOST_TOGETHER])):
        if count >= MOST_KNOWN:  # else all events that hold either are known
            for place in words.places([asked[at], asked[then]], MOST_BOTH):
                found[place] = found.get(place, 0) | 0b11 << bit
    total = {mask: _weight(mask, weights) for mask in set(found.values())}
    newest = sorted(found, reverse=True)
    return sorted(newest, key=lambda place: -total[found[place]])[: max(0, limit)]


def _weight(mask: int, weights: Sequence[float]) -> float:
    return sum(weight for at, weight in enumerate(weights) if mask >> at & 1)
