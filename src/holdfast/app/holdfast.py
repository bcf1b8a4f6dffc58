"""The opened whole: tools, policy, sidecars and one session to settle calls in."""

import logging
import math
from collections.abc import Coroutine, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from anyio import CancelScope, Lock, move_on_after

from holdfast.app import agent_session, agent_sessions, restoring, tenures
from holdfast.app.assembly import assembled
from holdfast.app.hands import moved_remark
from holdfast.app.holders import is_gone, lives_elsewhere
from holdfast.app.options import Options, Wanted, read_once, refuse_unknown
from holdfast.app.problems import ConfigurationError
from holdfast.app.session_answers import SessionAnswers
from holdfast.app.settings import DEFAULT_PROFILE
from holdfast.contract.agents import Agent
from holdfast.contract.call import RawArguments, ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.errors import Unavailable
from holdfast.contract.failure import Failure
from holdfast.contract.journal import LeaseHeld
from holdfast.contract.model import ChatModel
from holdfast.contract.runtime import AbortSignal, ProgressSink
from holdfast.contract.session_state import is_bound
from holdfast.policy import explain
from holdfast.runtime import recovery
from holdfast.runtime.abort import Abort, Either
from holdfast.runtime.session_log import SessionLog
from holdfast.sources.intake import to_tool

_log = logging.getLogger("holdfast")

_ENDING_SECONDS = 1.0
"""How long calls that were told to stop may take to write down how they ended."""
_BELOW = (
    "session {0} is a subagent's, below session {1}: what bound that one is not known here, and"
    " only what this Holdfast is given counts; open it with the same profile, rules and hooks"
)
_WHILE_RUN = (
    "close that first, or leave session= out to begin another one; its questions can be answered"
    " meanwhile, with holdfast.answer_question or: holdfast sessions answer"
)


