"""Which events may be meant by some words: any of them counts, rare ones count for more.

The work is bounded, however much is kept: a word that very many events hold brings only its newest
ones, and those that hold it together with others. Where words are kept, and how they are found, is
a store's own matter; it finds words, and this decides which.
"""

from collections.abc import Sequence
from math import log2
from typing import NamedTuple, Protocol, TypeVar

from holdfast.contract.archive import WordQuery
from holdfast.record.words import MOST_ASKED, Phrase, phrases_of

MOST_COUNTED = 400
"""How often a word occurs is counted no further; then it is common."""
MOST_LOOKED_FOR = 12
"""Words of a question that are looked for: the rarest ones."""
MOST_LISTED = 400
"""The newest events that hold a word."""
MOST_TOGETHER = 6
"""Of the words that are looked for, the rarest: which events hold several of them?"""

P_co = TypeVar("P_co", covariant=True)
P = TypeVar("P")


class Scope(NamedTuple):
    """Among which events is looked."""

    agents: tuple[str, ...]
    """Empty text: sessions without an agent."""
    types: tuple[str, ...]
    sessions: tuple[str, ...] | None
    without: str | None


class Words(Protocol[P_co]):
    """A store that finds words, in a scope of its own."""

    def count(self, phrase: Phrase, most: int, /) -> int:
        """In how many events it occurs, whosesoever; no more than ``most`` are counted."""
        ...

    def places(self, phrases: Sequence[Phrase], most: int, /) -> Sequence[P_co]:
        """The events of the scope that hold all of them, the newest first."""
        ...


def scope_of(wanted: WordQuery) -> Scope:
    """Where it is looked."""
    agents = tuple(agent or "" for agent in wanted.agents)
    return Scope(agents, wanted.types, wanted.sessions, wanted.without)


def asked_of(wanted: WordQuery) -> tuple[Phrase, ...]:
    """What is looked for, each once."""
    return phrases_of(wanted.words)[:MOST_ASKED]


def nearest(words: Words[P], asked: Sequence[Phrase], limit: int) -> list[P]:
    """The events that hold any of it: those with the most and the rarest first.

    Of those that hold the same, each list has the newest first, and so has what is returned.
    """
    counted = [(words.count(phrase, MOST_COUNTED), at) for at, phrase in enumerate(asked)]
    rarest = [asked[at] for count, at in sorted(counted) if count][:MOST_LOOKED_FOR]
    found: dict[P, int] = {}
    weights: list[float] = []
    is_cut: list[bool] = []
    for at, phrase in enumerate(rarest):
        here = words.places([phrase], MOST_LISTED)
        weights.append(1 + log2(MOST_LISTED / max(1, len(here))))
        is_cut.append(len(here) >= MOST_LISTED)
        for place in here:
            found[place] = found.get(place, 0) | 1 << at
    for first, last in _together(is_cut[:MOST_TOGETHER]):
        mask = (1 << last) - (1 << first)
        for place in words.places(rarest[first:last], MOST_LISTED):
            found[place] = found.get(place, 0) | mask
    total = {mask: _weight(mask, weights) for mask in set(found.values())}
    ranked = sorted(found.items(), key=lambda one: -total[one[1]])
    return [place for place, _ in ranked[: max(0, limit)]]


def _together(is_cut: Sequence[bool]) -> list[tuple[int, int]]:
    """Which words to look for together: stretches from the rarest on, and up to the last.

    Words whose events are all known need no look.
    """
    size = len(is_cut)
    stretches = {(0, last) for last in range(2, size + 1)} | {(at, size) for at in range(size - 1)}
    return sorted(one for one in stretches if any(is_cut[slice(*one)]))


def _weight(mask: int, weights: Sequence[float]) -> float:
    return sum(weight for at, weight in enumerate(weights) if mask >> at & 1)
