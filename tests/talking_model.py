"""A model that talks as long as a test wants it to."""

import anyio

from holdfast.agent.models.scripted import ScriptedModel
from holdfast.contract.model import Heard, ModelReply, ModelRequest, TextDelta


class TalkingModel(ScriptedModel):
    """Counts aloud, a number a moment, until it is told to stop; then it gives the whole."""

    def __init__(self, *, seconds: float = 0.01, at_once: int = 1) -> None:
        super().__init__(())
        self._seconds = seconds
        self._at_once = at_once
        self.stops = anyio.Event()

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        """Numbers, and then all of them at once."""
        self.requests.append(request)
        said: list[str] = []
        while not self.stops.is_set() or not said:
            for _ in range(self._at_once):
                said.append(f"{len(said)} ")
                if heard is not None:
                    heard(TextDelta(said[-1]))
            with anyio.move_on_after(self._seconds):
                await self.stops.wait()
        return ModelReply(text="".join(said))
