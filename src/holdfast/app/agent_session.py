"""A session that an agent runs in: what a person says goes in, and what happens comes out.

It stands on an open `Holdfast`, whose calls and journal it uses. How a run goes is `agent`'s to
know; which model and which agent is decided by whoever opens it.
"""

from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial

import msgspec
from anyio import CancelScope, create_task_group, get_cancelled_exc_class

from holdfast.agent.beginning import LOST
from holdfast.agent.conversation import Conversation
from holdfast.agent.endings import retry_wake
from holdfast.agent.keeping import Keeper
from holdfast.agent.outfit import Outfit
from holdfast.agent.place import Equipment, Workplace
from holdfast.agent.spending import Spending
from holdfast.agent.wake import Wake
from holdfast.app.assembly import Whole
from holdfast.app.control.serving import served
from holdfast.app.control.window import Window
from holdfast.app.file_witness import file_witness
from holdfast.app.live_redaction import LiveRedaction
from holdfast.app.problems import ConfigurationError
from holdfast.app.run_watch import RunWatch
from holdfast.app.session_questions import SessionQuestions
from holdfast.app.telling import Told as Told
from holdfast.contract.events import (
    ChildIdle,
    Event,
    ModelReplied,
    UserInterrupt,
    UserMessage,
)
from holdfast.contract.journal import EventQuery, Journal
from holdfast.contract.model import ChatModel, ModelUsage
from holdfast.contract.wake_events import ModelFailed
from holdfast.contract.wakes import WakeEnd
from holdfast.execution.drive import PlainTasks, Wakeup
from holdfast.runtime import waiting_below
from holdfast.runtime.abort import Abort, Either

