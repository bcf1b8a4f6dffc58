"""Words, as every store keeps and finds them: without case and accents, whatever the language.

A store is handed words and looks for words; it takes no text apart. Where words have no blanks
between them, as in Chinese, each letter is one.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import msgspec

MOST_LETTERS = 500
"""Of a word: the rest of a longer one does not count, neither where it is kept nor asked for."""
MOST_WORDS = 16_000
"""Of one text. PostgreSQL counts no further."""
MOST_ASKED = 60
"""Words of a question; what comes behind them is not looked for."""
_SHOWN_WORDS = 24
_SHOWN_BEFORE = 5
_SHOWN_LETTERS = 400
_PLACES_WEIGHED = 200

_ALONE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_WORD = rf"[{_ALONE}]|[^\W_{_ALONE}]+"
"""Compiled with the first search: classes this large take milliseconds."""

Phrase: TypeAlias = tuple[str, ...]
"""Words that stand side by side: what a person wrote without a blank, such as `app/store.py`."""


class _Spot(msgspec.Struct, frozen=True):
    begin: int
    end: int
    word: str


class _Match(msgspec.Struct, frozen=True):
    at: int
    """The number of its first word."""
    length: int
    phrase: Phrase


def words_of(text: str) -> list[str]:
    """The words of a text, in order."""
    return [spot.word for spot in _spots(unicodedata.normalize("NFC", text))]


def phrases_of(question: str) -> tuple[Phrase, ...]:
    """What has to occur, all of it; signs are no words."""
    found = (tuple(words_of(part))[:MOST_ASKED] for part in question.split())
    return tuple(dict.fromkeys(filter(None, found)))[:MOST_ASKED]


def excerpt(text: str, wanted: Sequence[Phrase]) -> str:
    """The words around the best place of a text; what is wanted stands in brackets."""
    text = unicodedata.normalize("NFC", text)
    spots = list(_spots(text))
    matches = list(_matches(spots, wanted))
    near = matches[:_PLACES_WEIGHED]
    best = max(near, key=lambda one: (_weight(one, near), -one.at), default=None)
    first = 0 if best is None else max(0, best.at - _SHOWN_BEFORE)
    last = min(len(spots), first + _SHOWN_WORDS)
    begin = spots[first].begin if first else 0
    end = spots[last - 1].end if last < len(spots) else len(text)
    shown = "".join(_marked(text, begin, end, spots, matches))
    shown = " ".join(shown.split())
    cut = len(shown) > _SHOWN_LETTERS
    return f"{'…' if begin else ''}{shown[:_SHOWN_LETTERS]}{'…' if cut or end < len(text) else ''}"


def _spots(text: str) -> Iterator[_Spot]:
    count = 0
    for found in re.finditer(_WORD, text):
        word = _folded(found[0])
        if word and count < MOST_WORDS:
            count += 1
            yield _Spot(found.start(), found.end(), word)


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()[:MOST_LETTERS]
    plain = unicodedata.normalize("NFKD", word).casefold()
    letters = "".join(one for one in unicodedata.normalize("NFKD", plain) if one.isalnum())
    return unicodedata.normalize("NFC", letters)[:MOST_LETTERS]


def _matches(spots: Sequence[_Spot], wanted: Sequence[Phrase]) -> Iterator[_Match]:
    """Where it occurs, in order; none begins inside of another."""
    by_first: dict[str, list[Phrase]] = {}
    for phrase in sorted(wanted, key=len, reverse=True):
        by_first.setdefault(phrase[0], []).append(phrase)
    at = 0
    while at < len(spots):
        here = (one for one in by_first.get(spots[at].word, ()) if _stands(one, spots, at))
        found = next(here, None)
        if found is not None:
            yield _Match(at, len(found), found)
        at += 1 if found is None else len(found)


def _stands(phrase: Phrase, spots: Sequence[_Spot], at: int) -> bool:
    return phrase == tuple(spot.word for spot in spots[at : at + len(phrase)])


def _weight(one: _Match, matches: Sequence[_Match]) -> int:
    """How much of what is wanted stands close behind."""
    near = range(one.at, one.at + _SHOWN_WORDS - _SHOWN_BEFORE)
    return len({other.phrase for other in matches if other.at in near})


def _marked(
    text: str, begin: int, end: int, spots: Sequence[_Spot], matches: Sequence[_Match]
) -> Iterator[str]:
    for match in matches:
        here, there = spots[match.at].begin, spots[match.at + match.length - 1].end
        if begin <= here and there <= end:
            yield f"{text[begin:here]}[{text[here:there]}]"
            begin = there
    yield text[begin:end]