class Holdfast(SessionAnswers):
    """Settles tool calls. Open it with ``async with``; closing removes what it kept on disk."""

    def __init__(
        self,
        *,
        tools: Iterable[object] = (),
        profile: str = DEFAULT_PROFILE,
        workspace: str | Path | None = None,
        **options: Unpack[Options],
    ) -> None:
        refuse_unknown(options)
        given = tuple(map(to_tool, tools))
        whole = assembled(Wanted(given, profile, workspace, read_once(options), Holdfast))
        self.parts = whole
        """What it is put together from, for rooms that run agents in it."""
        self._session, self._ids = whole.session, whole.ids
        self._catalog, self._sidecars = whole.catalog, whole.sidecars
        self._redactor, self._hand = whole.redactor, whole.hand
        self._judge, self._log = whole.judge, whole.log
        self._own, self._turn, self._pipeline = whole.own, whole.turn, whole.pipeline
        self._doubts, self._outside = whole.doubts, whole.outside
        self._telemetry = whole.telemetry
        self._goes_on, self._is_child = "session" in options, "above" in options
        self._taken_up: recovery.TakenUp | None = None
        self._moved: str | None = None
        self._below: str | None = None
        self._resuming = Lock()
        self._keep_outputs = options.get("keep_outputs", False)
        self._patience = options.get("server_patience", math.inf)
        self._abort = Abort()
        self._agents: agent_sessions.OpenedAgents | None = None
        whole.own.below.opener = self._open_child
        if whole.own.managed is not None:
            whole.own.managed.explain = self.explain
        if whole.configuration.settings.store.kind == "postgres":
            tenures.hold_processes(whole)
        self._open = False

    async def __aenter__(self) -> Self:
        self._abort = Abort()
        if self._log is not None:
            self._log.open()
        try:
            if self._goes_on:
                await self._take_up()
            elif self._is_child and self._log is not None:
                await self._log.journal()  # its parent's names it: it is there, whatever it does
        except BaseException:
            await _let_go(self._log, ends=True)
            raise
        if self._telemetry is not None:
            self._telemetry.open()
        self._own.people.open()
        self._hand.open()
        self._own.open()
        self._open = True
        try:
            await self._outside.open(self._patience)
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open = False
        self._own.people.close()
        self._abort.set()
        try:
            with CancelScope(shield=True):
                await self._own.below.stop()
                await self._outside.close()
                await self._hand.close()
                await self._own.close()
                with move_on_after(_ENDING_SECONDS):
                    await self._pipeline.ended()
                if self._agents is not None:
                    await self._agents.close()
            await _let_go(self._log, ends=not self._lasts)
        finally:
            if self._telemetry is not None:
                await self._telemetry.close()
            if not (self._keep_outputs or self._goes_on or self._lasts):
                self._sidecars.forget(self._session.id)

    @property
    def _lasts(self) -> bool:
        """Whether the session goes on after this program: an agent's does, and what waits."""
        is_agents = self.parts.agent is not None and not self._is_child
        return is_agents or self._own.is_paused or self._own.people.any_left_open

    async def new_session(
        self,
        *,
        agent: str | Agent | None = None,
        model: str | ChatModel | None = None,
        session: str | None = None,
        runs_on: str | None = None,
    ) -> "agent_session.AgentSession":
        """A session that an agent runs in, beside this one; ConfigurationError.

        ``agent``: the name of one, or its declaration; without it, `default`. ``model``: a name, or
        a model itself; without it, the agent's. ``session``: go on with this one. ``runs_on``: the
        label of the workers of a cluster that run it; without it, the agent's. It is closed with
        this Holdfast, or by its own `close`, and can be taken up again by any program.
        """
        return await self.agents.opened(agent, model, session, runs_on=runs_on)

    async def _open_child(self, session_id: str) -> "agent_session.AgentSession":
        """A session that the one here delegated, which waits for its runs itself."""
        try:
            agents = self.agents
            child = await agents.opened(None, None, session_id, self._own.left())
        except ConfigurationError as problem:
            raise Unavailable(f"The session cannot be run here: {problem}") from None
        child.tells_above = False
        return child

    async def run_due(
        self,
        *,
        forever: bool = False,
        told: "agent_sessions.EndTold | None" = None,
        until: AbortSignal | None = None,
    ) -> int:
        """Run the sessions of agents that are due: by words, by answers, by their own wakes.

        How many runs there were. ``forever``: go on as they become due, until this is cancelled;
        what runs then is stopped, and due again. ``until``: once this is given, begin nothing more,
        and return when what runs has ended. ``told``: hears how each run ended.
        """
        return await self.agents.run_due(told, until, forever=forever)

    @property
    def agents(self) -> "agent_sessions.OpenedAgents":
        """The sessions of agents that are open here, for rooms that run agents in it."""
        self._check_open()
        if self._agents is None:
            self._agents = agent_sessions.OpenedAgents(self.parts, Holdfast)
        return self._agents

    async def explain(
        self, tool: str, arguments: RawArguments = None
    ) -> "explain.Explanation | Failure":
        """Tell how a call would be judged; a failure when it would not even get that far."""
        call = ToolCall(
            id=self._ids.new("cal"), tool=tool, arguments=arguments, session_id=self._session.id
        )
        prepared = self._pipeline.prepare(call)
        if isinstance(prepared, Failure):
            return prepared
        self._hand.open()
        try:
            return await self._judge.explain(prepared)
        finally:
            if not self._open:
                await self._hand.close()  # judging may have started a sandbox to see what it gives

    def settle(
        self,
        tool: str,
        arguments: RawArguments = None,
        *,
        model_call_id: str | None = None,
        abort: AbortSignal | None = None,
        progress: ProgressSink | None = None,
    ) -> Coroutine[object, object, Envelope]:
        """Take one call to its one answer, whatever happens on the way. Await it.

        ``progress``: where the signs of life of this call go, instead of where those of all do.
        """
        self._check_open()
        call = ToolCall(
            id=self._ids.new("cal"),
            tool=tool,
            arguments=arguments,
            session_id=self._session.id,
            model_call_id=model_call_id,
        )
        heard = self._abort if abort is None else Either(abort, self._abort)
        return self._pipeline.settle(call, heard, progress=progress)

    def new_turn(self) -> None:
        """Say that a person spoke: the commands of the turn are counted anew.

        Before the first one nothing is counted. What changed at the sources of tools is taken over.
        """
        self._turn.begin()
        self._outside.take_changes()

    def take_changes(self) -> bool:
        """Have the tools of manifests and MCP servers as these are now; whether they are others.

        A turn begins with it. Call it between two requests to a model, never while one is under
        way.
        """
        return self._outside.take_changes()

    async def servers_settled(self) -> None:
        """Return when each MCP server has listed its tools, failed or had its time."""
        if self._outside.servers is not None:
            await self._outside.servers.settled()

    @property
    def remarks_on_sources(self) -> tuple[str, ...]:
        """What is doubtful about manifests and MCP servers now; it may change with each look.

        A server that is being connected is not doubtful yet.
        """
        return self._outside.remarks(settled=True)

    async def pin(
        self, server: str, tool: str | None = None, *, seen: Mapping[str, str] | None = None
    ) -> tuple[str, ...]:
        """Accept the definitions an MCP server gives its tools, or one tool's; gives which.

        A person's decision: show them the diffs in `servers` first, and hand back the
        `fingerprints` that stand beside them as ``seen``. LookupError for a server or tool that is
        not there, and where it says something else by now; OSError when it cannot be kept.
        """
        return await self._outside.pin(server, tool, seen)

    def _check_open(self) -> None:
        if not self._open:
            raise RuntimeError("Holdfast is not open; use it as: async with Holdfast(...) as hf")

    async def _take_up(self) -> None:
        if self._log is not None:
            # In a fleet who lives may stand still, or reach nobody: there a lease alone says it.
            is_alone = self.parts.configuration.settings.engine.kind != "cluster"
            try:
                journal, epoch = await self._log.take_up(
                    is_gone, lives_elsewhere if is_alone else None
                )
            except LeaseHeld as held:
                raise LeaseHeld(f"{held}; {_WHILE_RUN}", held.lease) from None
            self._taken_up = await recovery.close_open_calls(journal, self._session.id, epoch)
            names = [tool.name for tool in self._catalog]
            await restoring.restore(
                journal, self._session.id, self._own, names, self._pipeline.prepare
            )
            await self._own.take_up(journal)
            begun = (await journal.session(self._session.id)).state
            if begun.files is None:  # files that are carried are the same in another place
                self._moved = moved_remark(self._session, begun.workspace)
            if is_bound(begun) and not self._is_child:
                self._below = _BELOW.format(self._session.id, begun.parent_id)
            for remark in filter(None, (self._moved, self._below)):
                _log.warning("%s", remark)


async def _let_go(log: SessionLog | None, *, ends: bool) -> None:
    if log is not None:
        with CancelScope(shield=True):
            await log.close(ends=ends)
