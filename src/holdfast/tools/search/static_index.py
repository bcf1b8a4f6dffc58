"""Documents that whoever runs the host chose, searched by their words. Pure: nobody is asked.

    [{"title": "...", "url": "https://...", "text": "..."}, ...]

A word that few of the documents hold weighs more, and more in a title than in a text. Both are
text as it is: a `<` in it is no markup.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.contract.json_value import JsonValue
from holdfast.contract.searching import NotSearched, SearchHit
from holdfast.tools.search.hits import answer_in, at, on_one_line, web_address

_WORD = re.compile(r"\w+")
_IN_TITLE = 3
_SATURATION = 1.5
_AROUND = 150
_SNIPPET = 320
_MOST_WORDS = 50


class _Document(NamedTuple):
    title: str
    url: str
    text: str
    words: Counter[str]


class StaticIndex:
    """Documents, read once."""

    def __init__(self, content: bytes) -> None:
        """NotSearched when the file is no list of documents."""
        told = answer_in(content)
        listed = at(told, "documents") if isinstance(told, dict) else told
        if not isinstance(listed, list):
            raise NotSearched("it is no list of documents, each with title, url and text")
        self._documents = [_document(one, place) for place, one in enumerate(listed, 1)]
        self._holding = Counter(word for one in self._documents for word in one.words)

    def find(self, query: str, count: int, /) -> tuple[SearchHit, ...]:
        """The documents that fit best; of equals, the one that is named first."""
        words = list(dict.fromkeys(_words(query)))[:_MOST_WORDS]
        weighed = [(self._weight(one, words), one) for one in self._documents]
        best = sorted((one for one in weighed if one[0]), key=lambda one: -one[0])
        return tuple(
            SearchHit(title=one.title, url=one.url, snippet=_snippet(one.text, words))
            for _, one in best[:count]
        )

    def _weight(self, document: _Document, words: Sequence[str]) -> float:
        total = 0.0
        for word in words:
            times = document.words[word]
            if times:
                rarity = math.log(1 + len(self._documents) / self._holding[word])
                total += rarity * times / (times + _SATURATION)
        return total


def _document(value: JsonValue, place: int) -> _Document:
    url = web_address(at(value, "url"))
    if url is None:
        raise NotSearched(f"document {place} has no url that begins with http:// or https://")
    title = on_one_line(at(value, "title"), 300) or url
    text = at(value, "text")
    body = " ".join(text.split()) if isinstance(text, str) else ""
    words = Counter(_words(body))
    for word in _words(title):
        words[word] += _IN_TITLE
    return _Document(title, url, body, words)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _snippet(text: str, words: Sequence[str]) -> str:
    """The text around the first word that is in it."""
    wanted = frozenset(words)
    first = next((one for one in _WORD.finditer(text) if one[0].casefold() in wanted), None)
    began = 0 if first is None else max(0, first.start() - _AROUND)
    lead = "…" if began else ""
    return lead + on_one_line(text[began : began + 2 * _SNIPPET], _SNIPPET)
