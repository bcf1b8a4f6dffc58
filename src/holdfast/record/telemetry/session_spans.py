"""One session's events as spans and metrics: wakes, questions to models, calls of tools.

    invoke_agent ─┬─ chat
                  └─ execute_tool ─┬─ permission.evaluate
                                   └─ invoke_agent (of a subagent)

Times are those of the events. Nothing is kept beyond what is open. Without a wake, calls are inside
of whatever span the program has open, or of none.
"""

from opentelemetry.context import Context
from opentelemetry.trace import set_span_in_context
from opentelemetry.util.types import AttributeValue

from holdfast.contract.events import (
    AgentMessage,
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    ChildCreated,
    ChildIdle,
    Event,
    ModelReplied,
    ModelRequested,
    SpanCompleted,
    SpanStarted,
    StatusChanged,
    StatusIdle,
)
from holdfast.contract.wake_events import ModelFailed
from holdfast.record.telemetry import attributes as names
from holdfast.record.telemetry.calls import Calls
from holdfast.record.telemetry.chats import Chats
from holdfast.record.telemetry.content import LONGEST_NAME, bounded, said_by_agent
from holdfast.record.telemetry.instruments import Instruments, Timed
from holdfast.record.telemetry.traced import TracedSession, named, nanoseconds

INVOKE_AGENT = "invoke_agent"
FAILED = "failed"
"""What `error.type` says of a wake that failed, and not because of its model."""
_SUMMED = (names.INPUT_TOKENS, names.OUTPUT_TOKENS)


class _OpenWake:
    """A wake that has no end yet, and what is to be said at it."""

    def __init__(self, wake_id: str, timed: Timed, inside: Context) -> None:
        self.id = wake_id
        self.timed = timed
        self.inside = inside
        self.tokens: dict[str, int] = {}
        self.told: dict[str, AttributeValue] = {}
        self.trouble: str | None = None
        """Why its model gave no reply, when last asked."""


class SessionSpans:
    """Hears the events of one session, in their order."""

    def __init__(self, instruments: Instruments, session: TracedSession) -> None:
        self._instruments = instruments
        self._session = session
        self._calls = Calls(instruments, session)
        self._chats = Chats(instruments, session)
        self._wake: _OpenWake | None = None
        self._latest = 0

    def asks_models_of(self, provider: str, /) -> None:
        """Say whose model it asks."""
        self._session.provider = provider

    def hear(self, event: Event, /) -> None:
        """Take one event into account."""
        at = self._latest = max(nanoseconds(event.at), self._latest)
        match event.payload:
            case (
                CallAsked()
                | ApprovalAsked()
                | ApprovalAnswered()
                | CallIntended()
                | CallRefused()
                | CallSettled()
            ) as said:
                self._calls.hear(event, said, self._inside())
            case ModelRequested() as said:
                self._chats.asks(event, said, self._inside())
                self._note(names.REQUEST_MODEL, bounded(said.model, LONGEST_NAME))
            case ModelReplied() as said:
                self._replied(said, at)
            case ModelFailed() as said:
                self._chats.failed(said, at)
                if self._wake is not None:
                    self._wake.trouble = said.trouble
            case ChildCreated() as said:
                above = self._calls.child_above(said.message) or self._inside()
                self._instruments.above[said.child_session_id] = above
            case ChildIdle() as said:
                self._instruments.above.pop(said.child_session_id, None)
            case _:
                self._of_wake(event, at)

    def close(self) -> None:
        """End what is open: nothing more is heard."""
        self._leave_wake(self._latest)
        self._calls.leave(self._latest)
        self._chats.give_up(self._latest)

    def _inside(self) -> Context:
        """Inside of what something begins now."""
        if self._wake is not None:
            return self._wake.inside
        return self._instruments.around(self._session.id)

    def _replied(self, said: ModelReplied, at: int) -> None:
        tokens = self._chats.replied(said, at)
        wake = self._wake
        if wake is not None:
            wake.trouble = None
            for name in _SUMMED:
                if name in tokens:
                    wake.tokens[name] = wake.tokens.get(name, 0) + tokens[name]

    def _of_wake(self, event: Event, at: int) -> None:
        match event.payload:
            case SpanStarted(span_kind="wake") as said:
                self._leave_wake(at)
                self._begin_wake(said, at)
            case SpanCompleted(span_kind="wake") as said:
                if self._wake is not None and self._wake.id == said.span_id:
                    self._end_wake(self._wake, said, at)
            case StatusIdle(reason=reason):
                self._note(names.WAKE_STOP, bounded(reason, LONGEST_NAME))
            case StatusChanged(to_status="rescheduling"):
                self._note(names.WAKE_STOP, "rescheduling")
            case AgentMessage(message=message) if self._session.content:
                self._note(names.OUTPUT_MESSAGES, said_by_agent(message))
            case _:
                return

    def _note(self, name: str, value: str) -> None:
        if self._wake is not None:
            self._wake.told[name] = value

    def _begin_wake(self, said: SpanStarted, at: int) -> None:
        session = self._session
        told = names.known(
            {
                names.OPERATION: INVOKE_AGENT,
                names.PROVIDER: session.provider,
                names.AGENT_ID: session.agent_id,
                names.WAKE_ID: said.span_id,
            }
        )
        around = self._instruments.around(session.id)
        span = self._instruments.tracer.start_span(
            named(INVOKE_AGENT, session.agent_name),
            context=around,
            attributes={**session.attributes(), **told},
            start_time=at,
        )
        self._wake = _OpenWake(said.span_id, Timed(span, at), set_span_in_context(span, around))

    def _end_wake(self, wake: _OpenWake, said: SpanCompleted, at: int) -> None:
        self._leave_parts(wake, at)
        error = (wake.trouble or FAILED) if said.result == "error" else None
        told = {**wake.told, **wake.tokens, names.WAKE_RESULT: said.result}
        seconds = wake.timed.end(at, told, error=error)
        measured = {names.AGENT_NAME: self._session.agent_name, names.ERROR_TYPE: error}
        self._instruments.agents.record(seconds, names.known(measured))

    def _leave_wake(self, at: int) -> None:
        """It has no end in the journal: whoever ran it could not write it down."""
        wake = self._wake
        if wake is not None:
            self._leave_parts(wake, at)
            wake.timed.leave(at, {**wake.told, **wake.tokens})

    def _leave_parts(self, wake: _OpenWake, at: int) -> None:
        self._wake = None
        self._chats.give_up(at)
        self._calls.leave(at, wake.id)
