"""Agents that a session hands work to: each in a session of its own, one level deeper.

A blocking one ends with the call that started it. One in the background goes on, and its end is
kept until somebody looks; when the session is closed, it is stopped. Both are told in the journal.
How a child is opened and who runs its loop is not known here.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping

import msgspec
from anyio import CancelScope, Event, get_cancelled_exc_class, move_on_after

from holdfast.contract.call import Raised, Returned
from holdfast.contract.delegation import (
    ABORTED_BY_PARENT,
    MOST_DEPTH,
    AgentMode,
    Delegated,
    FinishedTask,
    Work,
)
from holdfast.contract.errors import InvalidArguments, OperationFailed, PolicyDenied, Unavailable
from holdfast.contract.events import ChildCreated, ChildIdle, Payload, StopReason
from holdfast.contract.journal import JournalError
from holdfast.envelope.redact import Redactor
from holdfast.execution.drive import Cancel, LoopCaller
from holdfast.execution.run import driven
from holdfast.runtime.session_log import SessionLog

_log = logging.getLogger("holdfast")

CLOSING_SECONDS = 5.0
"""How long agents in the background may take to end when their session is closed."""
LONGEST_SUMMARY = 2000
_NO_AGENTS = (
    "There is no subagent here: do the work yourself. A program adds them with"
    " Holdfast(subagents={'reviewer': Subagent(run=..., description='...')})."
)


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """One that work may be handed to."""

    mode: AgentMode
    run: Callable[[str, Work], Awaitable[str]]
    """Runs it in a session of this id, to its last message."""


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
        self._depth = depth
        self._new_session = new_session
        self._log = log
        self._redactor = redactor
        self._running: dict[str, Cancel] = {}
        self._all_ended = Event()
        self._finished: list[FinishedTask] = []

    @property
    def finished(self) -> tuple[FinishedTask, ...]:
        """The work in the background that has ended, in the order of its ends."""
        return tuple(self._finished)

    async def start(self, work: Work, /) -> Delegated:
        """Its output, or for work in the background its session at once."""
        agent = self._agent(work.agent)
        if self._depth >= MOST_DEPTH:
            raise PolicyDenied(
                f"A subagent would stand {self._depth + 1} levels below the session it began with,"
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
        if not work.background:
            return Delegated(output=await self._blocking(agent, session_id, work))
        self._all_ended = Event()
        _, self._running[session_id] = LoopCaller().begin(self._behind(agent, session_id, work))
        return Delegated(session_id=session_id)

    async def close(self) -> None:
        """Stop what still runs in the background, and wait a moment for it."""
        for cancel in list(self._running.values()):
            cancel()
        with move_on_after(CLOSING_SECONDS, shield=True):
            while self._running:
                await self._all_ended.wait()

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

    async def _blocking(self, agent: Agent, session_id: str, work: Work) -> str:
        try:
            ending = await driven(_run(agent, session_id, work), None, None)
        except get_cancelled_exc_class():
            await self._rested(session_id, "terminated", ABORTED_BY_PARENT)
            raise
        match ending:
            case Returned(str() as output):
                await self._rested(session_id, "idle", output)
                return output
            case Raised(problem):
                said = f"{type(problem).__name__}: {problem}"
            case Returned(other):
                said = f"its runner gave a {type(other).__name__}, and not its last message"
            case _:
                said = ABORTED_BY_PARENT
        await self._rested(session_id, "terminated", said)
        raise OperationFailed(f"The subagent {work.agent!r} failed: {said}")

    async def _behind(self, agent: Agent, session_id: str, work: Work) -> None:
        ended = FinishedTask(session_id=session_id, agent=work.agent, error=ABORTED_BY_PARENT)
        try:
            output = await self._blocking(agent, session_id, work)
            ended = FinishedTask(session_id=session_id, agent=work.agent, output=output)
        except OperationFailed as failed:
            ended = msgspec.structs.replace(ended, error=str(failed))
        finally:
            self._finished.append(ended)
            self._running.pop(session_id, None)
            if not self._running:
                self._all_ended.set()

    async def _rested(self, session_id: str, stop: StopReason, summary: str) -> None:
        rested = ChildIdle(
            child_session_id=session_id,
            child_stop_reason=stop,
            summary=self._clean(summary)[:LONGEST_SUMMARY],
            executed_cycles=1,
        )
        try:
            with CancelScope(shield=True):
                await self._tell(rested)
        except JournalError as problem:
            _log.warning("the end of subagent %s was not written down: %s", session_id, problem)

    async def _tell(self, said: Payload) -> None:
        if self._log is not None:
            await self._log.append([said])

    def _clean(self, text: str) -> str:
        return self._redactor.text(text) if self._redactor.active else text


async def _run(agent: Agent, session_id: str, work: Work) -> object:
    return await agent.run(session_id, work)
