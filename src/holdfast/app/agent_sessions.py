"""Opening sessions that agents run in: which agent, which model, and what both stand on."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import msgspec
from anyio import CancelScope, Lock, create_task_group, get_cancelled_exc_class

from holdfast.app import bringing, carrying, engines
from holdfast.app.agent_opening import (
    Models,
    SubagentRunner,
    agent_session,
    session_options,
    usual_agent,
)
from holdfast.app.agent_session import AgentSession
from holdfast.app.agent_settings import DEFAULT_AGENT
from holdfast.app.assembly import Whole
from holdfast.app.control.exchange import stay_joined
from holdfast.app.holders import may_run
from holdfast.app.meter import Meter
from holdfast.app.options import Options, Wanted
from holdfast.app.other_projects import OtherProjects, is_of_another, refuse_other_project
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings
from holdfast.app.store import shared_store
from holdfast.contract.agents import Agent, RunLimits, label_in
from holdfast.contract.journal import Journal, JournalError, LeaseHeld, UnknownSession
from holdfast.contract.model import ChatModel
from holdfast.contract.runtime import AbortSignal
from holdfast.contract.session_state import SessionState, is_bound
from holdfast.contract.wakes import Engine, WakeEnd
from holdfast.record.store import Store
from holdfast.runtime import waiting_below

_log = logging.getLogger("holdfast")

_BELOW = (
    "session {0} was begun by session {1}, and what binds it is known to that one alone: go on"
    " there, or begin another one"
)

EndTold = engines.EndTold


class OpenedAgents:
    """The sessions of agents that one program has open."""

    def __init__(self, parts: Whole, make: Callable[..., Any]) -> None:
        """``make``: makes another `Holdfast`."""
        self._parts = parts
        self._make = make
        self._models = Models(parts.configuration.settings, parts.surroundings)
        self._open: dict[AgentSession, None] = {}
        """In the order they were opened."""
        self._store: Store | None = None
        """Of all sessions: held open, so that not every session opens it anew."""
        self._opening = Lock()
        self._engines: list[Engine] = []
        self._others = OtherProjects(parts.wanted.options.get("other_projects"), parts.clock)

    async def opened(
        self,
        agent: str | Agent | None,
        model: str | ChatModel | None,
        session: "str | bringing.Brought | None",
        within: RunLimits | None = None,
        runs_on: str | None = None,
    ) -> AgentSession:
        """One more; ConfigurationError, JournalError. One of before keeps its agent and place.

        ``session``: with where its files are, if they are carried and that was looked after.
        ``within``: what its runs may use at most.
        """
        brought = None if session is None or isinstance(session, str) else session
        name = session if session is None or isinstance(session, str) else session.session_id
        wanted, settings = self._parts.wanted, self._parts.configuration.settings
        first = None if name is None else await self._first_of(name)
        models = self._models.of_session(first)
        runner = SubagentRunner(models)
        if settings.store.kind != "none":
            await self._all_sessions()
        if name is not None:
            begun = (await (await self._all_sessions()).session(name)).state
            if is_bound(begun):
                raise ConfigurationError(_BELOW.format(name, begun.parent_id))
            brought = brought or await self._brought(name)
            place = begun.workspace if brought is None else brought.path
            refuse_other_project(self._parts.configuration, name, place)
            model = model or begun.model
            runs_on = label_in(begun.metadata)
            agent = agent or _agent_of(name, begun, wanted, settings)
            wanted = msgspec.structs.replace(
                wanted,
                workspace=place or wanted.workspace,
                profile=begun.profile or wanted.profile,
            )
        model = model or wanted.options.get("model")
        options = session_options(wanted, settings, agent, runner, model)
        if runs_on is not None:
            options["runs_on"] = runs_on
        if name is not None:
            options["session"] = name
        options["configuration"] = self._parts.configuration
        options["surroundings"] = self._parts.surroundings
        made = self._make(
            tools=wanted.tools, profile=wanted.profile, workspace=wanted.workspace, **options
        )
        found = agent_session(made, models, model, cast("Options", options), within)
        self._models.keep(first or found.id, models)
        runner.usual = found.model
        await made.__aenter__()
        found.closing = made
        found.forget = lambda: self._open.pop(found, None)
        self._open[found] = None
        if brought is not None and found.files is not None:
            found.files.is_as(brought.known, brought.files)
        return found

    async def _brought(self, session_id: str) -> "bringing.Brought | None":
        """Where the files of a session of before are, brought here; None: they are not carried.

        LeaseHeld, NotHere, ConfigurationError.
        """
        if not carrying.is_carried(self._parts.configuration.settings):
            return None
        return await bringing.bring(carrying.ground_of(self._parts), session_id)

    @asynccontextmanager
    async def place(self, workspace: str) -> AsyncGenerator[Any]:
        """What sessions of a place are begun in, with its project read; it is open at least until
        this is left. ConfigurationError."""
        async with self._others.at(workspace) as opened:
            if opened is None:
                raise ConfigurationError("only the project that this was opened for is run here")
            yield opened

    def poke(self, session_id: str) -> None:
        """Something may be due now in a session: engines that run here look at once."""
        for engine in tuple(self._engines):
            engine.poke(session_id)

    async def wake(self, session_id: str, /) -> WakeEnd:
        """Run a session of before once, if there is anything to do; what keeps it is told."""
        if (top := await self._top_of(session_id)) != session_id:
            return await self._wake_below(session_id, top)
        told = WakeEnd(session_id=session_id, executed=False)
        contended = msgspec.structs.replace(told, reason="lease_contended")
        if await self._has_work_below(session_id):
            return contended
        try:
            is_open = any(one.id == session_id for one in self._open)
            brought = None if is_open else await self._brought(session_id)
        except LeaseHeld:
            return contended
        except bringing.NotHere as problem:
            return msgspec.structs.replace(contended, problem=str(problem))
        except ConfigurationError as problem:
            return msgspec.structs.replace(told, reason="not_ours", problem=str(problem))
        try:
            async with self._elsewhere(session_id, brought) as there:
                return await (there or self)._wake_here(session_id, brought)
        except carrying.WentOn:
            return contended
        except ConfigurationError as problem:
            return msgspec.structs.replace(told, reason="not_ours", problem=str(problem))

    async def _wake_here(
        self, session_id: str, brought: "bringing.Brought | None" = None
    ) -> WakeEnd:
        """The same of one that is bound to none, and is of this project; ConfigurationError."""
        told = WakeEnd(session_id=session_id, executed=False)
        mine = next((one for one in self._open if one.id == session_id), None)
        if mine is not None and mine.running:
            return msgspec.structs.replace(told, reason="lease_contended")
        if mine is not None:  # this program has it open: it stays so
            async for _ in mine.run():
                pass
            return told if mine.last is None else mine.last
        try:
            session = await self.opened(None, None, brought or session_id)
        except LeaseHeld:
            return msgspec.structs.replace(told, reason="lease_contended")
        try:
            async for _ in session.run():
                pass
        except get_cancelled_exc_class():
            with CancelScope(shield=True):
                await session.go_on_later()
            raise
        finally:
            with CancelScope(shield=True):
                await session.close()
        return told if session.last is None else session.last

    @asynccontextmanager
    async def _elsewhere(
        self, session_id: str, brought: "bringing.Brought | None"
    ) -> "AsyncGenerator[OpenedAgents | None]":
        """Who runs a session of another project; None: it is one of ours. ConfigurationError."""
        workspace = (await (await self._all_sessions()).session(session_id)).state.workspace
        workspace = workspace if brought is None else brought.path
        if not is_of_another(self._parts.configuration, workspace):
            yield None
            return
        async with self._others.of(session_id, workspace) as there:
            yield None if there is None else there.agents

    async def _top_of(self, session_id: str) -> str:
        """The session that a bound one works for at last; its own, where it is not bound."""
        journal = await self._all_sessions()
        while is_bound(state := (await journal.session(session_id)).state):
            session_id = state.parent_id or session_id
        return session_id

    async def _first_of(self, session_id: str) -> str:
        """The session that all of this work began with; its own, where none is above it."""
        journal = await self._all_sessions()
        try:
            while above := (await journal.session(session_id)).state.parent_id:
                session_id = above
        except UnknownSession:  # it was taken away
            return session_id
        return session_id

    async def _wake_below(self, session_id: str, top: str) -> WakeEnd:
        """Go on with a session by way of the one that it works for; end it if none does."""
        end = await self.wake(top)
        journal = await self._all_sessions()
        state = (await journal.session(session_id)).state
        above = (await journal.session(state.parent_id or top)).state
        if all(call.child != session_id for call in above.calls.values()):
            await waiting_below.end_below(journal, session_id)
        return msgspec.structs.replace(end, session_id=session_id)

    async def _has_work_below(self, session_id: str) -> bool:
        """Whether it waits for nothing but subagents that are at work, in whatever process."""
        journal = await self._all_sessions()
        state = (await journal.session(session_id)).state
        if state.status == "running" or state.pending or state.wakes or state.calls:
            return False
        now = self._parts.clock.unix_ns() // 1000
        is_alone = self._parts.configuration.settings.engine.kind != "cluster"
        for child in state.children:
            try:
                lease = (await journal.session(child)).lease
            except UnknownSession:
                continue
            late = lease is None or lease.until_micros < now
            if lease is not None and (may_run(lease.holder, late=late) if is_alone else not late):
                return True
        return False

    async def run_due(
        self,
        told: EndTold | None = None,
        until: AbortSignal | None = None,
        meter: Meter | None = None,
        *,
        forever: bool,
    ) -> int:
        """Run the sessions of agents that are due; how many wakes were executed. JournalError."""
        runs = engines.Runs(
            parts=self._parts,
            store=await self.all_sessions(),
            wake=self.wake,
            make=self._make,
            told=told,
            meter=meter,
        )
        executed, broken = 0, None
        async with engines.opened_engine(runs) as engine, create_task_group() as group:
            self._engines.append(engine)
            group.start_soon(stay_joined, self._parts.surroundings)
            group.start_soon(self._others.tidied)
            if carrying.is_carried(self._parts.configuration.settings):
                group.start_soon(bringing.tidied, carrying.ground_of(self._parts))
            if until is not None:
                group.start_soon(_stopped_by, engine, until)
            try:
                executed = await (_forever(engine) if forever else engine.run_until_idle())
            except JournalError as problem:
                broken = problem  # by itself, and not in a group of what went wrong
            finally:
                self._engines.remove(engine)
                group.cancel_scope.cancel()
        if broken is not None:
            raise broken
        return executed

    async def all_sessions(self) -> Store:
        """The store of all sessions; the program's own session is not begun by that."""
        parts = self._parts
        settings, around = parts.configuration.settings, parts.surroundings
        async with self._opening:
            if self._store is None:
                self._store = await shared_store(settings, around, parts.clock, parts.ids)
            return self._store

    async def _all_sessions(self) -> Journal:
        return (await self.all_sessions()).journal

    async def close(self) -> None:
        """Close them all, and let go of their models."""
        for one in tuple(self._open):
            await one.close()
        await self._others.close()
        await self._models.close()
        store, self._store = self._store, None
        if store is not None:
            await store.journal.close()


async def _forever(engine: Engine) -> int:
    try:
        await engine.run()
    finally:
        with CancelScope(shield=True):
            await engine.stop()
    return 0


async def _stopped_by(engine: Engine, until: AbortSignal) -> None:
    await until.wait()
    await engine.stop()


def _agent_of(
    session_id: str, state: SessionState, wanted: Wanted, settings: Settings
) -> str | Agent:
    """The agent that a session was begun under; ConfigurationError: there was none."""
    if state.agent_id is None:
        raise ConfigurationError(
            f"session {session_id} is no agent's: it holds single calls; begin one with: holdfast"
            " run"
        )
    given = wanted.options.get("agent")
    if isinstance(given, Agent) and given.id == state.agent_id:
        return given
    if state.agent_id == DEFAULT_AGENT and DEFAULT_AGENT not in settings.agent:
        return usual_agent()
    return state.agent_id
