"""The sessions below one session that outlive its calls: made with their task, run on demand.

A child is a session as any other: what has to be known of it is in the journal, and whoever finds
it due may run it. The session above says that there is a child before the child is there, so that
nothing runs that nobody knows of. Who opens a child for a run is not known here.
"""

from collections.abc import Awaitable, Callable
from typing import Literal, Protocol

import msgspec
from anyio import CancelScope, Event, get_cancelled_exc_class, move_on_after

from holdfast.contract.agents import RUNS_ON
from holdfast.contract.delegation import (
    DELEGATED,
    MOST_DEPTH,
    ChildRun,
    ChildTask,
    SeededChild,
)
from holdfast.contract.errors import PolicyDenied, Unavailable
from holdfast.contract.events import (
    AgentMessage,
    ChildCreated,
    ChildIdle,
    OutcomeDefined,
    Payload,
    SessionCreated,
    UserMessage,
    WantedOutcome,
)
from holdfast.contract.journal import (
    EventQuery,
    Journal,
    JournalError,
    LeaseHeld,
    Session,
    UnknownSession,
)
from holdfast.contract.json_value import JsonObject
from holdfast.contract.wakes import WakeEnd
from holdfast.envelope.redact import Redactor
from holdfast.execution.drive import Cancel, LoopCaller
from holdfast.runtime.delegation import CLOSING_SECONDS, LONGEST_SUMMARY, used_by
from holdfast.runtime.session_log import SessionLog

_NOT_WRITTEN = (
    "Nothing is written down here, so that no session can be left to others: do the work yourself."
)
_NO_AGENT = "No agent runs this session, so that none could run a session below it."
_BOUND = (
    "This session works for another one and ends with it, so that nothing it begins may go on: do"
    " the work yourself, or say in your answer what is left to do."
)


class RunningChild(Protocol):
    """A child session that is open."""

    async def wake(self) -> WakeEnd:
        """Run it once, if there is anything to do."""
        ...

    async def close(self) -> None:
        """Let go of it."""
        ...


Opener = Callable[[str], Awaitable[RunningChild]]
"""Opens a child for a run; LeaseHeld while somebody else runs it, Unavailable where that fails."""


class ChildParts(msgspec.Struct, frozen=True, kw_only=True):
    """What the children of one session are made from."""

    created: SessionCreated
    """Of the session itself: its children begin in the same way."""
    log: SessionLog | None
    redactor: Redactor
    new_session: Callable[[], str]
    depth: Callable[[], int]
    """How far the session stands below the one that a person began."""
    ends_with_another: bool
    """Whether it is a subagent's, begun by `task`."""
    opener: Callable[[], Opener | None]
    """Who opens its children; None: nobody here does."""


class _UnderWay:
    """A child that is run."""

    def __init__(self) -> None:
        self.scope = CancelScope()
        self.ended = Event()
        """Its session is closed."""
        self.ends: list[WakeEnd] = []
        self.problem: Exception | None = None
        self.task: Cancel | None = None
        """Held for its asyncio task, which nobody else may hold."""


