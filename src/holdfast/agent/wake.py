"""One wake: a bounded run over a session, from what waits to where it comes to rest.

    take in what was said → ask the model → settle its calls → write down → again

What has to be known for going on is in the journal after every step: whoever takes the session up
after this program is gone goes on from there, and nothing runs twice. A model's failure, a refusal,
a limit and an interrupt are ends of a run, not exceptions. When a wake is run is not known here.
"""

from collections.abc import Callable, Mapping

import msgspec

from holdfast.agent.asking import Asking, Heard, Stopped, Unheard
from holdfast.agent.beginning import Beginning, looked_at, reason_to_run
from holdfast.agent.cut_replies import CutReplies
from holdfast.agent.directive import enforced, taken
from holdfast.agent.endings import Ended, Rest
from holdfast.agent.given_up import given_up
from holdfast.agent.guide import Guide
from holdfast.agent.keeping import Keeper
from holdfast.agent.making_room import MakingRoom
from holdfast.agent.place import Equipment, Guiding, Workplace
from holdfast.agent.replies import TurnCall
from holdfast.agent.spending import Spending
from holdfast.agent.turns import Turn
from holdfast.contract.call import Raised, Returned, TimedOut
from holdfast.contract.events import (
    ChildIdle,
    EventsProcessed,
    Payload,
    UserInterrupt,
    UserMessage,
)
from holdfast.contract.journal import Journal, JournalError
from holdfast.contract.runtime import AbortSignal
from holdfast.contract.wake_events import WakesCompleted
from holdfast.contract.wakes import WakeEnd
from holdfast.runtime.abort import Abort, Either
from holdfast.runtime.trail import Approved

_HEARD = (ChildIdle, WakesCompleted)
"""What a run may begin with that the model is told of."""
_BROKEN_OFF = frozenset({"cancelled", "over_budget", "failed"})
"""Ends that may come in the middle of a reply's calls."""


