"""A recorded agent run, run once more: the real loop over what was recorded, and nothing that acts.

What people said, what models replied and what calls answered is taken from the recording, and so
are names, times, prompts and settings. All that the loop makes of it is compared, and the first
event that is another one is named. No process is started and no network reached.
"""

from collections.abc import Mapping, Sequence

import msgspec

from holdfast.agent.conversation import Conversation
from holdfast.agent.keeping import Keeper
from holdfast.agent.place import Equipment, Workplace
from holdfast.agent.replies import read_reply
from holdfast.agent.wake import Wake
from holdfast.app.run_comparison import RunDiverged
from holdfast.app.run_journal import LedJournal
from holdfast.app.run_recording import (
    RecordedWake,
    limits_of,
    recorded_wakes,
    takes_a_turn,
)
from holdfast.app.run_stage import (
    PlayedCalls,
    PlayedGuide,
    PlayedModel,
    PlayedOutfit,
    Stage,
)
from holdfast.contract.events import (
    CallIntended,
    Event,
    ModelReplied,
    SessionCreated,
    SpanStarted,
    ToolUse,
)
from holdfast.contract.journal import Journal, JournalError
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.contract.tool import Body, Tool
from holdfast.contract.wake_events import RunBounded, RunTerms
from holdfast.envelope.redact import Redactor
from holdfast.execution.no_effects import no_effects
from holdfast.record.codec import IMPORTED, Chain
from holdfast.record.divergence import Divergence, not_vouched_for
from holdfast.runtime.applications import Applications
from holdfast.runtime.people import People
from holdfast.runtime.replaying import ReplayClock
from holdfast.runtime.session_log import SessionLog

_HOLDER = "replay"
_IMPORTED = (
    "this session was imported: who wrote it down here was not there, and its run cannot be held"
    " against anything; replay it where it was recorded"
)
_NO_RUN = (
    "no agent ran in this session, so there is no run to replay; --strict settles its calls once"
    " more"
)
_NO_TERMS = (
    "this session does not tell what its runs went by (limits, the model's window): it was recorded"
    " by an older holdfast; replay it without --run"
)


class RunReplayed(msgspec.Struct, frozen=True, kw_only=True):
    """How it went."""

    divergence: Divergence | None = None
    events_compared: int = 0
    """How many events the runs wrote again; all others were put in as they came."""
    requests_compared: int = 0
    wakes: int = 0


async def replay_run(events: Sequence[Event], chain: Chain | None = None) -> RunReplayed:
    """Run the wakes of a recorded session once more, and name the first event that is another one.

    JournalError for what cannot be run again. ``chain``: what vouches for the journal, to be asked
    first.
    """
    wakes = _wakes(events)
    found = _out_of_place(events) or (None if chain is None else not_vouched_for(events, chain))
    if found is not None:
        return RunReplayed(divergence=found)
    asked = _asked_by_models(events)
    if isinstance(asked, Divergence):
        return RunReplayed(divergence=asked)
    seen: dict[str, int] = {}
    first: RunReplayed | None = None
    with no_effects():
        while True:
            replay = _Replay(events, wakes, asked, seen)
            found = await replay.run()
            first = first or found
            if found.divergence is None or not replay.saw_less():
                return first if found.divergence is not None else found


