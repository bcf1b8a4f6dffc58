"""Finding by what is meant, for tests: an embedder that knows a few synonyms, a backend in memory,
and what every `VectorBackend` must do.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from math import sqrt

import msgspec

from holdfast.contract.vectors import Pointed, Pointer, Question, VectorBackend

_WORD = re.compile(r"\w+")
_NUMBERS = 1024

Say = Callable[[str, str | None, str], Awaitable[str]]
"""Puts a text into a session of an agent, so that the backend can find it; gives the event's id."""


class FakeEmbedder:
    """Counts words by their hash; of synonyms, each counts as the same word."""

    def __init__(self, synonyms: Mapping[str, str] | None = None, name: str = "fake words") -> None:
        """``synonyms``: by word in small letters, the one that it stands for."""
        self._synonyms = {} if synonyms is None else dict(synonyms)
        self._name = name
        self.asked: list[str] = []
        """Every text, in order."""

    @property
    def name(self) -> str:
        """What it is called."""
        return self._name

    async def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """How often each word is in each of them."""
        self.asked += texts
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> list[float]:
        """How often each word is in it."""
        counts = [0.0] * _NUMBERS
        for found in _WORD.finditer(text.lower()):
            meant = self._synonyms.get(found[0], found[0])
            place = int.from_bytes(hashlib.sha256(meant.encode()).digest()[:4], "big")
            counts[place % _NUMBERS] += 1.0
        return counts


class FakeVectors:
    """Finds by comparing with everything it was told."""

    def __init__(self, embedder: FakeEmbedder) -> None:
        self._embedder = embedder
        self._told: list[tuple[str | None, Pointer, list[float]]] = []
        self.asked: list[Question] = []

    def tell(self, session_id: str, agent: str | None, event_id: str, text: str) -> None:
        """Something that can be found from now on."""
        at = Pointer(session_id=session_id, event_id=event_id, similarity=0.0)
        self._told.append((agent, at, self._embedder.vector(text)))

    async def nearest(self, asked: Question, /) -> Pointed:
        """What is closest, of what may be meant."""
        self.asked.append(asked)
        vector = self._embedder.vector(asked.text)
        found = [
            msgspec.structs.replace(at, similarity=near)
            for agent, at, told in self._told
            if agent in asked.agents
            and (asked.sessions is None or at.session_id in asked.sessions)
            and at.session_id != asked.without
            and (near := _cosine(vector, told)) > 0
        ]
        found.sort(key=lambda one: -one.similarity)
        return Pointed(pointers=tuple(found[: asked.limit]))


async def check_vector_backend(backend: VectorBackend, say: Say, agent: str = "kit") -> None:
    """Points at what is close and within the question, the closest first.

    ``agent``: whose sessions the backend is for.
    """
    far = await say("ses_kit_1", agent, "The weather in Oslo is mild")
    near = await say("ses_kit_1", agent, "The register is off by one cent")
    nearer = await say("ses_kit_2", agent, "The register is off")
    theirs = await say("ses_kit_3", f"{agent}-other", "The register is off")

    async def found(**bounds: object) -> list[str]:
        asked = msgspec.convert(
            {"text": "The register is off", "agents": (agent,), **bounds}, Question
        )
        pointed = await backend.nearest(asked)
        similar = [one.similarity for one in pointed.pointers]
        _expect(similar == sorted(similar, reverse=True), f"they are in no order: {similar}")
        _expect(all(0 <= one <= 1 for one in similar), f"a similarity is not 0 to 1: {similar}")
        return [one.event_id for one in pointed.pointers]

    every = await found()
    _expect(every[:2] == [nearer, near], f"the closest are not first: {every}")
    _expect(far not in every[:2] and theirs not in every, f"it answers more than that: {every}")
    _expect(await found(limit=1) == [nearer], "a limit of one is another number")
    one = await found(sessions=("ses_kit_1",))
    _expect(near in one and nearer not in one, f"of one session come {one}")
    _expect(await found(sessions=()) == [], "of no session comes something")
    _expect(await found(agents=()) == [], "of no agent comes something")
    _expect(nearer not in await found(without="ses_kit_2"), "a session is not left out")
    asked = Question(text="register", agents=(f"{agent}-nobody",))
    _expect(not (await backend.nearest(asked)).pointers, "it answers for an agent that has nothing")
    _expect(await found() == every, "the same question has another answer")


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = sqrt(sum(part * part for part in one)) * sqrt(sum(part * part for part in other))
    product = sum(left * right for left, right in zip(one, other, strict=True))
    return min(1.0, product / lengths) if lengths else 0.0


def _expect(holds: bool, told: str) -> None:  # noqa: FBT001 - a condition, as in assert
    if not holds:
        raise AssertionError(told)
