"""How a run ends, and what is written down so that whoever comes next knows where it stands."""

from collections.abc import Iterator, Sequence, Set
from datetime import datetime, timedelta

import msgspec

from holdfast.agent.beginning import MOST_ATTEMPTS, stopped_by
from holdfast.agent.conversation import RETRY
from holdfast.agent.directive import (
    CustomToolRequest,
    Directive,
    new_learnings,
    stop_reason,
    wanted_wakes,
)
from holdfast.agent.keeping import Keeper
from holdfast.agent.place import Workplace
from holdfast.agent.replies import TurnCall
from holdfast.agent.spans import WAKE_SPAN, use_of
from holdfast.agent.telling_above import tell_above
from holdfast.contract.events import (
    AgentMessage,
    ChildWaits,
    CustomToolUse,
    EventsProcessed,
    InquiryAsked,
    Payload,
    SpanCompleted,
    SpanResult,
    StatusChanged,
    StatusIdle,
    StopReason,
    ToolUse,
    UserInterrupt,
)
from holdfast.contract.journal import EventQuery
from holdfast.contract.json_value import decode_json, encode_json
from holdfast.contract.session_state import SessionState
from holdfast.contract.wake_events import (
    PARKED_UNTIL,
    DirectiveTaken,
    LearningCaptured,
    WakeDeferred,
    WakeQueued,
)
from holdfast.contract.wakes import RunEnd