class Wake:
    """One run over one session, by whoever holds its lease."""

    def __init__(
        self, place: Workplace, equipment: Equipment, keeper: Keeper, abort: AbortSignal
    ) -> None:
        self._place = place
        self._equipment = equipment
        self._keeper = keeper
        self._talk = keeper.talk
        self._abort = abort
        self.spent = Spending(equipment.limits, place.clock)
        """What it has used so far."""
        self._ask = Asking(place, equipment, keeper, self.spent, abort)
        self._room = MakingRoom(equipment.model, keeper, self._ask, place.clean)
        self._guide: Guiding = place.guide() if place.guide else Guide(place, equipment)
        self._pieces = CutReplies(equipment.model.max_output_tokens)
        self._standing: Mapping[str, Approved] = {}
        self._asked_for: tuple[TurnCall, ...] = ()
        """Those of a reply that is written down with the first of them."""
        self._turn: Abort | None = None
        self._continues = 0
        """How many runs before this one went on by themselves, in a row."""
        self._untold: list[Payload] = []
        """What is written down with the next step."""
        self._words: set[str] = set()
        """What people said that a turn was begun for."""
        self._notes: tuple[str, ...] = ()
        """What goes along with the first step."""

    async def __call__(self, *, goes_on: bool = False) -> WakeEnd:
        """Run it, if there is anything to do. ``goes_on``: also where nobody said anything new."""
        session_id = self._place.session_id
        journal = await self._place.log.journal()
        state, self._standing = await looked_at(self._keeper, journal, session_id)
        self._talk.begin_run()
        beginning = Beginning(self._place, self._equipment, self._talk, state, self._standing)
        reason = reason_to_run(beginning, goes_on=goes_on)
        if reason is None:
            return WakeEnd(session_id=session_id, executed=False, reason="idle")
        rest = Rest(self._place, self._keeper, state)
        self._continues = state.continues
        self._place.log.wake_id = wake_id = self._place.ids.new("wak")
        self._hear_words()
        surveying = self._place.surveying
        try:
            if surveying is not None:
                notes = await surveying.begins(reason)
                self._notes = notes if self._equipment.is_advised else ()
            self._untold += beginning.told(reason, wake_id)
            heard = any(isinstance(one, _HEARD) for one in self._untold)
            if heard and beginning.interrupt is None:  # an interrupt comes before all of it
                await self._flush()
            ended = _clean(await self._to_an_end(beginning), self._place.clean)
            if ended.ending in _BROKEN_OFF:
                await self._leave_no_call(journal)
            await rest(ended, self._untold)
            if surveying is not None:
                await surveying.rested()
        finally:
            self._place.log.wake_id = None
        return WakeEnd(
            session_id=session_id,
            executed=True,
            wake_id=wake_id,
            stop_reason=rest.stop_reason,
            ended=ended.ending,
            response=ended.message,
            problem=ended.problem,
        )

    async def _to_an_end(self, beginning: Beginning) -> Ended:
        """However it goes: what goes wrong is an end, too."""
        match await self._place.in_time(self._run(beginning), self._equipment.limits.seconds):
            case Returned(Ended() as ended):
                return ended
            case TimedOut(seconds):
                return out_of_time(seconds)
            case Raised(JournalError() as problem):
                raise problem  # nothing more can be written: whoever takes it up goes on
            case Raised(problem):
                return Ended(ending="failed", problem=f"{type(problem).__name__}: {problem}")
            case _:
                return Ended(ending="cancelled")

    async def _leave_no_call(self, journal: Journal) -> None:
        """Give up the calls that have not begun, and whatever an interrupt stops."""
        await self._place.log.flush()
        session = await journal.session(self._place.session_id)
        await self._keeper.read_up_to(session.sequence)  # what stopped it may be unread as yet
        open_calls, begun = self._talk.open_calls, session.state.calls
        stopped = self._is_interrupted()
        if stopped:
            await self._place.stop_children()
        self._untold += given_up(self._place, open_calls, begun, by_a_person=stopped)

    async def _run(self, beginning: Beginning) -> Ended:
        if beginning.interrupt is not None:
            instead = beginning.interrupt_note
            await self._keeper.tell([*beginning.interrupted(), *self._untold])
            self._untold, self._standing = [], {}
            await self._place.stop_children()
            if not (instead or self._talk.pending):
                return Ended(ending="cancelled")
        while True:
            if calls := self._asked_for or self._talk.open_calls:
                if (ended := await self._settle(calls)) is not None:
                    return ended
            elif not self._talk.unseen:
                return self._nothing_left(beginning)
            if (ended := self._over()) is not None:
                return ended
            if (ended := await self._next_reply()) is not None:
                return ended

    def _nothing_left(self, beginning: Beginning) -> Ended:
        """There is nothing to tell the model: what waits is taken into account by that."""
        if pending := tuple(self._talk.pending):
            self._untold.append(EventsProcessed(event_ids=pending))
        asks = beginning.state.custom
        waits = asks is not None and asks.answered_by is None
        return Ended(ending="requires_action" if waits else "final_response")

    def _unheard(self, found: Unheard | Stopped) -> Ended:
        clean = self._place.clean
        if isinstance(found, Stopped):
            return Ended(ending="cancelled", message=clean(found.partial))
        problem = found.problem
        return Ended(
            ending="failed",
            problem=clean(str(problem)),
            again=problem.retryable,
            not_before=problem.retry_after,
        )

    def _final(self, text: str) -> Ended:
        if not self._equipment.directives:
            return Ended(ending="final_response", message=text)
        visible, directive = taken(text, self._talk.began)
        return Ended(
            ending="final_response",
            message=visible,
            directive=enforced(directive, self._continues, self._equipment.limits.continues),
        )

    def _over(self) -> Ended | None:
        if self._abort.aborted or self._is_interrupted():
            return Ended(ending="cancelled")
        said = self._pieces.said
        if (problem := self.spent.over()) is not None:
            return Ended(ending="over_budget", message=said, problem=problem)
        if self.spent.rounds_left <= 0 and not self._pieces.is_free:
            problem = f"{self.spent.rounds} rounds"
            return Ended(ending="iteration_cap", message=said, problem=problem)
        return None

    async def _next_reply(self) -> Ended | None:
        """Ask the model; its last words end the run."""
        await self._keeper.catch_up()
        self._hear_words()
        free = self._pieces.is_free
        heard = await self._heard()
        if not isinstance(heard, Heard):
            return self._unheard(heard)
        self.spent.rounds += not free
        reply, seen = heard.kept, heard.seen
        self._untold = [heard.event, *([EventsProcessed(event_ids=seen)] if seen else [])]
        if (ended := self._pieces.note(reply)) is not None:
            return ended
        if reply.calls:
            self._place.log.hold(self._untold)
            self._untold, self._asked_for = [], reply.calls
            self._keeper.as_written = {call.id: call for call in reply.calls}
            return None
        if self._pieces.notices:
            await self._flush()
            return None
        return self._final(self._place.clean(self._pieces.said))

    async def _heard(self) -> Heard | Unheard | Stopped:
        """What the model says, with room made for it, once more where its provider wants it."""
        if self._room.is_needed():
            await self._flush()
            made = await self._room()
            if not isinstance(made, bool):
                return made
        notices = (*self._notes, *self._guide.notices(self.spent), *self._pieces.notices)
        self._notes = ()
        if (equipped := self._place.outfit.changed(self._talk.equipped)) is not None:
            self._untold.append(equipped)
        told, self._untold = self._untold, []
        heard = await self._ask(notices, told)
        if not isinstance(heard, Unheard) or heard.problem.trouble != "context_length":
            return heard
        made = await self._room(refused=True)
        if not isinstance(made, bool):
            return made
        return await self._ask(notices, ()) if made else heard

    async def _settle(self, calls: tuple[TurnCall, ...]) -> Ended | None:
        """Take the calls of the last reply to their answers, as far as they go."""
        await self._flush()
        self._asked_for = ()
        self._turn = Abort()
        stop = Either(self._abort, self._turn)
        turn = Turn(self._place, self._equipment, self._standing, self._guide, stop)
        written = [self._keeper.as_written.get(call.id, call) for call in calls]
        try:
            end = await turn(written)
        finally:
            self._turn = None
        await self._keeper.catch_up()
        for call in calls:
            if call.id in turn.answers:
                self._guide.record(call, turn.answers[call.id])
        self._note_answers()
        if end == "waits":
            return Ended(ending="requires_action", waiting=self._talk.open_calls)
        if end == "completed":
            return Ended(ending="final_response", message=_summary(calls, turn))
        if self._abort.aborted or self._is_interrupted():
            return Ended(ending="cancelled")
        refused = end == "refused" and self._equipment.interactive
        return Ended(ending="tool_rejected") if refused else None

    def interrupt_calls(self) -> bool:
        """Stop the calls that run now; whether there were any."""
        if self._turn is None:
            return False
        self._turn.set()
        return True

    def _note_answers(self) -> None:
        """What people and the application said to calls is taken into account with their end."""
        approvals = {one.approval_id for one in self._standing.values()}
        known = {*self._standing, *(approvals - {None})}
        answered = tuple(
            event_id
            for event_id, said in self._talk.pending.items()
            if getattr(said, "request_id", None) in known
        )
        if answered:
            self._untold.append(EventsProcessed(event_ids=answered))
        self._standing = {}

    def _is_interrupted(self) -> bool:
        """Whether a person stops the run; those before it were taken into account by its begin."""
        return any(isinstance(one, UserInterrupt) for one in self._talk.pending.values())

    def _hear_words(self) -> None:
        """With what a person says a turn begins: what is counted by turns is counted anew."""
        pending = self._talk.pending.items()
        words = {name for name, said in pending if isinstance(said, UserMessage)} - self._words
        if words:
            self._words |= words
            self._place.new_turn()

    async def _flush(self) -> None:
        if self._untold:
            # Before it is written: whoever is stopped meanwhile must not write it twice.
            told, self._untold = self._untold, []
            await self._keeper.tell(told)


def out_of_time(seconds: float) -> Ended:
    """How a run ends that has taken all of its time."""
    problem = f"this run has taken its {seconds:g} seconds (limits.seconds)"
    return Ended(ending="over_budget", problem=problem)


def _summary(calls: tuple[TurnCall, ...], turn: Turn) -> str:
    """What the agent says that it did."""
    for call in calls:
        envelope = turn.answers.get(call.id)
        if call.name == "complete" and envelope is not None and envelope.failure is None:
            result = envelope.result
            return str(result.get("text", "")) if isinstance(result, dict) else ""
    return ""


def _clean(ended: Ended, clean: Callable[[str], str]) -> Ended:
    """Without secrets: it is written down, and shown."""
    problem = None if ended.problem is None else clean(ended.problem)
    return msgspec.structs.replace(ended, message=clean(ended.message), problem=problem)
