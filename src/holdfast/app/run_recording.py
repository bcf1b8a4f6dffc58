"""The runs of a recording, read from its events alone: what each was given, and how it ended.

What is not written down of a run follows from what is: an interrupt from the end it brought, the
death of a program from the end that is missing. Nothing is driven here.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, TypeVar

import msgspec

from holdfast.agent.asking import LONGEST_PROBLEM
from holdfast.agent.beginning import LOST
from holdfast.agent.endings import Ended, summary_of
from holdfast.agent.given_up import BY_A_PERSON, BY_THE_END
from holdfast.agent.replies import read_reply
from holdfast.agent.wake import out_of_time
from holdfast.contract.agents import RunLimits
from holdfast.contract.chunks import AskedCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import (
    AgentMessage,
    ApprovalAnswered,
    ApprovalAsked,
    ApprovalWithdrawn,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    ChildIdle,
    ChildWaits,
    CustomToolUse,
    Event,
    InquiryAnswered,
    InquiryAsked,
    ModelReplied,
    ModelRequested,
    Payload,
    SidecarKept,
    SpanCompleted,
    SpanStarted,
)
from holdfast.contract.model import ModelError, ModelReply, ModelUsage
from holdfast.contract.ports import IdPrefix
from holdfast.contract.wake_events import (
    AgentEquipped,
    ModelFailed,
    RunBounded,
    RunTerms,
    WakeDeferred,
    WakeQueued,
    WakesCompleted,
)
from holdfast.envelope.dialects.ok import NotAnEnvelope, parse

WakeFate = Literal["ended", "cancelled", "out_of_time", "raised", "gone"]
"""How a run ended: by itself; by an interrupt; by its time; by what it met; or its program was gone
before it did."""
_P = TypeVar("_P", bound=Payload)
_CANCELLED = summary_of(Ended(ending="cancelled"))
_FAILED = summary_of(Ended(ending="failed", problem=""))
_RAISED = re.compile(r"(\w+): (.*)", re.DOTALL)
_OF_CALLS = (
    *(CallAsked, ApprovalAsked, ApprovalAnswered, ApprovalWithdrawn, CallIntended, CallRefused),
    *(InquiryAsked, InquiryAnswered, CallSettled, SidecarKept, ChildWaits),
)
_OF_LEAVE = (ApprovalAsked, ApprovalAnswered, ApprovalWithdrawn)
_BEGINNING = (RunBounded, WakesCompleted, ChildIdle, AgentEquipped, WakeDeferred)


def call_of(said: Payload) -> str | None:
    """The call that an event is a step of; None: it is none of a call."""
    if isinstance(said, CustomToolUse):
        return said.request_id
    return said.call_id if isinstance(said, _OF_CALLS) else None


class CallRecord:
    """What one run left of one call."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    @property
    def first(self) -> int:
        """The number of its first event in the run."""
        return self.events[0].sequence

    @property
    def last(self) -> int:
        """The number of its last event in the run."""
        return self.events[-1].sequence

    @property
    def admitted(self) -> int:
        """The number of the last event that was about leave to run; 0: nobody was asked."""
        about = (one for one in self.events if isinstance(one.payload, _OF_LEAVE))
        return max((one.sequence for one in about), default=0)

    @property
    def may_run(self) -> bool:
        """Whether it had leave to run in this run, and was begun or waited for others."""
        if any(isinstance(one.payload, CallIntended) for one in self.events):
            return True
        last = self.events[-1].payload
        if isinstance(last, ApprovalAnswered):
            return last.allowed
        return isinstance(last, ApprovalWithdrawn)

    @property
    def is_whole_without_running(self) -> bool:
        """Whether it was asked for and answered, and nothing else."""
        kinds = [type(one.payload) for one in self.events]
        return kinds == [CallAsked, CallSettled] and self.last == self.first + 1

    @property
    def is_given_up(self) -> bool:
        """Whether the run ended before it."""
        envelope = self.envelope
        failure = None if envelope is None else envelope.failure
        return failure is not None and failure.message in (BY_A_PERSON, BY_THE_END)

    @property
    def settled(self) -> CallSettled | None:
        """Its answer; None: it had none in this run."""
        last = self.events[-1].payload
        return last if isinstance(last, CallSettled) else None

    @property
    def envelope(self) -> Envelope | None:
        """The same as a value; None also where it cannot be read."""
        settled = self.settled
        try:
            return None if settled is None else parse(bytes(settled.envelope))
        except NotAnEnvelope:
            return None


