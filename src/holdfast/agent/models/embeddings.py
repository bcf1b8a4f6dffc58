"""Vectors of texts from a server that speaks OpenAI's form of embeddings.

What they are for is not known here.
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from holdfast.agent.models.exchange import Destination, Exchange
from holdfast.agent.models.openai_chat import bearer
from holdfast.agent.models.setup import ModelSetup
from holdfast.agent.models.troubles import malformed
from holdfast.agent.models.wire import decoded, encoded
from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import ModelError
from holdfast.contract.vectors import VectorsUnavailable

_PATH = "/embeddings"


class _Made(msgspec.Struct, frozen=True):
    index: Annotated[int, msgspec.Meta(ge=0)]
    embedding: list[float]


class _Reply(msgspec.Struct, frozen=True):
    data: list[_Made]


_replies = msgspec.json.Decoder(_Reply)


class OpenAiEmbedder:
    """One model of a provider. Connections are opened by the first question."""

    def __init__(self, setup: ModelSetup) -> None:
        self._setup = setup
        destination = Destination(
            url=f"{setup.url}{_PATH}",
            headers={**bearer(setup.key), **setup.headers},
            secret=setup.key,
            patience=setup.patience,
            most_bytes=setup.most_bytes,
            proxy=setup.proxy,
        )
        self._exchange = Exchange(destination)

    @property
    def name(self) -> str:
        """Whose it is, and what it is called there."""
        return f"{self._setup.model} at {self._setup.origin}"

    async def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """A vector for each text, in their order; VectorsUnavailable."""
        body: JsonObject = {"model": self._setup.model, "input": list(texts)}
        body["encoding_format"] = "float"
        reading = _Reading()
        try:
            await self._exchange.ask(encoded({**body, **self._setup.extra}), reading)
            return reading.vectors(len(texts))
        except ModelError as problem:
            raise VectorsUnavailable(f"{self.name}: {problem}") from None

    async def close(self) -> None:
        """Let go of connections; the next question opens new ones."""
        await self._exchange.close()


class _Reading:
    """Takes a reply in one piece, and no other; all raise ModelError."""

    def __init__(self) -> None:
        self._made: list[_Made] = []

    @property
    def is_done(self) -> bool:
        """A document is done where it ends."""
        return False

    @property
    def may_end(self) -> bool:
        """The same."""
        return False

    def event(self, _said: bytes, /) -> None:
        """Nobody asked for a stream."""
        raise malformed("sent a stream instead of vectors")

    def whole(self, body: bytes, /) -> None:
        """The vectors, in any order."""
        reply: _Reply = decoded(_replies, body)
        self._made = sorted(reply.data, key=lambda one: one.index)

    def vectors(self, wanted: int) -> list[list[float]]:
        """As many as were wanted, each once."""
        if [one.index for one in self._made] != list(range(wanted)):
            raise malformed(f"sent {len(self._made)} vectors for {wanted} texts")
        return [one.embedding for one in self._made]