_NO_JOURNAL = (
    "an agent's session needs a journal to go on from, and store.kind is none; set store.kind ="
    " 'sqlite'"
)


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
        self._log = parts.log
        self._listeners: list[Callable[[Told], None]] = []
        self._live = LiveRedaction(parts.redactor, self._tell)
        self._equipment = msgspec.structs.replace(equipment, told=self._live)
        outfit = Outfit(system, parts.own.offered.offered, self._equipment.terms)
        self.tells_above = True
        """Whether the session above one that was delegated is told where it rests."""
        self._place = _workplace(parts, outfit, lambda: self.tells_above)
        if parts.telemetry is not None:
            parts.telemetry.asks_models_of(equipment.model.provider)
        self._keeper = Keeper(parts.log, Conversation())
        self._log.listeners.append(self._tell)
        parts.own.left = lambda: None if self.spending is None else self.spending.left()
        self._abort = Abort()
        """Stops the run under way."""
        self._leaving = Abort()
        """Nobody listens to this run any more, nor to what would come behind it."""
        self._lost: list[str] = []
        """Sessions of subagents that were lost."""
        self._wake: Wake | None = None
        self._watch: RunWatch | None = None
        look = lambda: None if self._watch is None else self._watch.look()  # noqa: E731 - short
        self.window = Window(parts, parts.log, self._listeners, look, self.interrupt_call)
        """The session as other windows see and steer it."""
        self.last: WakeEnd | None = None
        """How the last run ended."""
        self.closing: AbstractAsyncContextManager[object] | None = None
        """What was opened for it, and is closed with it."""
        self.forget: Callable[[], object] = lambda: None
        """Tells whoever opened it that it is closed."""

    @property
    def id(self) -> str:
        """The session's own id."""
        return self._parts.session.id

    @property
    def model(self) -> ChatModel:
        """The model that is asked."""
        return self._equipment.model

    @property
    def spending(self) -> Spending | None:
        """What the run under way has used; None: none is."""
        return None if self._wake is None else self._wake.spending

    @property
    def running(self) -> bool:
        """Whether a wake is under way."""
        return self._wake is not None

    async def close(self) -> None:
        """Stop what runs, and let go of the session: whoever takes it up goes on from there."""
        self._leaving.set()
        self.forget()
        closing, self.closing = self.closing, None
        if closing is not None:
            await closing.__aexit__(None, None, None)

    async def send(self, message: str) -> Event:
        """Say something; the next run, or the one under way, takes it into account."""
        journal = await self._log.journal()
        said = UserMessage(message=self._place.clean(message))
        (event,) = await journal.append(self.id, [said])
        self._keeper.hear(event)
        self._tell(event)
        return event

    async def interrupt(self, note: str | None = None) -> None:
        """Stop what runs, is blocked or scheduled; a note is what to do instead."""
        journal = await self._log.journal()
        clean = None if note is None else self._place.clean(note)
        await journal.append(self.id, [UserInterrupt(note=clean)])
        self._abort.set()

    def interrupt_call(self) -> bool:
        """Stop the calls that run now, and let the agent go on; whether there were any."""
        return self._wake is not None and self._wake.interrupt_calls()

    async def wake(self, *, goes_on: bool = False) -> WakeEnd:
        """Run once, if there is anything to do; JournalError.

        ``goes_on``: also where a run before stopped in the middle, and nobody said anything new.
        Whoever is cancelled stops the run, waits for its end, and leaves a wake: it goes on later.
        """
        _check_rests(self)
        leaving = self._leaving = Abort()
        ends: list[WakeEnd | Exception] = []

        async def work() -> None:
            try:
                ends.append(await self._woken(goes_on=goes_on))
            except Exception as problem:  # noqa: BLE001 - whoever waits is told
                ends.append(problem)

        tasks = PlainTasks()
        tasks.begin(work())
        try:
            await tasks.rest()
        except get_cancelled_exc_class():
            leaving.set()
            with CancelScope(shield=True):
                await tasks.rest()
                await self.go_on_later()
            raise
        if isinstance(ends[0], Exception):
            raise ends[0]
        return ends[0]

    async def go_on_later(self) -> None:
        """Whoever looks for what is due goes on, unless the run ended by itself or by a person."""
        end = self.last
        if end is None or end.ended != "cancelled":
            return
        journal = await self._log.journal()
        if not await _is_stopped(journal, self.id, end.wake_id):
            await journal.append(self.id, [retry_wake(self._place, self._parts.clock.now())])

    async def _woken(self, *, goes_on: bool) -> WakeEnd:
        _check_rests(self)
        self._abort = Abort()
        self._leaving.subscribe(self._abort.set)
        self._wake = Wake(self._place, self._equipment, self._keeper, self._abort)
        end = WakeEnd(session_id=self.id, executed=False)
        run = CancelScope()
        self._watch = watch = RunWatch(self._log, self._abort, run)
        try:
            with served(self.window), run:
                await self._log.begin_run()
                if self._parts.own.tasks.waiting:
                    await waiting_below.hear_below(await self._log.journal(), self.id)
                self.last = end = await self._wake(goes_on=goes_on)
        finally:
            self._wake = self._watch = None
            self._live.whole()
            await watch.end()
        if watch.lost is not None:
            raise watch.lost
        waiting = self._parts.own.tasks.waiting
        if self._lost or waiting:
            lost, self._lost = self._lost, []
            await _end_unawaited(await self._log.journal(), self.id, waiting, lost)
        return end

    async def run(
        self, message: str | None = None, *, goes_on: bool = False
    ) -> AsyncGenerator[Told]:
        """Say something, run until the agent rests, and tell what happens meanwhile.

        Whoever stops listening stops the run; `last` says how it ended. JournalError.
        """
        _check_rests(self)
        told: deque[Told] = deque()
        heard = Wakeup()

        def listen(one: Told) -> None:
            told.append(one)
            if len(told) == 1:
                heard.set()

        self._listeners.append(listen)
        tasks = PlainTasks()
        leaving, ended = Abort(), Abort()
        self._leaving = leaving
        failed: list[Exception] = []

        async def work() -> None:
            try:
                await self._rest(message, goes_on=goes_on)
            except Exception as problem:  # noqa: BLE001 - whoever listens is told
                failed.append(problem)
            finally:
                ended.set()
                heard.set()

        tasks.begin(work())
        try:
            while told or not ended.aborted:
                if not told:
                    await heard.wait()
                    heard = Wakeup()
                while told:
                    yield told.popleft()
            if failed:
                raise failed[0]
        finally:
            self._listeners.remove(listen)
            leaving.set()
            with CancelScope(shield=True):  # it was told to stop: nobody leaves while it runs
                await tasks.rest()

    async def _rest(self, message: str | None, *, goes_on: bool) -> None:
        """Run until nothing is left to do, work in the background included."""
        leaving = self._leaving
        with served(self.window):
            if message is not None:
                await self.send(message)
            while not leaving.aborted:
                end = await self._woken(goes_on=goes_on)
                goes_on = True
                if not await self._has_more(end):
                    return

    async def _has_more(self, end: WakeEnd) -> bool:
        """Somebody spoke during the last words, or answered below, or work in the background has
        ended by now."""
        if end.ended == "requires_action" and self._parts.own.tasks.waiting:
            return await waiting_below.hear_below(await self._log.journal(), self.id)
        if end.ended not in _GOES_ON:
            return False
        if self._keeper.talk.pending:
            return True
        if end.ended == "cancelled" or not self._parts.own.tasks.running():
            return False
        found = False
        async with create_task_group() as group:
            group.start_soon(_cancelled_by, Either(self._leaving, self._abort), group.cancel_scope)
            found = await self._parts.own.tasks.any_ended()
            group.cancel_scope.cancel()
        return found

    def _tell(self, one: Told) -> None:
        if isinstance(one, Event) and isinstance(one.payload, ModelReplied | ModelFailed):
            self._live.whole()  # before the event that tells it again
        if isinstance(one, Event) and isinstance(one.payload, ChildIdle):
            if one.payload.summary == LOST:
                self._lost.append(one.payload.child_session_id)
            if self.spending is not None:
                charge_children(self.spending, one)
        for listener in tuple(self._listeners):
            listener(one)


