"""The calls of a session as spans `execute_tool`, with the decisions over them inside.

A call's span is made when it has ended, or when something is to be inside of it: only then it is
known when it began. What can change nothing is written down all at once, and how long it took
stands in its answer.
"""

import msgspec
from opentelemetry.context import Context
from opentelemetry.trace import set_span_in_context
from opentelemetry.util.types import AttributeValue

from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    Event,
)
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import decode_json
from holdfast.record.telemetry import attributes as names
from holdfast.record.telemetry.content import LONGEST_NAME, bounded
from holdfast.record.telemetry.decisions import SPAN, Decisions
from holdfast.record.telemetry.instruments import Instruments, Timed
from holdfast.record.telemetry.traced import TracedSession, named, nanoseconds

EXECUTE_TOOL = "execute_tool"
OTHER = "_OTHER"
"""In place of what a metric must not have many of."""
_KINDS = frozenset(FailureKind)
_DENIED = frozenset({FailureKind.REJECTED, FailureKind.USER_DENIED})
_MILLISECOND = 1_000_000

CallStep = CallAsked | ApprovalAsked | ApprovalAnswered | CallIntended | CallRefused | CallSettled


class _Measured(msgspec.Struct):
    """What the runtime measured of a call."""

    duration_ms: int | None = None
    truncated: bool = False


class _Answer(msgspec.Struct):
    """What an envelope says at a glance."""

    ok: bool = False
    kind: str | None = None
    metadata: _Measured = msgspec.field(default_factory=_Measured)

    @property
    def error(self) -> str | None:
        """The kind of its failure; one of few words."""
        if self.ok:
            return None
        return self.kind if self.kind in _KINDS else OTHER

    @property
    def took(self) -> int:
        """How long it ran, in nanoseconds."""
        return max(self.metadata.duration_ms or 0, 0) * _MILLISECOND


class _OpenCall:
    """A call that has no end yet."""

    def __init__(self, session: TracedSession, event: Event, parent: Context) -> None:
        self.tool: str | None = None
        self.began = nanoseconds(event.at)
        self.wake_id = event.wake_id
        self.parent = parent
        self.decisions = Decisions(session)
        self.asked: CallAsked | None = None
        self.intended: CallIntended | None = None
        self.timed: Timed | None = None
        self.has_child = False

    def told(self) -> object:
        """Its arguments, decoded."""
        try:
            return decode_json("" if self.asked is None else self.asked.arguments)
        except ValueError:
            return None


