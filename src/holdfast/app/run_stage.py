"""What a run meets that is played: a model, calls, advice, names and time, all as recorded.

No body of a tool is here, no prompt and no setting: what was recorded decides. Where a recording
has no answer, the run ended there, and ends there again.
"""

from collections.abc import Coroutine

import msgspec
from anyio import CancelScope, sleep_forever

from holdfast.agent.cut_replies import is_loops_own
from holdfast.agent.models.recorded import RecordedModel
from holdfast.agent.outfit import Outfit
from holdfast.agent.replies import TurnCall
from holdfast.agent.spending import Spending
from holdfast.app.run_journal import LedJournal
from holdfast.app.run_recording import (
    CallRecord,
    RecordedWake,
    is_given_up,
    names_of,
    raised_in,
)
from holdfast.contract.call import Ending, TimedOut, ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import CallAsked, CallSettled, Event, ModelRequested
from holdfast.contract.model import Heard, ModelReply, ModelRequest, TextDelta
from holdfast.contract.person import POSTPONED, Postponed
from holdfast.contract.ports import IdPrefix
from holdfast.contract.runtime import AbortSignal, ProgressSink
from holdfast.contract.wake_events import AgentEquipped, RunTerms
from holdfast.record.divergence import Divergence
from holdfast.runtime.abort import Abort
from holdfast.runtime.driving import driven
from holdfast.runtime.recovery import answer_text
from holdfast.runtime.session_log import SessionLog
from holdfast.runtime.trail import Approved

_STEPS = (CallAsked, CallSettled, ModelRequested)


class Stage:
    """One run of a recording, as it is played."""

    def __init__(self, journal: LedJournal, wake: RecordedWake, began: frozenset[str]) -> None:
        """``began``: the calls whose bodies were begun before this run."""
        self.journal = journal
        self.wake = wake
        self.began = began
        self.abort = Abort()
        self._time = CancelScope()
        self._program = CancelScope()
        self._ids = names_of(wake)
        journal.wake = wake
        journal.gone = self._program.cancel

    def new(self, prefix: IdPrefix) -> str:
        """The name that was given; where none was, one that nobody has."""
        return next(self._ids.get(prefix, iter(())), f"{prefix}_not_recorded")

    async def to_its_end(self, work: Coroutine[object, object, object]) -> None:
        """Play it until it ends, or until its program was gone."""
        with self._program:
            await work

    async def in_time(
        self, work: Coroutine[object, object, object], seconds: float | None
    ) -> Ending:
        """A run ends by its time where it did, however long it takes."""
        if self.is_over and self.wake.fate == "cancelled":
            self.abort.set()  # before it had asked for anything
        with self._time:
            return await driven(work, None, None)
        return TimedOut(seconds or 0.0)

    async def waited(self, _seconds: float, abort: AbortSignal) -> bool:
        """No time passes; whether the wait was broken off."""
        if self.is_over:
            await self.ends_here()
        return abort.aborted

    @property
    def is_over(self) -> bool:
        """Whether no call and no request comes any more, but for calls that are given up."""
        steps = (one.payload for one in self.journal.ahead() if isinstance(one.payload, _STEPS))
        return all(is_given_up(self.wake, one) for one in steps)

    async def ends_here(self) -> None:
        """Whatever ended the run does so now; RunDiverged where nothing did."""
        match self.wake.fate:
            case "cancelled":
                self.abort.set()
                return
            case "out_of_time":
                self._time.cancel()
            case "gone":
                await self.journal.feed_through(self.wake.last)
                self._program.cancel()
            case "raised":
                raise raised_in(self.wake)
            case "ended":
                return
        await sleep_forever()

    def unanswered(self) -> Exception:
        """A request has neither a reply nor a failure, and the run went on."""
        number = self.journal.comparison.requests
        says = f"request {number} has neither a reply nor a failure in the recording"
        event = self.journal.next
        if event is not None:
            return self.journal.comparison.diverged(event, None, says)
        place = self.journal.at + 1
        missing = Divergence(
            sequence=place, event_id="", kind="model.replied", field="$", says=says
        )
        return self.journal.comparison.stopped(missing)


class PlayedModel:
    """Says what the model said; where it never came to that, the run ended."""

    provider = "recorded"

    def __init__(self, stage: Stage, terms: RunTerms) -> None:
        self._stage = stage
        wake = stage.wake
        asked = list(wake.said(ModelRequested))
        known = [one for one in asked if one.request_id in wake.outcomes]
        self._recorded = RecordedModel(
            ((one.request_hash, wake.outcomes[one.request_id]) for one in known), name=wake.model
        )
        self.name = wake.model
        self.window = terms.window
        self.max_output_tokens = terms.max_output_tokens

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        """What was replied to the request that was just written down."""
        stage = self._stage
        if stage.journal.comparison.request_id in stage.wake.outcomes:
            return await self._recorded.complete(request, heard)
        if heard is not None and stage.wake.fate == "cancelled" and stage.wake.partial:
            heard(TextDelta(stage.wake.partial))
        if stage.wake.fate == "ended":
            raise stage.unanswered()
        await stage.ends_here()
        await sleep_forever()
        raise AssertionError

    async def close(self) -> None:
        """Nothing is held."""


