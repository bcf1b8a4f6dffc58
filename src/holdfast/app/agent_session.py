"""A session that an agent runs in: what a person says goes in, and what happens comes out.

It stands on an open `Holdfast`, whose calls and journal it uses. How a run goes is `agent`'s to
know; which model and which agent is decided by whoever opens it.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial

import msgspec
from anyio import CancelScope, get_cancelled_exc_class

from holdfast.agent.beginning import LOST
from holdfast.agent.context.budget import PromptNames
from holdfast.agent.conversation import Conversation
from holdfast.agent.keeping import Keeper
from holdfast.agent.outfit import Outfit
from holdfast.agent.place import Equipment, Workplace
from holdfast.agent.spending import Spending
from holdfast.agent.wake import Wake
from holdfast.app import carrying
from holdfast.app.assembly import Whole
from holdfast.app.compacting import compacted
from holdfast.app.control.serving import served
from holdfast.app.control.window import Window
from holdfast.app.file_witness import file_witness
from holdfast.app.going_on import end_unawaited, leave_a_wake
from holdfast.app.live_redaction import LiveRedaction
from holdfast.app.managed.crowding import crowding_of
from holdfast.app.problems import ConfigurationError
from holdfast.app.prompting import Prompting
from holdfast.app.run_stream import Runs, RunStream
from holdfast.app.run_watch import RunWatch, WordWatch
from holdfast.app.session_questions import SessionQuestions
from holdfast.app.telling import Told as Told
from holdfast.contract.agents import RunLimits
from holdfast.contract.events import (
    ChildIdle,
    Event,
    ModelReplied,
    UserInterrupt,
    UserMessage,
)
from holdfast.contract.json_value import JsonObject
from holdfast.contract.managed import setup as run_setup
from holdfast.contract.model import ChatModel
from holdfast.contract.wake_events import ModelBrokenOff, ModelFailed, RunTerms
from holdfast.contract.wakes import WakeEnd
from holdfast.runtime import waiting_below
from holdfast.runtime.abort import Abort

_NO_JOURNAL = (
    "an agent's session needs a journal to go on from, and store.kind is none; set store.kind ="
    " 'sqlite'"
)


_HEEDED = frozenset({ModelReplied, ModelFailed, ModelBrokenOff, ChildIdle})
_GOES_ON = frozenset({"final_response", "cancelled"})
"""Ends behind which words that came meanwhile are heard at once; of others a person hears first."""


class AgentSession(SessionQuestions):
    """An agent at work in one session. Used on one event loop."""

    def __init__(
        self, parts: Whole, equipment: Equipment, system: Callable[[], tuple[str, ...]]
    ) -> None:
        if parts.log is None:
            raise ConfigurationError(_NO_JOURNAL)
        self._parts = parts
        self.id: str = parts.session.id
        """The session's own id."""
        self._log = parts.log
        self._listeners: list[Callable[[Told], None]] = []
        self.model: ChatModel = equipment.model
        """The model that is asked."""
        self._live = LiveRedaction(parts.redactor, self._tell)
        self._equipment = msgspec.structs.replace(equipment, told=self._live)
        self.tells_above = True
        """Whether the session above one that was delegated is told where it rests."""
        talk = Conversation()
        place = _workplace(parts, talk, system, self._equipment.terms)
        self._place = msgspec.structs.replace(place, tells_above=lambda: self.tells_above)
        if parts.telemetry is not None:
            parts.telemetry.asks_models_of(equipment.model.provider)
        self._keeper = Keeper(parts.log, talk)
        self._log.listeners.append(self._tell)
        _tell_managed(parts, talk, self._equipment, system)
        parts.own.left = lambda: None if self.spending is None else self.spending.for_others()
        self._abort = Abort()
        """Stops the run under way."""
        self._runs = Runs(parts.session.id)
        self._lost: list[str] = []
        """Sessions of subagents that were lost."""
        self._wake: Wake | None = None
        self._watch: RunWatch | WordWatch | None = None
        self.window = Window(parts, parts.log, self._listeners, self._look, self.interrupt_call)
        """The session as other windows see and steer it."""
        self.files: carrying.CarriedWorkspace | None = None
        """Its workspace, where that is carried."""
        self.last: WakeEnd | None = None
        """How the last run ended."""
        self.closing: AbstractAsyncContextManager[object] | None = None
        """What was opened for it, and is closed with it."""
        self.forget: Callable[[], object] = lambda: None
        """Tells whoever opened it that it is closed."""

    @property
    def running(self) -> bool:
        """Whether a run is under way."""
        return len(self._runs) > 0

    @property
    def spending(self) -> Spending | None:
        """What the wake under way has used so far; None: there is none."""
        return None if self._wake is None else self._wake.spent

    async def close(self) -> None:
        """Stop what runs, and let go of the session: whoever takes it up goes on from there."""
        self._runs.leaving.set()
        self.forget()
        closing, self.closing = self.closing, None
        if closing is not None:
            await closing.__aexit__(None, None, None)

    async def send(self, message: str) -> Event:
        """Say something; the next run, or the one under way, takes it into account."""
        if self.files is not None:
            await self.files.begin()
        journal = await self._log.journal()
        said = UserMessage(message=self._place.clean(message))
        (event,) = await journal.append(self.id, [said])
        self._keeper.hear(event)
        self._tell(event)
        if self._wake is None:
            self._look()
        return event

    async def interrupt(self, note: str | None = None) -> None:
        """Stop what runs, is blocked or scheduled; a note is what to do instead."""
        journal = await self._log.journal()
        clean = None if note is None else self._place.clean(note)
        await journal.append(self.id, [UserInterrupt(note=clean)])
        self._abort.set()
        self._look()

    def interrupt_call(self) -> bool:
        """Stop the calls that run now, and let the agent go on; whether there were any."""
        return self._wake is not None and self._wake.interrupt_calls()

    async def wake(self, *, goes_on: bool = False) -> WakeEnd:
        """Run once, if there is anything to do; JournalError.

        ``goes_on``: also where a run before stopped in the middle, and nobody said anything new.
        Whoever is cancelled stops the run, waits for its end, and leaves a wake: it goes on later.
        """

        async def reachable() -> WakeEnd:
            with served(self.window):
                return (await self._woken(self._equipment, goes_on=goes_on))[0]

        try:
            return await self._runs.result(reachable)
        except get_cancelled_exc_class():
            with CancelScope(shield=True):
                await self.go_on_later()
            raise

    async def go_on_later(self) -> None:
        """Whoever looks for what is due goes on, unless the run ended by itself or by a person."""
        end = self.last
        if end is not None and end.ended == "cancelled":
            await leave_a_wake(self._place, end.wake_id)

    async def compact(self, wish: str | None = None) -> bool:
        """Have the model told a summary of all that was said; whether there was anything.

        ``wish``: what the summary is to heed. ModelError, RuntimeError while a run is under way or
        calls wait, JournalError.
        """
        self._abort = abort = Abort()
        given = (self._place, self._equipment, self._keeper, abort, wish)
        return await self._runs.result(partial(compacted, *given))

    def run(self, message: str | None = None, *, goes_on: bool = False) -> RunStream:
        """Say something, run until the agent rests, and tell what happens meanwhile.

        Whoever stops listening stops the run; `last` says how it ended. JournalError.
        """
        return RunStream(self._runs, self._listeners, partial(self._rest, message, goes_on=goes_on))

    async def _rest(self, message: str | None, *, goes_on: bool) -> None:
        """Run until nothing is left to do, work in the background included."""
        leaving, equipment = self._runs.leaving, self._equipment
        with served(self.window):
            if message is not None:
                await self.send(message)
            while not leaving.aborted:
                end, left = await self._woken(equipment, goes_on=goes_on)
                if left is None or not await self._has_more(end):
                    return
                goes_on = True
                equipment = msgspec.structs.replace(self._equipment, limits=left, goes_on=True)

    async def _woken(
        self, equipment: Equipment, *, goes_on: bool
    ) -> tuple[WakeEnd, RunLimits | None]:
        """Run once; how that ended, and what is left of its limits."""
        self._abort = Abort()
        self._runs.leaving.subscribe(self._abort.set)
        if not self._parts.turn.begun:
            self._parts.turn.begin()
        self._wake = wake = Wake(self._place, equipment, self._keeper, self._abort)
        end = WakeEnd(session_id=self.id, executed=False)
        run = CancelScope()
        self._watch = watch = RunWatch(self._log, self._abort, run)
        files: carrying.CarriedWorkspace | None = None
        try:
            with run:
                await self._log.begin_run()
                if self.files is not None:
                    await self.files.check()
                    files = self.files
                if self._parts.own.tasks.waiting:
                    await waiting_below.hear_below(await self._log.journal(), self.id)
                self.last = end = await wake(goes_on=goes_on)
        finally:
            self._wake = self._watch = None
            self._live.whole()
            await watch.end()
            if files is not None and watch.lost is None:
                watch.lost = await carrying.kept(files)
        if watch.lost is not None:
            raise watch.lost
        waiting = self._parts.own.tasks.waiting
        if self._lost or waiting:
            lost, self._lost = self._lost, []
            await end_unawaited(await self._log.journal(), self.id, waiting, lost)
        return end, wake.spent.left()

    async def _has_more(self, end: WakeEnd) -> bool:
        """Somebody spoke, or answered below, or work in the background has ended by now."""
        if end.ended == "requires_action" and self._parts.own.tasks.waiting:
            return await waiting_below.hear_below(await self._log.journal(), self.id)
        if end.ended not in _GOES_ON:
            return False
        if self._keeper.talk.pending:
            return True
        tasks = self._parts.own.tasks
        if end.ended == "cancelled" or not tasks.running():
            return False
        try:
            self._watch = WordWatch(self._log, self._runs.leaving)
            return await self._watch.word_or(tasks.any_ended)
        finally:
            self._watch = None

    def _look(self) -> None:
        if self._watch is not None:
            self._watch.look()

    def _tell(self, one: Told) -> None:
        if isinstance(one, Event) and type(one.payload) in _HEEDED:
            if not isinstance(one.payload, ChildIdle):
                self._live.whole()  # before the event that tells it again
            else:
                if one.payload.summary == LOST:
                    self._lost.append(one.payload.child_session_id)
                if self.spending is not None:
                    self.spending.charge_child(one.payload)
        for listener in tuple(self._listeners):
            listener(one)


