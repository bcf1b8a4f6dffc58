"""The calls of a recording: what was asked, what a person answered, what came back.

Read from events alone; nothing is driven here.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import TypeVar

from holdfast.contract.call import ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    ApprovalWithdrawn,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    Event,
    Payload,
)
from holdfast.envelope.bound import WARNINGS
from holdfast.envelope.dialects.ok import NotAnEnvelope, parse
from holdfast.envelope.from_error import cancelled
from holdfast.envelope.redact import REDACTED
from holdfast.record.divergence import Place
from holdfast.runtime.trail import LONGEST_ARGUMENTS

_P = TypeVar("_P", bound=Payload)
_OF_CALLS = (
    *(CallAsked, ApprovalAsked, ApprovalAnswered, ApprovalWithdrawn),
    *(CallIntended, CallRefused, CallSettled),
)

_OF_VOID_QUESTIONS = (ApprovalAsked, ApprovalWithdrawn)


class RecordedCall:
    """One call, as its events tell it."""

    def __init__(self, event: Event, asked: CallAsked) -> None:
        self.asked = asked
        self.at = event.at
        self.events = [event]
        self._session_id = event.session_id

    @property
    def call(self) -> ToolCall:
        """The call itself."""
        return ToolCall(
            id=self.asked.call_id,
            tool=self.asked.tool,
            arguments=self.asked.arguments,
            session_id=self._session_id,
            model_call_id=self.asked.model_call_id,
        )

    @property
    def is_cut(self) -> bool:
        """Whether not all that was sent is known any more."""
        return len(self.asked.arguments) >= LONGEST_ARGUMENTS

    @property
    def not_comparable(self) -> frozenset[Place]:
        """What would be another one whatever happens, because not all of it is known any more.

        Arguments that hid a secret have another fingerprint; what was cut would be cut once more.
        """
        places: list[Place] = []
        if REDACTED in self.asked.arguments:
            places.append(("arguments_hash",))
        envelope = self.envelope
        if envelope is not None and envelope.failure is not None and envelope.metadata.truncated:
            names = ("message", "field", "expected", *envelope.failure.extras)
            places += [("envelope", name) for name in names]
        if envelope is not None and len(envelope.warnings) > WARNINGS:
            places.append(("envelope", "warnings"))
        return frozenset(places)

    @cached_property
    def approval_id(self) -> str | None:
        """What the question was called."""
        asked = self._said(ApprovalAsked)
        return None if asked is None else asked.approval_id

    @cached_property
    def answer(self) -> ApprovalAnswered | None:
        """What was answered; None: nothing was."""
        return self._said(ApprovalAnswered)

    @cached_property
    def envelope(self) -> Envelope | None:
        """What came back; None: nothing did, or nothing that can be read."""
        settled = self._said(CallSettled)
        try:
            return None if settled is None else parse(bytes(settled.envelope))
        except NotAnEnvelope:
            return None

    @property
    def compared(self) -> list[Event]:
        """What settling it again has to write. An end that came from outside is none of that."""
        is_over = isinstance(self.events[-1].payload, CallSettled)
        steps = self.events[:-1] if is_over and self._ended_from_outside() else self.events
        if self._said(ApprovalWithdrawn) is None:
            return steps
        # The rules that it ran by do not ask.
        return [one for one in steps if not isinstance(one.payload, _OF_VOID_QUESTIONS)]

    def _ended_from_outside(self) -> bool:
        """Nobody measured how long it took; or it was given up before it ran."""
        envelope = self.envelope
        if envelope is None:
            return False
        unmeasured = envelope.metadata.duration_ms is None
        given_up = envelope.failure == cancelled(self.asked.tool)
        return unmeasured or (given_up and self._said(CallIntended) is None)

    def _said(self, kind: type[_P]) -> _P | None:
        payloads = (event.payload for event in self.events)
        return next((said for said in payloads if isinstance(said, kind)), None)


def recorded_calls(events: Iterable[Event]) -> tuple[RecordedCall, ...]:
    """The calls, in the order they were asked for."""
    calls: dict[str, RecordedCall] = {}
    for event in events:
        said = event.payload
        if isinstance(said, CallAsked) and said.call_id not in calls:
            calls[said.call_id] = RecordedCall(event, said)
        elif isinstance(said, _OF_CALLS) and said.call_id in calls:
            calls[said.call_id].events.append(event)
    return tuple(calls.values())