class Calls:
    """The calls of one session."""

    def __init__(self, instruments: Instruments, session: TracedSession) -> None:
        self._instruments = instruments
        self._session = session
        self._open: dict[str, _OpenCall] = {}

    def hear(self, event: Event, said: CallStep, parent: Context) -> None:
        """A call came one step further. ``parent``: inside of what it is, if it is new."""
        call = self._open.get(said.call_id)
        if call is None:
            call = self._open[said.call_id] = _OpenCall(self._session, event, parent)
        if not isinstance(said, ApprovalAnswered):
            call.tool = said.tool
        at = nanoseconds(event.at)
        match said:
            case CallAsked():
                call.asked = said
            case ApprovalAsked():
                call.decisions.asks(said, at)
            case ApprovalAnswered():
                call.decisions.answered(said, at)
            case CallIntended():
                call.intended = said
                call.decisions.allows(said, at)
            case CallRefused():
                call.decisions.denies(said, at)
            case CallSettled():
                self._settled(call, said, at)

    def child_above(self, message: str) -> Context | None:
        """Inside of which call a subagent begins that is told this; None: none that runs."""
        running = {
            call_id: call
            for call_id, call in self._open.items()
            if call.intended is not None and not call.has_child
        }
        fitting = [one for one in running.items() if _holds(one[1].told(), message)]
        found = fitting or (list(running.items()) if len(running) == 1 else [])
        if not found:
            return None
        call_id, call = found[0]
        call.has_child = True
        timed = self._timed(call_id, call, call.began)
        return set_span_in_context(timed.span, call.parent)

    def leave(self, at: int, wake_id: str | None = None) -> None:
        """Nothing more is heard of open calls, or of those of a wake: they wait for somebody."""
        for call_id, call in list(self._open.items()):
            if wake_id is None or call.wake_id == wake_id:
                del self._open[call_id]
                call.decisions.ends_question(at)
                timed = self._timed(call_id, call, call.began)
                self._decided(call_id, call, timed, at)
                timed.leave(at, {})

    def _settled(self, call: _OpenCall, said: CallSettled, at: int) -> None:
        del self._open[said.call_id]
        answer = _read(said)
        denied = answer.error in _DENIED
        call.decisions.ends_question(at, allowed=False if denied else None)
        ran_from = at - answer.took
        unknown = answer.error == FailureKind.TOOL_NOT_FOUND
        timed = self._timed(said.call_id, call, min(call.began, ran_from), unknown=unknown)
        self._decided(said.call_id, call, timed, ran_from)
        result = self._session.told(bytes(said.envelope).decode("utf-8", "replace"))
        told = names.known(
            {
                names.DURATION: answer.metadata.duration_ms,
                names.TRUNCATED: answer.metadata.truncated,
                names.REPAIRS: _repairs(call),
                names.TOOL_RESULT: result,
            }
        )
        seconds = timed.end(at, told, error=answer.error)
        measured: dict[str, AttributeValue | None] = {
            names.TOOL_NAME: OTHER if unknown else bounded(call.tool or OTHER, LONGEST_NAME),
            names.TOOL_TYPE: "function",
            names.AGENT_NAME: self._session.agent_name,
            names.ERROR_TYPE: answer.error,
        }
        self._instruments.tools.record(seconds, names.known(measured))

    def _timed(self, call_id: str, call: _OpenCall, began: int, *, unknown: bool = False) -> Timed:
        """The call's span. ``unknown``: no such tool is there, so that its name names nothing."""
        if call.timed is None:
            asked = call.asked
            by_model = None if asked is None else asked.model_call_id
            told: dict[str, AttributeValue | None] = {
                names.OPERATION: EXECUTE_TOOL,
                **self._of_call(call_id, call),
                names.TOOL_TYPE: "function",
                names.TOOL_CALL_ID: bounded(by_model or call_id, LONGEST_NAME),
                names.WAKE_ID: call.wake_id,
                names.TOOL_ARGUMENTS: self._session.told(asked.arguments if asked else None),
            }
            span = self._instruments.tracer.start_span(
                named(EXECUTE_TOOL, None if unknown else call.tool),
                context=call.parent,
                attributes=names.known(told),
                start_time=began,
            )
            call.timed = Timed(span, began)
        return call.timed

    def _decided(self, call_id: str, call: _OpenCall, timed: Timed, most: int) -> None:
        """A span for each decision; none of them came after ``most``."""
        inside = set_span_in_context(timed.span, call.parent)
        for one in call.decisions.taken():
            began = max(min(one.began, most), timed.began)
            span = self._instruments.tracer.start_span(
                SPAN,
                context=inside,
                attributes={**self._of_call(call_id, call), **one.attributes},
                start_time=began,
            )
            span.end(max(min(one.ended, most), began))

    def _of_call(self, call_id: str, call: _OpenCall) -> dict[str, AttributeValue]:
        tool = None if call.tool is None else bounded(call.tool, LONGEST_NAME)
        told = names.known({names.TOOL_NAME: tool, names.CALL_ID: call_id})
        return {**self._session.attributes(), **told}


def _read(said: CallSettled) -> _Answer:
    try:
        return msgspec.json.decode(said.envelope, type=_Answer)
    except (msgspec.DecodeError, UnicodeError):
        return _Answer()


def _repairs(call: _OpenCall) -> tuple[str, ...] | None:
    made = () if call.intended is None else call.intended.repairs
    return tuple(dict.fromkeys(one.repair for one in made)) or None


def _holds(arguments: object, message: str) -> bool:
    return isinstance(arguments, dict) and message in arguments.values()