SUMMARY_CHARACTERS = 220
MOST_PASSING = 100
"""The same for what may pass, such as an outage of hours."""
AGAIN_SECONDS, LONGEST_AGAIN = 5.0, 300.0
LONGEST_OBEYED = 86_400.0
"""How long a session is left alone at most because a provider asks for it."""
MOST_WAKES_WAITING = 100
"""So many runs that an agent asked for may be to come."""
_TO_CONFIRM = frozenset({"waiting", "answered"})
_IN_QUESTION = _TO_CONFIRM | {"inquiring", "replied"}
"""How far a call has come that a run waits for, whether somebody has answered by now or not: the
last of them is the one, as people are asked about one after the other."""
_BLOCKING = ("agent.tool_use", "agent.custom_tool_use", "inquiry.asked", "session.child_waits")


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a run."""

    ending: RunEnd
    message: str = ""
    """The last words of the agent."""
    problem: str | None = None
    waiting: tuple[TurnCall, ...] = ()
    """Calls that wait for somebody."""
    again: bool = False
    """Of a failure: it may pass."""
    not_before: float | None = None
    """For how many seconds the provider wants to be left alone."""
    directive: Directive | None = None
    """How the agent wants to go on."""


_RESULTS: dict[RunEnd, SpanResult] = {
    "final_response": "success",
    "ended_by_surface": "success",
    "iteration_cap": "success",
    "over_budget": "success",
    "failed": "error",
}


class Rest:
    """Brings a session to rest."""

    def __init__(self, place: Workplace, keeper: Keeper, state: SessionState) -> None:
        """``state``: before the run."""
        self._place = place
        self._keeper = keeper
        self._before = state
        self.stop_reason: StopReason = "idle"

    async def __call__(self, ended: Ended, untold: Sequence[Payload]) -> None:
        """Write the end down, with what is still to be told."""
        span = SpanCompleted(
            span_id=self._place.log.wake_id or "",
            span_kind="wake",
            name=WAKE_SPAN,
            summary=summary_of(ended),
            result=_RESULTS.get(ended.ending, "blocked"),
        )
        if ended.ending == "requires_action":
            paused = await self._blocked(ended, untold)
            await self._tell_above(ended, paused.summary)
            await self._keeper.tell([paused, span])
            return
        if ended.directive is not None and ended.directive.custom_tool_request is not None:
            asked = await self._asked_outside(ended, ended.directive, untold)
            await self._tell_above(ended, summary_of(ended))
            await self._keeper.tell([asked, span])
            return
        told = [*untold, *self._told(ended), span]
        await self._tell_above(ended, ended.message or summary_of(ended))
        await self._keeper.tell(told)

    async def _tell_above(self, ended: Ended, said: str) -> None:
        """Whoever delegated the work hears that it rests; not while it is only left for later."""
        is_left = ended.ending == "cancelled" and not self._is_interrupted()
        again = ended.ending == "failed" and self.stop_reason == "idle"
        if not (is_left or again or self.stop_reason == "rescheduling"):
            await tell_above(self._place, self._before, self.stop_reason, said)

    def _is_interrupted(self) -> bool:
        """Whether a person stopped it, before the run or in it."""
        pending = self._keeper.talk.pending
        return bool(self._before.interrupts) or any(map(_is_interrupt, pending.values()))

    def _told(self, ended: Ended) -> Iterator[Payload]:
        if ended.message:
            yield AgentMessage(message=ended.message, summary=summary_of(ended))
        if ended.ending == "failed":
            yield from self._failed(ended)
            return
        summary = summary_of(ended)
        if ended.directive is not None:
            yield from self._directed(ended.directive)
            self.stop_reason = stop_reason(ended.directive)
        pending = self._keeper.talk.pending
        if ended.ending == "cancelled" and any(map(_is_interrupt, pending.values())):
            # What to do instead is for the next run to hear.
            words = {name for name, said in pending.items() if getattr(said, "note", None)}
            yield EventsProcessed(
                event_ids=tuple(one for one in stopped_by(pending) if one not in words)
            )
        if self.stop_reason == "rescheduling":
            yield StatusChanged(from_status="running", to_status="rescheduling", reason=summary)
        else:
            yield StatusIdle(reason="idle", summary=summary)

    def _directed(self, directive: Directive) -> Iterator[Payload]:
        """What a directive leaves behind: the wakes it asks for, and what was learned."""
        yield DirectiveTaken(
            outcome=directive.outcome,
            summary=directive.summary,
            enforced_by_runtime=directive.enforced_by_runtime,
        )
        for learning in new_learnings(directive.learnings, self._keeper.talk.learned):
            yield LearningCaptured(
                learning_kind=learning.kind,
                title=learning.title,
                detail=learning.detail,
                promote_to_memory=learning.promote_to_memory,
                dedupe_key=learning.dedupe_key,
            )
        began = self._keeper.talk.began
        room = max(MOST_WAKES_WAITING - len(self._keeper.talk.wakes), 0)
        for wake in wanted_wakes(directive, self._place.session_id, began)[:room]:
            yield WakeQueued(
                queued_wake_id=self._place.ids.new("wak"),
                due_at=wake.due_at,
                reason=wake.reason,
                note=wake.note,
                dedupe_key=wake.dedupe_key,
                priority=wake.priority,
            )

    async def _asked_outside(
        self, ended: Ended, directive: Directive, untold: Sequence[Payload]
    ) -> StatusIdle:
        """The application is asked for something, in place of last words."""
        self.stop_reason = "requires_action"
        request = directive.custom_tool_request or CustomToolRequest(name="")
        used = CustomToolUse(
            request_id=self._place.ids.new("cal"),
            tool_name=request.name,
            input=decode_json(self._place.clean_json(encode_json(request.input))),
        )
        told = await self._keeper.tell([*untold, *self._directed(directive), used])
        return StatusIdle(
            reason="requires_action",
            summary=summary_of(ended),
            blocking_event_ids=(told[-1].id,),
        )

    def _failed(self, ended: Ended) -> Iterator[Payload]:
        """What may pass is tried again soon; what fails again and again waits for a person."""
        # One that never came to an end counts, too.
        attempt = self._before.attempts + 1 + (self._before.status == "running")
        summary = f"Wake failed: {ended.problem}"
        if attempt >= (MOST_PASSING if ended.again else MOST_ATTEMPTS):
            self.stop_reason = "requires_action"
            times = f"Wake failed {attempt} times in a row: {ended.problem}"
            yield WakeDeferred(until=PARKED_UNTIL, attempt=attempt, reason=times)
            yield StatusIdle(reason="requires_action", summary=times)
            return
        until = self._place.clock.now() + timedelta(seconds=pause_behind(ended, attempt))
        yield WakeDeferred(until=until, attempt=attempt, reason=summary)
        if not self._keeper.talk.pending:
            yield retry_wake(self._place, until)
        if ended.again:
            self.stop_reason = "rescheduling"
            yield StatusChanged(from_status="running", to_status="rescheduling", reason=summary)
        else:
            yield StatusIdle(reason="failed", summary=summary)

    async def _blocked(self, ended: Ended, untold: Sequence[Payload]) -> StatusIdle:
        """What a pause tells: what waits, for whom, and which events say so."""
        self.stop_reason = "requires_action"
        journal = await self._place.log.journal()
        session_id = self._place.session_id
        state = (await journal.session(session_id)).state
        if not ended.waiting:  # what the run itself asked for, and had not told as yet
            await self._keeper.tell(untold)
            asks = state.custom
            name, request = ("", None) if asks is None else (asks.name, asks.id)
            return await self._blocked_by({request}, f"Awaiting an answer for {name}.")
        known_calls = state.calls
        asked = (one for one in ended.waiting if one.id in known_calls)
        in_question = [one for one in asked if known_calls[one.id].stage in _IN_QUESTION]
        call = in_question[-1] if in_question else ended.waiting[0]
        approval = known_calls[call.id].approval_id if call.id in known_calls else None
        asks = approval is not None and known_calls[call.id].stage in _TO_CONFIRM
        known = state.confirmation is not None and state.confirmation.id == approval
        used = use_of(call, self._place.tool(call.name), None, approval)
        await self._keeper.tell([*untold, *([used] if asks and not known else [])])
        summary = f"Awaiting {'confirmation to run' if asks else 'an answer for'} {call.name}."
        return await self._blocked_by({approval, call.id}, summary)

    async def _blocked_by(self, wanted: Set[str | None], summary: str) -> StatusIdle:
        """A pause, with the event that says what for."""
        journal = await self._place.log.journal()
        query = EventQuery(types=_BLOCKING, limit=50)
        found = await journal.find(self._place.session_id, query)
        ids = tuple(one.id for one in found if _asks_for(one.payload) in wanted)
        return StatusIdle(reason="requires_action", summary=summary, blocking_event_ids=ids[-1:])


def pause_behind(ended: Ended, attempt: int) -> float:
    """How long a session is left alone whose run has failed, so often in a row."""
    if not ended.again:
        return min(2.0**attempt, 30.0)
    usual = min(AGAIN_SECONDS * 2.0 ** min(attempt - 1, 10), LONGEST_AGAIN)
    return max(usual, min(ended.not_before or 0.0, LONGEST_OBEYED))


def retry_wake(place: Workplace, until: datetime) -> WakeQueued:
    """Nobody's words wait: a wake of its own keeps the session from being forgotten."""
    return WakeQueued(
        queued_wake_id=place.ids.new("wak"),
        due_at=until,
        reason=RETRY,
        dedupe_key=f"retry:{place.session_id}:{RETRY}",
    )


def _is_interrupt(said: Payload) -> bool:
    return isinstance(said, UserInterrupt)


def _asks_for(said: Payload) -> str | None:
    """What an event that blocks a session waits for."""
    match said:
        case ToolUse(request_id=request_id) | CustomToolUse(request_id=request_id):
            return request_id
        case InquiryAsked(call_id=call_id) | ChildWaits(call_id=call_id):
            return call_id
        case _:
            return None


def summary_of(ended: Ended) -> str:
    """The end of a run in a line."""
    if ended.directive is not None:
        return ended.directive.summary
    if ended.message:
        return ended.message[:SUMMARY_CHARACTERS]
    said = _SAID[ended.ending]
    return f"{said}: {ended.problem}" if ended.problem else said


_SAID: dict[RunEnd, str] = {
    "final_response": "Done",
    "iteration_cap": "Stopped at the limit of rounds; a person should review what was done",
    "tool_rejected": "Stopped: a person refused a call",
    "cancelled": "Interrupted",
    "ended_by_surface": "Ended",
    "over_budget": "Stopped at a limit",
    "requires_action": "Waits for a person",
    "failed": "Wake failed",
}
