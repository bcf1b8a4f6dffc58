"""What a flow loop asks its model, in the journal of its session: as a wake writes it down.

The rows themselves are not its affair.
"""

from collections import deque

from holdfast.agent.asking import LONGEST_PROBLEM
from holdfast.agent.replies import kept_reply, replied
from holdfast.agent.requests import request_hash
from holdfast.contract.chunks import AskedCall
from holdfast.contract.events import ModelRequested, Payload
from holdfast.contract.model import ModelError, ModelReply, ModelRequest
from holdfast.contract.ports import IdSource
from holdfast.contract.wake_events import ModelFailed
from holdfast.envelope.redact import Redactor
from holdfast.runtime.session_log import SessionLog


class FlowDiary:
    """Writes it down where there is a journal, and knows how the calls of a reply are named."""

    def __init__(self, log: SessionLog | None, redactor: Redactor, ids: IdSource) -> None:
        self._log = log
        self._redactor = redactor
        self._ids = ids
        self._names: dict[AskedCall, deque[str]] = {}
        self.told = 0
        """The number of the event with the last rows that the model is told."""

    async def asks(self, request: ModelRequest, model: str, /) -> str:
        """The model is about to be asked; JournalError."""
        request_id = self._ids.new("msg")
        if self._log is not None:
            fingerprint = request_hash(request, model)
            await self._log.append(
                [
                    ModelRequested(
                        request_id=request_id,
                        model=model,
                        request_hash=fingerprint,
                        through=self.told,
                    )
                ]
            )
        return request_id

    async def replied(self, request_id: str, reply: ModelReply, /) -> None:
        """It replied, and its calls have names from here on; JournalError."""
        kept = kept_reply(reply, lambda: self._ids.new("cal"))
        self._names = {}
        for asked, call in zip(reply.calls, kept.calls, strict=True):
            self._names.setdefault(asked, deque()).append(call.id)
        await self._note(replied(request_id, kept, reply, self._clean))

    async def failed(
        self, request_id: str, problem: ModelError, attempt: int, pause: float | None, /
    ) -> None:
        """It did not reply; JournalError."""
        await self._note(
            ModelFailed(
                request_id=request_id,
                trouble=problem.trouble,
                message=self._redactor.text(str(problem))[:LONGEST_PROBLEM],
                attempt=attempt,
                retry_in_seconds=pause,
            )
        )

    def call_id(self, asked: AskedCall) -> str:
        """The name of a call; of several that are alike each has its own."""
        names = self._names.get(asked)
        return names.popleft() if names else self._ids.new("cal")

    def _clean(self, text: bytes) -> bytes:
        return self._redactor.json(text) if self._redactor.active else text

    async def _note(self, payload: Payload) -> None:
        if self._log is not None:
            await self._log.append([payload])
