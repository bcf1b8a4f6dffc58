"""How well a text fits a query: a sum of parts, each of which can be told. No meaning is guessed.

The same query and text have the same score everywhere, whatever is searched and wherever.
"""

import re
from functools import lru_cache
from typing import NamedTuple

STOP_WORDS = frozenset(
    {
        *("a", "an", "and", "are", "as", "at", "for", "from", "in", "is", "it", "of", "on"),
        *("or", "that", "the", "to", "with"),
    }
)
"""Eighteen words that nearly every text holds."""
WHOLE, PHRASE, PATH, IDENTIFIER, TERM = 6, 4, 5, 3, 1
MOST_CHARACTERS = 2_000
"""Of a query: what is longer is no query."""

_QUOTED = re.compile(r'"([^"]+)"|`([^`]+)`')
_BLANKS = re.compile(r"\s+")
_AROUND = "\"`'()[]{}<>,;!?"
_WORDS = re.compile(r"\w+")
_SHORT = 2
_IDENTIFIER = re.compile(r"[a-z]+[0-9]|[0-9]+[a-z]|[_-]")


class Query(NamedTuple):
    """A query in its parts, each of them once."""

    whole: str
    phrases: tuple[str, ...]
    paths: tuple[str, ...]
    identifiers: tuple[str, ...]
    terms: tuple[str, ...]


class Score(NamedTuple):
    """How well a text fits, and why."""

    points: int
    reasons: tuple[str, ...]


NO_HIT = Score(0, ())


def normal(text: str) -> str:
    """Lower case, with one blank where there were blanks."""
    return " ".join(text.split()).lower()


@lru_cache(maxsize=256)
def query_of(text: str) -> Query:
    """The parts of a query."""
    text = text[:MOST_CHARACTERS]
    quoted = (first or second for first, second in _QUOTED.findall(text))
    words = [word for word in (one.strip(_AROUND) for one in normal(text).split(" ")) if word]
    terms = [word for word in words if len(word) > 1 and word not in STOP_WORDS]
    return Query(
        whole=normal(_QUOTED.sub(r"\1\2", text)) if words else "",
        phrases=_once([normal(one) for one in quoted]),
        paths=_once([word for word in terms if _is_path(word)]),
        identifiers=_once([word for word in terms if _IDENTIFIER.search(word)]),
        terms=_once(terms),
    )


def score(query: Query, text: str) -> Score:
    """How well a text fits; every part that it holds counts once."""
    return score_said(query, normal(text))


def score_said(query: Query, said: str) -> Score:
    """The same of a text that is in its normal form already."""
    found = [
        *([(WHOLE, f"query:{query.whole}")] if query.whole and query.whole in said else []),
        *((PHRASE, f"phrase:{one}") for one in query.phrases if one in said),
        *((PATH, f"path:{one}") for one in query.paths if one in said),
        *((IDENTIFIER, f"identifier:{one}") for one in query.identifiers if one in said),
        *((TERM, f"term:{one}") for one in query.terms if one in said),
    ]
    if not found:
        return NO_HIT
    return Score(sum(points for points, _ in found), tuple(reason for _, reason in found))


def most_by_parts(query: Query) -> int:
    """What a text is given at most that holds every part, and not the query as a whole."""
    counted = ((PHRASE, query.phrases), (PATH, query.paths), (IDENTIFIER, query.identifiers))
    return sum(points * len(parts) for points, parts in (*counted, (TERM, query.terms)))


def speaks_of(query: Query, said: str) -> bool:
    """Whether a text in its normal form holds any word of a query; one of two letters stands inside
    of nearly every text, and has to stand alone."""
    alone = set(_WORDS.findall(said))
    return any(one in (said if len(one) > _SHORT else alone) for one in query.terms)


def first_place(query: Query, text: str) -> int:
    """Where in a text the first part of a query stands, by the order of what counts most; 0 where
    none does. A lower case of another length moves it by a few characters, and no more."""
    lowered = text.lower()
    for part in (query.whole, *query.phrases, *query.paths, *query.identifiers, *query.terms):
        if part and (place := lowered.find(part)) >= 0:
            return min(place, max(len(text) - 1, 0))
    return 0


def snippet(query: Query, text: str, length: int = 180, before: int = 40) -> str:
    """A piece of a text around what was searched for, in one line."""
    start = max(first_place(query, text) - before, 0)
    return _BLANKS.sub(" ", text[start : start + length]).strip()


def _is_path(word: str) -> bool:
    """Whether it names a place; the dot behind a sentence's last word is none of it."""
    return any(sign in word.rstrip(".:") for sign in "/.:")


def _once(parts: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, parts)))