async def _end_unawaited(
    journal: Journal, session_id: str, waiting: dict[str, str], lost: list[str]
) -> None:
    """End what nobody waits for any more: a person stopped its call, or its program is gone."""
    open_calls = (await journal.session(session_id)).state.calls
    over = [waiting.pop(name) for name in tuple(waiting) if name not in open_calls]
    for child in (*over, *lost):
        await waiting_below.end_below(journal, child)


def charge_children(spending: Spending, event: Event) -> None:
    """What was used below a session is used by its run. Told by an event, so that it can be played
    again."""
    said = event.payload
    if isinstance(said, ChildIdle) and not isinstance(said.usage, msgspec.UnsetType):
        spending.charge(msgspec.convert(said.usage, ModelUsage))


async def _cancelled_by(abort: Either, waiting: CancelScope) -> None:
    """Whoever gives a run up does not wait for work in the background either."""
    await abort.wait()
    waiting.cancel()


async def _is_stopped(journal: Journal, session_id: str, wake_id: str | None) -> bool:
    """Whether a person stopped this run."""
    of_run = EventQuery(types=("span.started",), wake_id=wake_id)
    begun = await journal.find(session_id, of_run)
    stops = await journal.find(session_id, EventQuery(types=("user.interrupt",), limit=1))
    return any(
        stop.processed_at is None or not begun or stop.processed_at >= begun[0].at for stop in stops
    )


def _check_rests(session: AgentSession) -> None:
    if session.running:
        raise RuntimeError(f"session {session.id} runs already; send() is heard by that run")


def _new_turn(parts: Whole) -> None:
    parts.turn.begin()
    parts.outside.take_changes()


def _workplace(parts: Whole, outfit: Outfit, tells_above: Callable[[], bool]) -> Workplace:
    redactor = parts.redactor
    assert parts.log is not None
    return Workplace(
        session_id=parts.session.id,
        log=parts.log,
        pipeline=parts.pipeline,
        people=parts.own.people,
        applications=parts.own.applications,
        clock=parts.clock,
        ids=parts.ids,
        tool=parts.catalog.get,
        outfit=outfit,
        todos=parts.own.todos.all,
        witness=file_witness(parts.session.workspace),
        running_children=parts.own.tasks.running,
        tells_above=tells_above,
        new_turn=partial(_new_turn, parts),
        clean=lambda text: redactor.text(text) if redactor.active else text,
        clean_json=lambda text: redactor.json(text) if redactor.active else text,
    )