class PlayedCall(msgspec.Struct, frozen=True):
    """A call that ran, and is about to be played. One after the other will do: what overlapped then
    stands in the recording as it ended."""

    call: ToolCall
    parallel_safe: bool = False

    @property
    def resource(self) -> tuple[str, ...]:
        """It touches nothing."""
        return ()


class PlayedCalls:
    """Gives the recorded answers, with all that was written on the way to them."""

    def __init__(self, stage: Stage, log: SessionLog) -> None:
        self._stage = stage
        self._log = log

    async def take(
        self,
        call: ToolCall,
        abort: AbortSignal,
        approved: Approved | None = None,
        progress: ProgressSink | None = None,
    ) -> Envelope | Postponed:
        """What came of the call."""
        admitted = await self.admit(call, abort, approved, progress)
        return await self.run(admitted) if isinstance(admitted, PlayedCall) else admitted

    async def admit(
        self,
        call: ToolCall,
        abort: AbortSignal,  # noqa: ARG002 - what it stopped is in the recording
        approved: Approved | None = None,
        progress: ProgressSink | None = None,  # noqa: ARG002 - nothing runs
    ) -> PlayedCall | Envelope | Postponed:
        """What came of it before it ran."""
        await self._log.flush()
        record = self._stage.wake.calls.get(call.id)
        if record is None:
            # It may have had leave, and waited for others of its reply; or for a person still.
            waits = approved is not None and approved.answer is None and not approved.began
            return await self._ended(None) if waits else PlayedCall(call)
        if call.id in self._stage.began or record.may_run:
            await self._stage.journal.feed_through(record.admitted)
            return PlayedCall(call)
        return await self._ended(record)

    async def run(self, admitted: PlayedCall, /) -> Envelope | Postponed:
        """What came of running it."""
        return await self._ended(self._stage.wake.calls.get(admitted.call.id))

    async def _ended(self, record: CallRecord | None) -> Envelope | Postponed:
        stage = self._stage
        if record is not None:
            await stage.journal.feed_through(record.last)
        answer = None if record is None else record.envelope
        if answer is None and record is not None and stage.wake.fate == "ended":
            # It was left open, and nothing began behind it: what comes of calls overlapped with it.
            await stage.journal.feed_through(max(one.last for one in stage.wake.calls.values()))
        if answer is None or stage.is_over:
            await stage.ends_here()
            await stage.journal.feed_from_elsewhere()  # what others used may have ended the run
        return POSTPONED if answer is None else answer


class PlayedGuide:
    """Advice as it was given, and answers that were given again."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._known: dict[str, Envelope] = {}
        """Answers of this run, by the tool and their text."""

    def held(self, call: TurnCall) -> Envelope | None:
        """The answer of before, where exactly that was written down without running the call."""
        record = self._stage.wake.calls.get(call.id)
        if record is None or record.last <= self._stage.journal.at:
            return None
        settled = record.settled
        if settled is None or not record.is_whole_without_running:
            return None
        return self._known.get(call.name + bytes(settled.envelope).decode())

    def begins(self, call: TurnCall) -> None:
        """What was given again is in the recording."""

    def record(self, call: TurnCall, envelope: Envelope) -> None:
        """The model is told this answer."""
        self._known[call.name + answer_text(envelope)] = envelope

    def notices(self, _spent: Spending, /) -> tuple[str, ...]:
        """What was told with the request that comes, beside what the loop says by itself."""
        coming = (one.payload for one in self._stage.journal.ahead())
        asked = (one for one in coming if isinstance(one, ModelRequested))
        told = next((one.notices for one in asked if one.purpose == "turn"), ())
        return tuple(one for one in told if not is_loops_own(one))


class PlayedOutfit(Outfit):
    """What an agent was told to be and which tools it was offered, as it was written down."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(tuple, tuple, bytes)
        self._stage = stage

    def anew(self, before: AgentEquipped | None) -> AgentEquipped | None:  # noqa: ARG002 - as recorded
        """What the run began with."""
        return _outfit(self._stage.wake.equipped)

    def changed(self, before: AgentEquipped | None) -> AgentEquipped | None:  # noqa: ARG002 - as recorded
        """What changed before the next request."""
        begun = self._stage.wake.equipped
        for event in self._stage.journal.ahead():
            if isinstance(event.payload, ModelRequested):
                return None
            if isinstance(event.payload, AgentEquipped) and event is not begun:
                return event.payload
        return None


def _outfit(event: Event | None) -> AgentEquipped | None:
    said = None if event is None else event.payload
    return said if isinstance(said, AgentEquipped) else None