class _Replay:
    """The replay of one session."""

    def __init__(
        self,
        events: Sequence[Event],
        wakes: Mapping[str, RecordedWake],
        asked: frozenset[str],
        seen: dict[str, int],
    ) -> None:
        """``seen``: by the names of runs, what they had seen when they began, where that is not all
        that others had written."""
        self._events = events
        self._wakes = wakes
        self._seen = seen
        self._clock = ReplayClock()
        self._journal = LedJournal(events, self._clock, asked)
        self._played = 0
        self._run: Wake | None = None
        self._began: set[str] = set()
        self._tools = _tools(events)

    async def run(self) -> RunReplayed:
        comparison = self._journal.comparison
        try:
            await self._all()
        except RunDiverged:
            pass  # it is remembered
        finally:
            await self._journal.close()
        return RunReplayed(
            divergence=comparison.divergence,
            events_compared=comparison.compared,
            requests_compared=comparison.requests,
            wakes=self._played,
        )

    async def _all(self) -> None:
        journal = self._journal
        await journal.feed_through(1)
        log = await self._log()

        def told(event: Event) -> None:
            for heard in log.listeners:
                heard(event)
            if self._run is not None:
                self._run.spent.charge_child(event.payload)

        journal.told = told
        keeper = Keeper(log, Conversation())
        for wake in self._wakes.values():
            await self._wake(wake, log, keeper)
            if wake.end is None:  # whoever took the session up read it anew
                keeper.close()
                keeper = Keeper(log, Conversation())
        journal.wake = None
        await journal.feed_from_elsewhere()

    def saw_less(self) -> bool:
        """Have the run that went another way see one event less when it begins; whether it can.

        What others wrote right before its first event may have come between its look and that.
        """
        wake = self._journal.wake
        if wake is None:
            return False
        last = self._seen.get(wake.id, wake.first.sequence - 1)
        if last < 1 or self._events[last - 1].wake_id is not None:
            return False
        self._seen[wake.id] = last - 1
        return True

    async def _log(self) -> SessionLog:
        async def opening() -> Journal:
            return self._journal

        created = self._events[0].payload
        assert isinstance(created, SessionCreated)
        session_id = self._events[0].session_id
        log = SessionLog(opening, created, session_id, _HOLDER, self._clock)
        await log.take_up(lambda _holder: True)
        return log

    async def _wake(self, wake: RecordedWake, log: SessionLog, keeper: Keeper) -> None:
        """Play one run; RunDiverged."""
        assert wake.terms is not None
        stage = Stage(self._journal, wake, frozenset(self._began))
        self._journal.seen = seen = self._seen.get(wake.id)
        if seen is not None or not takes_a_turn(wake):  # else its first request tells what it saw
            await self._journal.feed_from_elsewhere(seen)
        self._clock.set(wake.first.at)
        place = self._place(stage, log, keeper)
        run = self._run = Wake(place, _equipment(stage, wake.terms), keeper, stage.abort)
        await stage.to_its_end(run(goes_on=True))
        comparison, left = self._journal.comparison, self._journal.ahead()
        if comparison.divergence is not None:
            raise RunDiverged(comparison.divergence)
        if left:
            raise comparison.diverged(left[0], None, "the run ends before it")
        self._played += 1
        self._began |= {one.call_id for one in wake.said(CallIntended)}

    def _place(self, stage: Stage, log: SessionLog, keeper: Keeper) -> Workplace:
        nothing_secret = Redactor(())
        return Workplace(
            session_id=self._events[0].session_id,
            log=log,
            talk=keeper.talk,
            pipeline=PlayedCalls(stage, log),
            people=People(None, None, nothing_secret, self._clock),
            applications=Applications(None, nothing_secret),
            clock=self._clock,
            ids=stage,
            tool=self._tools.get,
            outfit=PlayedOutfit(stage),
            running_children=lambda: frozenset(keeper.talk.children) - stage.wake.lost,
            stop_children=self._journal.others_are_heard,
            tells_above=lambda: False,
            todos=tuple,
            witness=None,
            new_turn=lambda: None,
            clean=lambda text: text,
            clean_json=lambda text: text,
            waited=stage.waited,
            in_time=stage.in_time,
            guide=lambda: PlayedGuide(stage),
        )


def _equipment(stage: Stage, terms: RunTerms) -> Equipment:
    return Equipment(
        model=PlayedModel(stage, terms),
        limits=limits_of(stage.wake) or terms.limits,
        goes_on=any(stage.wake.said(RunBounded)),
        directives=terms.directives,
        guidance=terms.guidance,
        tools_off=terms.tools_off,
        managed=terms.managed,
        interactive=terms.interactive,
    )


def _wakes(events: Sequence[Event]) -> Mapping[str, RecordedWake]:
    """The runs; JournalError where there is nothing that can be run again."""
    if not events or not isinstance(events[0].payload, SessionCreated):
        raise JournalError("the recording does not begin with the beginning of its session")
    if events[0].previous == IMPORTED:
        raise JournalError(_IMPORTED)
    wakes = recorded_wakes(events)
    if not wakes:
        raise JournalError(_NO_RUN)
    if any(wake.terms is None for wake in wakes.values()):
        raise JournalError(_NO_TERMS)
    return wakes


def _out_of_place(events: Sequence[Event]) -> Divergence | None:
    """Where a number is left out, or given twice."""
    for place, event in enumerate(events, 1):
        if event.sequence != place:
            return Divergence(
                sequence=place,
                event_id=event.id,
                kind=event.type,
                field="$.sequence",
                before=event.sequence,
                after=place,
                says="an event is missing here, or stands twice",
            )
    return None


def _asked_by_models(events: Sequence[Event]) -> frozenset[str] | Divergence:
    """The calls that replies ask for; or the reply that cannot be read."""
    asked: set[str] = set()
    for event in events:
        if not isinstance(event.payload, ModelReplied):
            continue
        try:
            asked.update(call.id for call in read_reply(event.payload.reply).calls)
        except msgspec.ValidationError as problem:
            return Divergence(
                sequence=event.sequence,
                event_id=event.id,
                kind=event.type,
                field="$.reply",
                before=event.payload.reply,
                says=f"it is no reply that can be read: {problem}",
            )
    return frozenset(asked)


def _tools(events: Sequence[Event]) -> Mapping[str, Tool]:
    """What is told of tools around their calls."""
    known: dict[str, Tool] = {}
    for event in events:
        match event.payload:
            case SpanStarted(span_kind="tool", name=name, summary=summary):
                known[name] = msgspec.structs.replace(_tool(known, name), description=summary)
            case ToolUse(tool_name=name) as used:
                known[name] = msgspec.structs.replace(
                    _tool(known, name),
                    ownership=used.ownership,
                    permission_policy=used.permission_policy,
                )
            case _:
                pass
    return known


def _tool(known: Mapping[str, Tool], name: str) -> Tool:
    body = Body(style="inline", invoke=_never)
    fresh = Tool(name=name, description=None, requires=NOTHING_REQUIRED, body=body)
    return known.get(name, fresh)


def _never(*_given: object) -> object:
    raise AssertionError("a replay runs no tool")