def _tell_managed(
    parts: Whole,
    talk: Conversation,
    equipment: Equipment,
    system: Callable[[], tuple[str, ...]],
) -> None:
    """What the managed part of a session asks of the run."""
    managed = parts.own.managed
    if managed is not None:
        names = system.names if isinstance(system, Prompting) else PromptNames
        managed.crowding = partial(crowding_of, talk, equipment, names)
        managed.run_facts = partial(_run_facts, equipment, system)


def _run_facts(equipment: Equipment, system: Callable[[], tuple[str, ...]]) -> run_setup.RunFacts:
    """What of a run belongs to the setup of its session."""
    limits: JsonObject = msgspec.to_builtins(equipment.limits)
    return run_setup.RunFacts(
        provider=equipment.model.provider,
        model=equipment.model.name,
        resilience=limits,
        sections=system.sections() if isinstance(system, Prompting) else (),
        bootstrap=system.files() if isinstance(system, Prompting) else (),
    )


def _new_turn(parts: Whole) -> None:
    parts.turn.begin()
    parts.outside.take_changes()


def _workplace(
    parts: Whole, talk: Conversation, system: Callable[[], tuple[str, ...]], terms: RunTerms
) -> Workplace:
    redactor = parts.redactor
    assert parts.log is not None

    def clean_json(text: bytes) -> bytes:
        return redactor.json(text) if redactor.active else text

    return Workplace(
        session_id=parts.session.id,
        log=parts.log,
        talk=talk,
        pipeline=parts.pipeline,
        people=parts.own.people,
        applications=parts.own.applications,
        clock=parts.clock,
        ids=parts.ids,
        tool=parts.catalog.get,
        outfit=Outfit(system, parts.own.offered.offered, clean_json, terms),
        todos=parts.own.todos.all,
        witness=file_witness(parts.session.workspace),
        running_children=parts.own.tasks.running,
        stop_children=parts.own.tasks.close,
        tells_above=lambda: True,
        new_turn=partial(_new_turn, parts),
        clean=lambda text: redactor.text(text) if redactor.active else text,
        clean_json=clean_json,
        surveying=parts.own.managed,
    )
