"""Which tools a model is offered: all while they are few, else the agent's own and those it found.

Ranking is BM25 over the words of names and descriptions. Every tool of the session can be called by
its name, found or not: what is offered saves room in a prompt and decides over nothing.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.tool import Tool
from holdfast.contract.tool_index import ToolMatch
from holdfast.contract.truncate import cut_text

ACTIVE_ABOVE = 20
"""So many tools are offered without searching."""
MOST_MATCHES = 10
MOST_WORDS = 50
"""So many different words of a query are looked for."""
LONGEST_DESCRIPTION = 1000
_K1, _B = 1.2, 0.75
_WORD = late_pattern(r"[^\W_]+")
_HUMP = late_pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_LITTLE = frozenset({
    *("a", "am", "an", "and", "are", "as", "at", "be", "been", "by", "can", "could", "do"),
    *("does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it"),
    *("its", "me", "my", "of", "on", "or", "our", "shall", "should", "so", "than", "that", "the"),
    *("their", "them", "then", "there", "these", "they", "this", "those", "to", "us", "was"),
    *("we", "were", "what", "when", "where", "which", "who", "will", "with", "would", "you"),
    "your",
})  # fmt: skip
"""Words that every description has, and every question."""
_ENDINGS = (("s", "es"), ("ed", "ing"), ("e",))
"""What is left off a word, one of each at most: plurals, forms of verbs, and what they leave."""
_SHORTEST = 4


def words_of(text: str) -> list[str]:
    """The words to be found by: `listOpenIssues` and `list_open_issues` are three each."""
    parts = (part for word in _WORD.findall(text) for part in _HUMP.split(word))
    words = (part.casefold() for part in parts)
    return [word for word in words if word not in _LITTLE]


def _stem(word: str) -> str:
    """As much of it as its other forms have: `shares`, `shared` and `sharing` are one."""
    for endings in _ENDINGS:
        fitting = [one for one in endings if word.endswith(one) and not word.endswith("ss")]
        left = [word.removesuffix(one) for one in fitting]
        word = min((one for one in left if len(one) >= _SHORTEST), key=len, default=word)
    return word


def _forms(words: Iterable[str]) -> Iterator[str]:
    """The words, and with each what its other forms have: the same form counts for more."""
    for word in words:
        yield word
        stem = _stem(word)
        if stem != word:
            yield stem


class _Entry(msgspec.Struct, frozen=True):
    tool: Tool
    words: Counter[str]
    length: int


class OfferedTools:
    """The tools of one session, as a model is offered them."""

    def __init__(self, tools: Iterable[Tool], on_demand: Iterable[str] = ()) -> None:
        """``on_demand``: names of tools that are offered once they are found, as MCP's are."""
        self._on_demand = frozenset(on_demand)
        self._found: dict[str, Tool] = {}
        self.renew(tools)

    def renew(self, tools: Iterable[Tool]) -> None:
        """These are the tools from here on; what was found of them stays offered."""
        self._tools = tuple(tools)
        self._searched = [
            _entry(tool)
            for tool in self._tools
            if tool.ownership == "mcp" or tool.name in self._on_demand
        ]
        known = {entry.tool.name: entry.tool for entry in self._searched}
        self._found = {name: known[name] for name in self._found if name in known}
        self._often = Counter(word for entry in self._searched for word in entry.words)
        total = sum(entry.length for entry in self._searched)
        self._usual = total / len(self._searched) if total else 1.0

    @property
    def active(self) -> bool:
        """Whether there are so many tools that some have to be searched for."""
        return len(self._tools) > ACTIVE_ABOVE

    def offered(self) -> tuple[Tool, ...]:
        """What a model is offered now; what it found comes behind, in the order of finding."""
        if not self.active:
            return self._tools
        hidden = {entry.tool.name for entry in self._searched}
        return (*(tool for tool in self._tools if tool.name not in hidden), *self._found.values())

    def search(self, query: str, /) -> tuple[ToolMatch, ...]:
        """The best matches, the best first; they are offered for the rest of the session."""
        words = [*dict.fromkeys(words_of(query))][:MOST_WORDS]
        wanted = [*dict.fromkeys(_forms(words))]
        scored = [(self._score(entry, wanted), entry.tool) for entry in self._searched]
        best = sorted((-score, tool.name, tool) for score, tool in scored if score > 0)
        found = [tool for _, _, tool in best[:MOST_MATCHES]]
        self.found(tool.name for tool in found)
        return tuple(ToolMatch(tool.name, _line(tool)) for tool in found)

    def found(self, names: Iterable[str]) -> None:
        """These were found, here or before a restart."""
        known = {entry.tool.name: entry.tool for entry in self._searched}
        for name in names:
            if name in known:
                self._found.setdefault(name, known[name])

    def _score(self, entry: _Entry, wanted: Iterable[str]) -> float:
        size = 1 - _B + _B * entry.length / self._usual
        score = 0.0
        for word in wanted:
            times = entry.words[word]
            if times:
                rare = len(self._searched) - self._often[word] + 0.5
                weight = math.log(1 + rare / (self._often[word] + 0.5))
                score += weight * times * (_K1 + 1) / (times + _K1 * size)
        return score


def _entry(tool: Tool) -> _Entry:
    words = [*_forms([*words_of(tool.name), *words_of(tool.description or "")])]
    return _Entry(tool, Counter(words), len(words))


def _line(tool: Tool) -> str:
    line = " ".join((tool.description or "").split())
    return cut_text(line, LONGEST_DESCRIPTION)