class RecordedWake:
    """One run."""

    def __init__(self, wake_id: str) -> None:
        self.id = wake_id
        self.events: list[Event] = []

    @property
    def first(self) -> Event:
        """The first thing it wrote down."""
        return self.events[0]

    @property
    def last(self) -> int:
        """The number of its last event."""
        return self.events[-1].sequence

    def behind(self, sequence: int) -> Sequence[Event]:
        """What it wrote behind a number."""
        return self.events[bisect_right(self.events, sequence, key=_place) :]

    def said(self, kind: type[_P]) -> Iterator[_P]:
        """What it said of one kind."""
        return (one.payload for one in self.events if isinstance(one.payload, kind))

    @cached_property
    def end(self) -> SpanCompleted | None:
        """Where it came to rest; None: it never did."""
        spans = (one for one in self.said(SpanCompleted) if one.span_id == self.id)
        return next(spans, None)

    @cached_property
    def fate(self) -> WakeFate:
        """How it ended."""
        end = self.end
        if end is None:
            return "gone"
        if end.result == "error":
            return "raised"
        limits = limits_of(self)
        seconds = None if limits is None else limits.seconds
        if seconds is not None and end.summary == summary_of(out_of_time(seconds)):
            return "out_of_time"
        broken_off = end.result == "blocked" and (self.partial or end.summary == _CANCELLED)
        return "cancelled" if broken_off else "ended"

    @cached_property
    def partial(self) -> str:
        """What it had said when it was interrupted."""
        return next((one.message for one in self.said(AgentMessage)), "")

    @property
    def problem(self) -> str:
        """Why it failed, as its end says."""
        summary = "" if self.end is None else self.end.summary or ""
        return summary.removeprefix(_FAILED).removeprefix(": ")

    @cached_property
    def _begun(self) -> list[Event]:
        """What stands right behind the beginning of its span."""
        found: list[Event] = []
        for event in self.events:
            said = event.payload
            if isinstance(said, SpanStarted) and said.span_id == self.id:
                found = [event]
            elif found and isinstance(said, _BEGINNING) and event.sequence == _next(found):
                found.append(event)
        return found

    @property
    def equipped(self) -> Event | None:
        """The outfit it began with, where that was another one."""
        outfits = (one for one in self._begun if isinstance(one.payload, AgentEquipped))
        return next(outfits, None)

    @cached_property
    def lost(self) -> frozenset[str]:
        """The sessions of subagents that it found gone."""
        said = (one.payload for one in self._begun)
        children = (one for one in said if isinstance(one, ChildIdle) and one.summary == LOST)
        return frozenset(one.child_session_id for one in children)

    terms: RunTerms | None = None
    """What it went by; set by whoever knows the runs before it."""

    @cached_property
    def model(self) -> str:
        """The name of the model it asked."""
        return next((one.model for one in self.said(ModelRequested)), "")

    @cached_property
    def calls(self) -> dict[str, CallRecord]:
        """What it left of each call, by their ids."""
        found: dict[str, CallRecord] = {}
        for event in self.events:
            call_id = call_of(event.payload)
            if call_id is not None:
                found.setdefault(call_id, CallRecord()).events.append(event)
        return found

    @cached_property
    def outcomes(self) -> dict[str, ModelReply | ModelError]:
        """What became of its requests, by their ids; a request that is not here was given up."""
        found: dict[str, ModelReply | ModelError] = {}
        for event in self.events:
            match event.payload:
                case ModelReplied() as said:
                    found[said.request_id] = _reply(said)
                case ModelFailed() as said:
                    found[said.request_id] = _failure(said, self.problem)
                case _:
                    pass
        return found

    def is_asked_by_the_run(self, request_id: str) -> bool:
        """Whether it is no call that the application is asked something, but the end of the run."""
        record = self.calls.get(request_id)
        return record is not None and len(record.events) == 1


