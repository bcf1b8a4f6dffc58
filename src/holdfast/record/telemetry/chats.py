"""What models were asked, as spans `chat`, and the tokens it took."""

from collections.abc import Mapping
from typing import cast

from opentelemetry.context import Context
from opentelemetry.trace import SpanKind
from opentelemetry.util.types import AttributeValue

from holdfast.contract.events import Event, ModelReplied, ModelRequested
from holdfast.contract.json_value import JsonObject
from holdfast.contract.wake_events import ModelFailed
from holdfast.record.telemetry import attributes as names
from holdfast.record.telemetry.content import LONGEST_NAME, bounded, said_by_model
from holdfast.record.telemetry.instruments import Instruments, Timed
from holdfast.record.telemetry.traced import TracedSession, named, nanoseconds

CHAT = "chat"
CANCELLED = "cancelled"
"""What `error.type` says of a question that was given up."""
_USAGE = {
    "input_tokens": names.INPUT_TOKENS,
    "output_tokens": names.OUTPUT_TOKENS,
    "cached_tokens": names.CACHE_READ_TOKENS,
    "cache_write_tokens": names.CACHE_WRITE_TOKENS,
    "reasoning_tokens": names.REASONING_TOKENS,
}
_METRIC_TYPES = {names.INPUT_TOKENS: "input", names.OUTPUT_TOKENS: "output"}

Tokens = Mapping[str, int]
"""By the name of their attribute."""


class _Open:
    """A model that was asked and has not replied."""

    def __init__(self, timed: Timed, measured: dict[str, AttributeValue]) -> None:
        self.timed = timed
        self.measured = measured
        """What metrics say of it."""


class Chats:
    """What one session asks models."""

    def __init__(self, instruments: Instruments, session: TracedSession) -> None:
        self._instruments = instruments
        self._session = session
        self._open: dict[str, _Open] = {}

    def asks(self, event: Event, said: ModelRequested, parent: Context) -> None:
        """A model is asked."""
        at = nanoseconds(event.at)
        self._give_up(said.request_id, at)
        measured = names.known(
            {
                names.OPERATION: CHAT,
                names.PROVIDER: self._session.provider,
                names.REQUEST_MODEL: bounded(said.model, LONGEST_NAME),
            }
        )
        told = names.known({names.WAKE_ID: event.wake_id, names.PURPOSE: said.purpose})
        span = self._instruments.tracer.start_span(
            named(CHAT, said.model),
            context=parent,
            kind=SpanKind.CLIENT,
            attributes={**self._session.attributes(), **measured, **told},
            start_time=at,
        )
        self._open[said.request_id] = _Open(Timed(span, at), measured)

    def replied(self, said: ModelReplied, at: int) -> Tokens:
        """It replied; gives the tokens that took, none where nobody heard the question."""
        chat = self._open.pop(said.request_id, None)
        if chat is None:
            return {}
        reply = cast("JsonObject", said.reply) if isinstance(said.reply, dict) else {}
        tokens = {
            attribute: count
            for name, attribute in _USAGE.items()
            if (count := _count(said.usage.get(name)))
        }
        told = names.known(
            {
                names.FINISH_REASONS: (bounded(str(reply.get("finish", "stop")), LONGEST_NAME),),
                names.OUTPUT_MESSAGES: said_by_model(reply) if self._session.content else None,
            }
        )
        seconds = chat.timed.end(at, {**told, **tokens})
        self._instruments.chats.record(seconds, chat.measured)
        for attribute, kind in _METRIC_TYPES.items():
            if attribute in tokens:
                measured = {**chat.measured, names.TOKEN_TYPE: kind}
                self._instruments.tokens.record(tokens[attribute], measured)
        return tokens

    def failed(self, said: ModelFailed, at: int) -> None:
        """It gave no reply."""
        self._end(said.request_id, at, said.trouble, {names.ATTEMPT: said.attempt})

    def give_up(self, at: int) -> None:
        """Nobody waits for replies any more."""
        for request_id in list(self._open):
            self._give_up(request_id, at)

    def _give_up(self, request_id: str, at: int) -> None:
        self._end(request_id, at, CANCELLED, {})

    def _end(self, request_id: str, at: int, error: str, told: dict[str, AttributeValue]) -> None:
        chat = self._open.pop(request_id, None)
        if chat is not None:
            seconds = chat.timed.end(at, told, error=error)
            self._instruments.chats.record(seconds, {**chat.measured, names.ERROR_TYPE: error})


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