class LastingChildren:
    """The children of one session. Used on one event loop."""

    def __init__(self, parts: ChildParts) -> None:
        self._parts = parts
        self._running: set[_UnderWay] = set()

    async def delegate(self, task: ChildTask, /) -> SeededChild:
        """Make a child session that holds this task."""
        log = self._log()
        self._check_place()
        child = self._parts.new_session()
        task = self._clean(task)
        title = None if task.outcome is None else task.outcome.title
        try:
            journal = await log.journal()
            await log.append(
                [
                    ChildCreated(
                        child_session_id=child,
                        outcome_title=title,
                        message=task.message,
                        lasting=True,
                    )
                ]
            )
            events = await journal.create(child, [self._created(log.session_id), *_seeds(task)])
        except JournalError as problem:
            raise Unavailable(
                f"The session was not made: it cannot be written down ({problem})."
            ) from None
        return SeededChild(
            parent_session_id=log.session_id,
            child_session_id=child,
            seeded_event_ids=tuple(event.id for event in events[1:]),
        )

    async def run_child(self, session_id: str, max_cycles: int, /) -> ChildRun:
        """Run a child for so many wakes at most, and write down where it came to rest."""
        log = self._log()
        journal = await log.journal()
        before = await self._child(journal, session_id)
        used = await used_by(journal, session_id)
        ends = await self._run(session_id, max_cycles)
        after = await journal.session(session_id)
        response = next((end.response for end in reversed(ends) if end.response), None)
        if response is None:
            response = "" if ends else await _last_words(journal, session_id)
        goes_on = len(ends) == max_cycles and ends[-1].stop_reason == "rescheduling"
        rests: Literal["idle", "max_cycles"] = "max_cycles" if goes_on else "idle"
        rested = ChildIdle(
            child_session_id=session_id,
            child_stop_reason=after.state.stop_reason,
            summary=self._text(response)[:LONGEST_SUMMARY],
            executed_cycles=len(ends),
            usage=await used_by(journal, session_id, used) or msgspec.UNSET,
        )
        await log.append([rested])
        return ChildRun(
            parent_session_id=log.session_id,
            child_session_id=session_id,
            executed_cycles=len(ends),
            loop_stop_reason=rests,
            child_stop_reason=after.state.stop_reason,
            response=response,
            queued_wake_ids=tuple(wake.id for wake in after.state.wakes),
            processed_event_ids=tuple(
                one for one in before.state.pending if one not in after.state.pending
            ),
        )

    async def close(self) -> None:
        """Stop what still runs, and wait a moment for it."""
        with move_on_after(CLOSING_SECONDS, shield=True):
            for one in tuple(self._running):
                one.scope.cancel()
                await one.ended.wait()

    async def _run(self, session_id: str, max_cycles: int) -> list[WakeEnd]:
        """The wakes that were executed; whoever stops waiting stops them."""
        opener = self._parts.opener()
        if opener is None:
            raise Unavailable(_NO_AGENT)
        one = _UnderWay()
        self._running.add(one)
        _, one.task = LoopCaller().begin(self._to_its_end(one, opener(session_id), max_cycles))
        try:
            await one.ended.wait()
        except get_cancelled_exc_class():
            one.scope.cancel()
            with CancelScope(shield=True):
                await one.ended.wait()
            raise
        if isinstance(one.problem, LeaseHeld):
            raise Unavailable(f"{one.problem}; look at it again later.") from None
        if one.problem is not None:
            raise one.problem
        return one.ends

    async def _to_its_end(
        self, one: "_UnderWay", opening: Awaitable[RunningChild], max_cycles: int
    ) -> None:
        """In a task of its own: a call that is given up leaves a session that still closes."""
        try:
            with one.scope:
                child = await opening
                try:
                    await _woken(child, max_cycles, one.ends)
                finally:
                    with CancelScope(shield=True):
                        await child.close()
        except Exception as problem:  # noqa: BLE001 - whoever waits for it is told
            one.problem = problem
        finally:
            self._running.discard(one)
            one.ended.set()

    async def _child(self, journal: Journal, session_id: str) -> Session:
        try:
            found = await journal.session(session_id)
        except UnknownSession:
            found = None
        state = None if found is None else found.state
        mine = state is not None and state.parent_id == self._log().session_id
        if found is None or state is None or not mine or not state.metadata.get(DELEGATED):
            raise PolicyDenied(
                f"{session_id} is no session that this one made with session_delegate; only such"
                " sessions can be run from here."
            )
        return found

    def _check_place(self) -> None:
        if self._parts.created.agent_id is None:
            raise Unavailable(_NO_AGENT)
        if self._parts.ends_with_another:
            raise PolicyDenied(_BOUND)
        depth = self._parts.depth() + 1
        if depth > MOST_DEPTH:
            raise PolicyDenied(
                f"A session would stand {depth} levels below the one it began with, and"
                f" {MOST_DEPTH} are the most. Do the work yourself."
            )

    def _created(self, above: str) -> SessionCreated:
        created = self._parts.created
        metadata: JsonObject = {DELEGATED: True, "depth": self._parts.depth() + 1}
        if RUNS_ON in created.metadata:  # its files are there
            metadata[RUNS_ON] = created.metadata[RUNS_ON]
        return msgspec.structs.replace(created, parent_id=above, metadata=metadata)

    def _log(self) -> SessionLog:
        if self._parts.log is None:
            raise Unavailable(_NOT_WRITTEN)
        return self._parts.log

    def _clean(self, task: ChildTask) -> ChildTask:
        wanted = task.outcome
        if wanted is not None:
            wanted = WantedOutcome(
                title=self._text(wanted.title),
                detail=None if wanted.detail is None else self._text(wanted.detail),
                success_criteria=tuple(map(self._text, wanted.success_criteria)),
            )
        return ChildTask(message=self._text(task.message), outcome=wanted)

    def _text(self, text: str) -> str:
        redactor = self._parts.redactor
        return redactor.text(text) if redactor.active else text


async def _woken(child: RunningChild, max_cycles: int, ends: list[WakeEnd]) -> None:
    """Wake it until there is nothing to do, or it rests."""
    while len(ends) < max_cycles and (end := await child.wake()).executed:
        ends.append(end)
        if end.stop_reason != "rescheduling":
            return


async def _last_words(journal: Journal, session_id: str) -> str:
    """What a child said that had come to rest before anybody looked."""
    query = EventQuery(types=("agent.message",), limit=1)
    said = [one.payload for one in await journal.find(session_id, query)]
    return next((one.message for one in said if isinstance(one, AgentMessage)), "")


def _seeds(task: ChildTask) -> list[Payload]:
    """What a child holds before anybody runs it."""
    wanted = [] if task.outcome is None else [OutcomeDefined(outcome=task.outcome)]
    return [*wanted, UserMessage(message=task.message)]