def takes_a_turn(wake: RecordedWake) -> bool:
    """Whether the model is told the conversation in it, and not only asked for a summary."""
    return any(one.purpose == "turn" for one in wake.said(ModelRequested))


def limits_of(wake: RecordedWake) -> RunLimits | None:
    """What a run might use; None: nobody said."""
    bounded = next(wake.said(RunBounded), None)
    if bounded is not None:
        return bounded.limits
    return None if wake.terms is None else wake.terms.limits


def is_given_up(wake: RecordedWake, said: Payload) -> bool:
    """Whether it is about a call that the run did not make, as it ended before it."""
    record = wake.calls.get(call_of(said) or "")
    return record is not None and record.is_given_up


def recorded_wakes(events: Sequence[Event]) -> dict[str, RecordedWake]:
    """The runs of a recording in their order, by their names."""
    found: dict[str, RecordedWake] = {}
    for event in events:
        if event.wake_id is not None:
            found.setdefault(event.wake_id, RecordedWake(event.wake_id)).events.append(event)
    terms: RunTerms | None = None
    for wake in found.values():
        begun = wake.equipped
        if begun is not None and isinstance(begun.payload, AgentEquipped):
            terms = begun.payload.terms
        wake.terms = terms
        terms = next((one.terms for one in reversed(list(wake.said(AgentEquipped)))), terms)
    return found


def names_of(wake: RecordedWake) -> dict[IdPrefix, Iterator[str]]:
    """The names that a run gave, in their order."""
    return {
        "wak": iter([wake.id, *(one.queued_wake_id for one in wake.said(WakeQueued))]),
        "msg": iter([one.request_id for one in wake.said(ModelRequested)]),
        "cal": iter(list(_names_of_calls(wake))),
    }


def _names_of_calls(wake: RecordedWake) -> Iterator[str]:
    for event in wake.events:
        match event.payload:
            case ModelReplied(reply=reply):
                yield from (call.id for call in read_reply(reply).calls)
            case CustomToolUse(request_id=request_id) if wake.is_asked_by_the_run(request_id):
                yield request_id
            case _:
                pass


def raised_in(wake: RecordedWake) -> Exception:
    """What a run met that ended it, with the name it had."""
    named = _RAISED.fullmatch(wake.problem)
    if named is None:
        return RuntimeError(wake.problem)
    kind: type[Exception] = type(named[1], (Exception,), {})
    return kind(named[2])


def _failure(said: ModelFailed, problem: str) -> ModelError:
    """As it was met. ``problem``: why the run failed; it is kept whole."""
    told = said.message
    if len(told) == LONGEST_PROBLEM and problem.startswith(told):
        told = problem
    return ModelError(said.trouble, told, retry_after=said.retry_after)


def _reply(said: ModelReplied) -> ModelReply:
    kept = read_reply(said.reply)
    return ModelReply(
        text=kept.text,
        calls=tuple(AskedCall(one.model_call_id, one.name, one.arguments) for one in kept.calls),
        finish=kept.finish,
        usage=msgspec.convert(said.usage, ModelUsage),
        reasoning=kept.reasoning,
        opaque=kept.opaque,
        cut_calls=kept.cut_calls,
    )


def _place(event: Event) -> int:
    return event.sequence


def _next(events: Sequence[Event]) -> int:
    return events[-1].sequence + 1
