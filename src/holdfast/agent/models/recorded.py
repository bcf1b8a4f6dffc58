"""A model that says again what was recorded, to exactly the same questions: for replay.

Where records come from is not known here. What a question was is kept as its hash.
"""

from collections.abc import Iterable

from holdfast.agent.models.replaying import tell
from holdfast.agent.requests import request_hash
from holdfast.contract.model import Heard, ModelError, ModelReply, ModelRequest

USUAL_WINDOW = 128_000


class DivergedRequest(ModelError):
    """The model is asked something else than was recorded, or more; asking again does not help."""

    def __init__(self, number: int, told: str) -> None:
        super().__init__("bad_request", told)
        self.number = number
        """Of the request, from 1."""


class RecordedModel:
    """Replies in the order they were recorded: the hash of each request, and its reply or why there
    was none."""

    def __init__(
        self,
        replies: Iterable[tuple[str, ModelReply | ModelError]],
        *,
        name: str,
        provider: str = "recorded",
        window: int = USUAL_WINDOW,
        max_output_tokens: int = USUAL_WINDOW,
    ) -> None:
        self._replies = tuple(replies)
        self._asked = 0
        self.name = name
        self.provider = provider
        self.window = window
        self.max_output_tokens = max_output_tokens

    @property
    def left(self) -> int:
        """How many replies nobody has asked for yet."""
        return len(self._replies) - self._asked

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        """The next reply; DivergedRequest, or the ModelError that was recorded."""
        number = self._asked + 1
        if not self.left:
            raise DivergedRequest(
                number,
                f"request {number} was never recorded: there are {len(self._replies)} replies",
            )
        wanted, reply = self._replies[self._asked]
        found = request_hash(request, self.name)
        if found != wanted:
            raise DivergedRequest(
                number,
                f"request {number} is not the one that was recorded: its hash is {found[:12]},"
                f" and was {wanted[:12]}",
            )
        self._asked = number
        if isinstance(reply, ModelError):
            raise reply
        tell(reply, heard)
        return reply

    async def close(self) -> None:
        """Nothing is held."""
