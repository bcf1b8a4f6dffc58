"""Documents that whoever runs the host chose, searched by their words. Pure: nobody is asked.

    [{"title": "...", "url": "https://...", "text": "..."}, ...]

A word that few of the documents hold weighs more, and more in a title than in a text. Both are
text as it is: a `<` in it is no markup. Texts are read piece by piece: what reads a long one at
once lets no other thread run meanwhile.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import nlargest
from typing import NamedTuple

import msgspec

from holdfast.contract.json_value import JsonValue
from holdfast.contract.searching import NotSearched, SearchHit
from holdfast.tools.search.hits import answer_in, at, on_one_line, web_address

_WORD = re.compile(r"\w+")
_IN_TITLE = 3
_SATURATION = 1.5
_AROUND = 150
_SNIPPET = 320
_MOST_WORDS = 50
PIECE = 64 * 1024
_Listed = list[msgspec.Raw]
_BETWEEN = re.compile(r"\W")


class _Document(NamedTuple):
    title: str
    url: str
    text: str
    words: Counter[str]


class StaticIndex:
    """Documents, read once."""

    def __init__(self, content: bytes) -> None:
        """NotSearched when the file is no list of documents."""
        listed = enumerate(_listed(content), 1)
        self._documents = [_document(answer_in(bytes(one)), place) for place, one in listed]
        self._holding = Counter(word for one in self._documents for word in one.words)

    def find(self, query: str, count: int, /) -> tuple[SearchHit, ...]:
        """The documents that fit best; of equals, the one that is named first."""
        words = list(dict.fromkeys(_words(query)))[:_MOST_WORDS]
        weighed = [(self._weight(one, words), one) for one in self._documents]
        best = nlargest(count, (one for one in weighed if one[0]), key=lambda one: one[0])
        return tuple(
            SearchHit(title=one.title, url=one.url, snippet=_snippet(one.text, words))
            for _, one in best
        )

    def _weight(self, document: _Document, words: Sequence[str]) -> float:
        total = 0.0
        for word in words:
            times = document.words[word]
            if times:
                rarity = math.log(1 + len(self._documents) / self._holding[word])
                total += rarity * times / (times + _SATURATION)
        return total


def _listed(content: bytes) -> _Listed:
    """The documents, not taken apart yet: all at once would take its time."""
    try:
        told: _Listed | dict[str, msgspec.Raw] = msgspec.json.decode(
            content, type=_Listed | dict[str, msgspec.Raw]
        )
        if isinstance(told, list):
            return told
        return msgspec.json.decode(told.get("documents", b""), type=_Listed)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise NotSearched("it is no list of documents, each with title, url and text") from None


def _document(value: JsonValue, place: int) -> _Document:
    url = web_address(at(value, "url"))
    if url is None:
        raise NotSearched(f"document {place} has no url that begins with http:// or https://")
    title = on_one_line(at(value, "title"), 300) or url
    told = at(value, "text")
    text = told if isinstance(told, str) else ""
    words = Counter[str]()
    for piece in pieces(text):
        words.update(_words(piece))
    for word in _words(title):
        words[word] += _IN_TITLE
    return _Document(title, url, text, words)


def pieces(text: str, size: int = PIECE) -> Iterator[str]:
    """A text in pieces of at most twice such a size, parted between words that are no longer."""
    begin = 0
    while begin < len(text):
        end = begin + size
        between = _BETWEEN.search(text, end, end + size)
        end = end + size if between is None else between.start()
        yield text[begin:end]
        begin = end


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _snippet(text: str, words: Sequence[str]) -> str:
    """The text around the first word that is in it."""
    began = max(0, _first(text, words) - _AROUND)
    lead = "…" if began else ""
    return lead + on_one_line(text[began : began + 2 * _SNIPPET], _SNIPPET)


def _first(text: str, words: Sequence[str]) -> int:
    """Where the first of the words stands; 0 when none does."""
    wanted, passed = frozenset(words), 0
    for piece in pieces(text):
        folded = piece.casefold()
        if any(word in folded for word in wanted):
            for one in _WORD.finditer(piece):
                if one[0].casefold() in wanted:
                    return passed + one.start()
        passed += len(piece)
    return 0
