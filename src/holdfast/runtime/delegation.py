"""Agents that a session hands work to: each in a session of its own, one level deeper.

A blocking one ends with the call that started it. One in the background goes on, and its end is
kept until somebody looks; when the session is closed, it is stopped. Both are told in the journal,
and both run in an asyncio task of their own: a call that is given up leaves a session behind that
still closes. How a child is opened and who runs its loop is not known here.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple, cast

import msgspec
from anyio import (
    CancelScope,
    Event,
    create_task_group,
    get_cancelled_exc_class,
    move_on_after,
)

from holdfast.contract.call import Interrupted, Raised, Returned
from holdfast.contract.delegation import (
    ABORTED_BY_PARENT,
    MOST_DEPTH,
    AgentMode,
    Delegated,
    FinishedTask,
    Work,
)
from holdfast.contract.errors import (
    Cancelled,
    InvalidArguments,
    OperationFailed,
    PolicyDenied,
    Unavailable,
)
from holdfast.contract.events import ChildCreated, ChildIdle, ChildWaits, Payload, StopReason
from holdfast.contract.journal import EventQuery, Journal, JournalError, UnknownSession
from holdfast.contract.json_value import JsonObject, decode_json, encode_json
from holdfast.envelope.redact import Redactor
from holdfast.execution.drive import Cancel, LoopCaller
from holdfast.execution.run import driven
from holdfast.runtime.abort import Abort
from holdfast.runtime.session_log import SessionLog

_log = logging.getLogger("holdfast")

CLOSING_SECONDS = 5.0
"""How long agents may take to end when the session above them is closed."""
LONGEST_SUMMARY = 2000
_WAITS = "the subagent waits for a person; the call stays open until then"
_NO_AGENTS = (
    "There is no subagent here: do the work yourself. A program adds them with"
    " Holdfast(subagents={'reviewer': Subagent(run=..., description='...')})."
)


class PausedBelow(Exception):
    """A subagent cannot go on before a person has answered; its session says what."""


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """One that work may be handed to."""

    mode: AgentMode
    session: Callable[[str, Work, bool], AbstractAsyncContextManager[object]]
    """Opens a session of this id for it: a new one, or one that paused."""
    run: Callable[[Any, str], Awaitable[str]]
    """Runs it in its open session, with a prompt, to its last message; PausedBelow."""


class _UnderWay:
    """One that runs."""

    def __init__(self, session_id: str, work: Work, call_id: str, *, paused: bool) -> None:
        """``paused``: it ran before, and goes on."""
        self.session_id = session_id
        self.work = work
        self.call_id = call_id
        self.paused = paused
        self.stop = Abort()
        self.ended = Event()
        """Its session is closed, and its end is told."""
        self.end = FinishedTask(session_id=session_id, agent=work.agent, error=ABORTED_BY_PARENT)


class _Running(NamedTuple):
    one: _UnderWay
    task: Cancel
    """Held for its asyncio task, which nobody else may hold."""


class Delegations:
    """The agents below one session. Used on one event loop."""

    def __init__(
        self,
        agents: Mapping[str, Agent],
        depth: int,
        new_session: Callable[[], str],
        log: SessionLog | None,
        redactor: Redactor,
    ) -> None:
        self._agents = agents
        self.depth = depth
        """How far the session stands below the one that a person began."""
        self._new_session = new_session
        self._log = log
        self._redactor = redactor
        self._running: dict[str, _Running] = {}
        self._finished: list[FinishedTask] = []
        self.waiting: dict[str, str] = {}
        """The sessions that paused, by the calls that wait for them."""
        self._left_open: set[str] = set()

    @property
    def finished(self) -> tuple[FinishedTask, ...]:
        """The work in the background that has ended, in the order of its ends."""
        return tuple(self._finished)

    def stays_open(self, call_id: str) -> bool:
        """Whether a call waits for a session below that waits for a person."""
        return call_id in self._left_open

    async def start(self, work: Work, call_id: str) -> Delegated:
        """Its output, or for work in the background its session at once."""
        agent = self._agent(work.agent)
        self._left_open.discard(call_id)
        if (paused := self.waiting.pop(call_id, None)) is not None:
            self._begin(agent, one := _UnderWay(paused, work, call_id, paused=True))
            return Delegated(output=await self._output(one))
        if self.depth >= MOST_DEPTH:
            raise PolicyDenied(
                f"A subagent would stand {self.depth + 1} levels below the session it began with,"
                f" and {MOST_DEPTH} are the most. Do the work yourself."
            )
        session_id = self._new_session()
        created = ChildCreated(
            child_session_id=session_id,
            outcome_title=work.agent,
            message=self._clean(work.prompt),
        )
        try:
            await self._tell(created)
        except JournalError as problem:
            raise Unavailable(
                f"The subagent was not started: it cannot be written down ({problem})."
            ) from None
        metadata = cast("JsonObject", decode_json(self._redactor.json(encode_json(work.metadata))))
        work = msgspec.structs.replace(work, metadata=metadata)
        self._begin(agent, one := _UnderWay(session_id, work, call_id, paused=False))
        if work.background:
            return Delegated(session_id=session_id)
        return Delegated(output=await self._output(one))

    def _begin(self, agent: Agent, one: _UnderWay) -> None:
        _, task = LoopCaller().begin(self._to_its_end(agent, one))
        self._running[one.session_id] = _Running(one, task)

    async def _output(self, one: _UnderWay) -> str:
        """What it says at last; a call whose subagent waits for a person stays open."""
        await _ended(one)
        if one.call_id in self._left_open:
            raise Cancelled(_WAITS)
        if one.end.output is None:
            raise OperationFailed(one.end.error or ABORTED_BY_PARENT)
        return one.end.output

    def running(self) -> frozenset[str]:
        """The sessions of agents that run now."""
        return frozenset(self._running)

    async def any_ended(self) -> bool:
        """Wait until one of the agents in the background has ended; False: none is there."""
        background = [one for one, _ in self._running.values() if one.work.background]
        if not background:
            return False
        async with create_task_group() as group:
            for one in background:
                group.start_soon(_first_of, one.ended, group.cancel_scope)
        return True

    async def close(self) -> None:
        """Stop what still runs, and wait a moment for it."""
        with move_on_after(CLOSING_SECONDS, shield=True):
            while self._running:
                running = [one for one, _ in self._running.values()]
                for one in running:
                    one.stop.set()
                await running[0].ended.wait()

    def _agent(self, name: str) -> Agent:
        if not self._agents:
            raise Unavailable(_NO_AGENTS)
        fitting = sorted(name for name, one in self._agents.items() if one.mode != "primary")
        if name not in fitting:
            known = ", ".join(fitting) or "none"
            raise InvalidArguments(
                f"There is no subagent {name!r} that a task can be handed to. Available: {known}.",
                field="subagent_type",
                expected=f"one of: {known}",
            )
        return self._agents[name]

    async def _to_its_end(self, agent: Agent, one: _UnderWay) -> None:
        stop: StopReason = "terminated"
        try:
            match await driven(_run(agent, one), None, None):
                case Returned(str() as output):
                    stop, said = "idle", output
                    one.end = msgspec.structs.replace(one.end, output=output, error=None)
                case Raised(PausedBelow() as paused) if await self._paused(one, str(paused)):
                    return
                case Raised(problem):
                    said = self._failed(one, f"{type(problem).__name__}: {problem}")
                case Returned(other) if not isinstance(other, Interrupted):
                    kind = type(other).__name__
                    said = self._failed(one, f"its runner gave a {kind}, and not its last message")
                case _:
                    said = ABORTED_BY_PARENT
            await self._rested(one.session_id, stop, said)
        except get_cancelled_exc_class():  # the event loop ends
            await self._rested(one.session_id, "terminated", ABORTED_BY_PARENT)
            raise
        finally:
            if one.work.background:
                self._finished.append(one.end)
            self._running.pop(one.session_id, None)
            one.ended.set()

    async def _paused(self, one: _UnderWay, said: str) -> bool:
        """Leave the call open until a person has answered below; whether that could be told."""
        waits = ChildWaits(
            call_id=one.call_id, child_session_id=one.session_id, summary=self._clean(said)
        )
        try:
            with CancelScope(shield=True):
                await self._tell(waits)
        except JournalError as problem:
            _log.warning("the pause of subagent %s was not written: %s", one.session_id, problem)
            return False
        self.waiting[one.call_id] = one.session_id
        self._left_open.add(one.call_id)
        return True

    def _failed(self, one: _UnderWay, said: str) -> str:
        error = f"The subagent {one.work.agent!r} failed: {said}"
        one.end = msgspec.structs.replace(one.end, error=error)
        return said

    async def _rested(self, session_id: str, stop: StopReason, summary: str) -> None:
        if self._log is None:
            return
        try:
            with CancelScope(shield=True):
                rested = ChildIdle(
                    child_session_id=session_id,
                    child_stop_reason=stop,
                    summary=self._clean(summary)[:LONGEST_SUMMARY],
                    executed_cycles=1,
                    usage=await used_by(await self._log.journal(), session_id) or msgspec.UNSET,
                )
                await self._tell(rested)
        except JournalError as problem:
            _log.warning("the end of subagent %s was not written down: %s", session_id, problem)

    async def _tell(self, said: Payload) -> None:
        if self._log is not None:
            await self._log.append([said])

    def _clean(self, text: str) -> str:
        return self._redactor.text(text) if self._redactor.active else text


async def used_by(
    journal: Journal, session_id: str, before: Mapping[str, int] | None = None
) -> dict[str, int]:
    """What a session has used, with all below it, beside what it had used before."""
    try:
        used = dict((await journal.session(session_id)).state.usage)
    except UnknownSession:  # it never began
        return {}
    for event in await journal.find(session_id, EventQuery(types=("session.child_idle",))):
        said = event.payload
        if isinstance(said, ChildIdle) and not isinstance(said.usage, msgspec.UnsetType):
            for name, count in said.usage.items():
                used[name] = used.get(name, 0) + count
    known: Mapping[str, int] = before or {}
    return {name: more for name, n in used.items() if (more := n - known.get(name, 0))}


async def _first_of(ended: Event, others: CancelScope) -> None:
    await ended.wait()
    others.cancel()


async def _run(agent: Agent, one: _UnderWay) -> object:
    """Its last message. A runner that would not stop is given up, and its session still closes."""
    async with agent.session(one.session_id, one.work, one.paused) as session:
        ending = await driven(_awaited(agent.run(session, one.work.prompt)), None, one.stop)
        if isinstance(ending, Raised):
            raise ending.error
        told = ending.value if isinstance(ending, Returned) else Interrupted()
        return Interrupted() if one.stop.aborted else told


async def _awaited(running: Awaitable[str]) -> object:
    return await running


async def _ended(one: _UnderWay) -> None:
    """Wait for it; whoever stops waiting stops it, and waits until it has ended."""
    try:
        await one.ended.wait()
    except get_cancelled_exc_class():
        one.stop.set()
        with CancelScope(shield=True):
            await one.ended.wait()
        raise
    finally:
        one.stop.set()


class CallDelegation:
    """Whoever starts agents, as one call meets them."""

    def __init__(self, tasks: Delegations, call_id: str) -> None:
        self._tasks = tasks
        self._call_id = call_id

    async def start(self, work: Work, /) -> Delegated:
        """Its output, or for work in the background its session at once."""
        return await self._tasks.start(work, self._call_id)
