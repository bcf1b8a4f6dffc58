"""Opening sessions that agents run in: which agent, which model, and what both stand on."""

import logging
from collections.abc import Callable
from typing import Any, Protocol, cast

import msgspec
from anyio import CancelScope, Lock, create_task_group, get_cancelled_exc_class

from holdfast.agent.place import Equipment
from holdfast.app.agent_session import AgentSession
from holdfast.app.agent_settings import DEFAULT_AGENT, USUAL_INSTRUCTIONS
from holdfast.app.assembly import Whole
from holdfast.app.holders import may_run
from holdfast.app.models import model_named, remembered
from holdfast.app.options import Options, Wanted
from holdfast.app.problems import ConfigurationError
from holdfast.app.prompting import system_for
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.store import shared_store
from holdfast.app.subagents import Run, Runner
from holdfast.contract.agents import Agent, CompiledAgent, RunLimits
from holdfast.contract.events import ApprovalAsked, Event
from holdfast.contract.journal import Journal, LeaseHeld, UnknownSession
from holdfast.contract.model import ChatModel
from holdfast.contract.question import Question
from holdfast.contract.runtime import AbortSignal
from holdfast.contract.session_state import SessionState, is_bound
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.embedded import EmbeddedEngine, EnginePace
from holdfast.runtime import waiting_below
from holdfast.runtime.delegation import PausedBelow

_log = logging.getLogger("holdfast")

_BELOW = (
    "session {0} was begun by session {1}, and what binds it is known to that one alone: go on"
    " there, or begin another one"
)

_NOT_HANDED_ON = frozenset(
    {"session", "above", "flow", "keep_outputs", "progress", "agent", "model", "settings"}
)
"""What is of the first session alone."""


EndTold = Callable[[WakeEnd], None]
"""Hears how a run ended."""
_ENDED_WELL = frozenset({"final_response", "ended_by_surface"})


class OpenedSession(Protocol):
    """A session that is open: what is known of a `Holdfast` here."""

    parts: Whole


class Models:
    """The models of one program, each made once. Used on one event loop."""

    def __init__(self, settings: Settings, surroundings: Surroundings) -> None:
        self._settings = settings
        self._surroundings = surroundings
        self._made: dict[str | None, ChatModel] = {}

    def named(self, model: str | ChatModel | None) -> ChatModel:
        """The model of this name; None: the only one there is. ConfigurationError."""
        if model is not None and not isinstance(model, str):
            return model
        if model not in self._made:
            self._made[model] = model_named(self._settings, self._surroundings, model)
        return self._made[model]

    async def close(self) -> None:
        """Let go of all that was made here."""
        made, self._made = self._made, {}
        for model in made.values():
            await model.close()


def usual_agent() -> Agent:
    """An agent for whoever declares none."""
    return Agent(
        id=DEFAULT_AGENT, description="Does what it is asked.", instructions=USUAL_INSTRUCTIONS
    )


class OpenedAgents:
    """The sessions of agents that one program has open."""

    def __init__(self, parts: Whole, make: Callable[..., Any]) -> None:
        """``make``: makes another `Holdfast`."""
        self._parts = parts
        self._make = make
        self._models = Models(parts.configuration.settings, parts.surroundings)
        self._open: dict[AgentSession, None] = {}
        """In the order they were opened."""
        self._journal: Journal | None = None
        """Of all sessions: held open, so that not every session opens it anew."""
        self._opening = Lock()

    async def opened(
        self,
        agent: str | Agent | None,
        model: str | ChatModel | None,
        session: str | None,
        within: RunLimits | None = None,
    ) -> AgentSession:
        """One more; ConfigurationError, JournalError. One of before keeps its agent and place.

        ``within``: what its runs may use at most.
        """
        wanted, settings = self._parts.wanted, self._parts.configuration.settings
        runner = SubagentRunner(self._models)
        if settings.store.kind != "none":
            await self._all_sessions()
        if session is not None:
            begun = (await (await self._all_sessions()).session(session)).state
            if is_bound(begun):
                raise ConfigurationError(_BELOW.format(session, begun.parent_id))
            model = model or begun.model
            agent = agent or _agent_of(session, begun, wanted, settings)
            wanted = msgspec.structs.replace(
                wanted,
                workspace=begun.workspace or wanted.workspace,
                profile=begun.profile or wanted.profile,
            )
        model = model or wanted.options.get("model")
        options = session_options(wanted, settings, agent, runner, model)
        if session is not None:
            options["session"] = session
        options["configuration"] = self._parts.configuration
        options["surroundings"] = self._parts.surroundings
        made = self._make(
            tools=wanted.tools, profile=wanted.profile, workspace=wanted.workspace, **options
        )
        found = agent_session(made, self._models, model, cast("Options", options), within)
        runner.usual = found.model
        await made.__aenter__()
        found.closing = made
        found.forget = lambda: self._open.pop(found, None)
        self._open[found] = None
        return found

    async def wake(self, session_id: str, /) -> WakeEnd:
        """Run a session of before once, if there is anything to do; what keeps it is told."""
        told = WakeEnd(session_id=session_id, executed=False)
        if (top := await self._top_of(session_id)) != session_id:
            return await self._wake_below(session_id, top)
        if await self._has_work_below(session_id):
            return msgspec.structs.replace(told, reason="lease_contended")
        mine = next((one for one in self._open if one.id == session_id), None)
        if mine is not None and mine.running:
            return msgspec.structs.replace(told, reason="lease_contended")
        if mine is not None:  # this program has it open: it stays so
            async for _ in mine.run():
                pass
            return told if mine.last is None else mine.last
        try:
            session = await self.opened(None, None, session_id)
        except LeaseHeld:
            return msgspec.structs.replace(told, reason="lease_contended")
        except ConfigurationError as problem:
            return msgspec.structs.replace(told, reason="not_ours", problem=str(problem))
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

    async def _top_of(self, session_id: str) -> str:
        """The session that a bound one works for at last; its own, where it is not bound."""
        journal = await self._all_sessions()
        while is_bound(state := (await journal.session(session_id)).state):
            session_id = state.parent_id or session_id
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
        for child in state.children:
            try:
                lease = (await journal.session(child)).lease
            except UnknownSession:
                continue
            if lease is not None and may_run(lease.holder, late=lease.until_micros < now):
                return True
        return False

    async def run_due(
        self,
        told: EndTold | None = None,
        until: AbortSignal | None = None,
        *,
        forever: bool,
    ) -> int:
        """Run the sessions of agents that are due; how many wakes were executed."""
        pace = self._parts.configuration.settings.engine

        async def wake(session_id: str, /) -> WakeEnd:
            end = await self.wake(session_id)
            if told is not None:
                told(end)
            return end

        engine = EmbeddedEngine(
            *(await self._all_sessions(), wake, self._parts.clock),
            EnginePace(concurrency=pace.concurrency, look_seconds=pace.look_seconds),
        )
        executed = 0
        async with create_task_group() as group:
            if until is not None:
                group.start_soon(_stopped_by, engine, until)
            try:
                executed = await (_forever(engine) if forever else engine.run_until_idle())
            finally:
                group.cancel_scope.cancel()
        return executed

    async def _all_sessions(self) -> Journal:
        """The journal of all sessions; the program's own session is not begun by that."""
        parts = self._parts
        settings, around = parts.configuration.settings, parts.surroundings
        async with self._opening:
            if self._journal is None:
                store = await shared_store(settings, around, parts.clock, parts.ids)
                self._journal = store.journal
            return self._journal

    async def close(self) -> None:
        """Close them all, and let go of their models."""
        for one in tuple(self._open):
            await one.close()
        await self._models.close()
        journal, self._journal = self._journal, None
        if journal is not None:
            await journal.close()


async def _forever(engine: EmbeddedEngine) -> int:
    try:
        await engine.run()
    finally:
        with CancelScope(shield=True):
            await engine.stop()
    return 0


async def _stopped_by(engine: EmbeddedEngine, until: AbortSignal) -> None:
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


def session_options(
    wanted: Wanted,
    settings: Settings,
    agent: str | Agent | None,
    runner: Runner,
    model: str | ChatModel | None,
) -> dict[str, Any]:
    """What a session of an agent is opened with, beside what the program gave."""
    kept = {name: one for name, one in wanted.options.items() if name not in _NOT_HANDED_ON}
    given = wanted.options.get("agent")
    chosen = agent or given
    if isinstance(given, Agent) and chosen == given.id:
        chosen = given
    if chosen is None:
        chosen = DEFAULT_AGENT if DEFAULT_AGENT in settings.agent else usual_agent()
    options = {"application": "elsewhere", **kept, "agent": chosen, "runner": runner}
    if model is not None:
        options["model"] = remembered(model) if isinstance(model, str) else model
    return options


def agent_session(
    opened: OpenedSession,
    models: Models,
    model: str | ChatModel | None,
    options: Options,
    within: RunLimits | None = None,
) -> AgentSession:
    """An agent in a session that was opened for it; ConfigurationError.

    ``within``: what its runs may use at most, whatever the agent is declared with.
    """
    parts = opened.parts
    agent = parts.agent
    if agent is None:
        raise ConfigurationError("the session was opened without an agent; name one with agent=")
    declared = agent.agent
    approver = options.get("approver")
    equipment = Equipment(
        model=models.named(model if model is not None else declared.model),
        limits=declared.limits if within is None else declared.limits.within(within),
        directives=declared.directives,
        guidance=declared.guidance,
        tools_off=declared.tools_off,
        managed=agent.profile == "managed",
        interactive=approver is not None and approver != "elsewhere",
    )
    return AgentSession(parts, equipment, system_for(agent, parts.session, parts.own))


def _tell_of_question(agent: str, event: Event) -> None:
    """A subagent's call waits where nobody looks: whoever reads the log can answer it."""
    asked = event.payload
    if isinstance(asked, ApprovalAsked):
        _log.warning(
            "the subagent %s asks for leave to run %s; answer with: holdfast sessions answer"
            " %s %s --allow, or --deny",
            *(agent, asked.tool, event.session_id, asked.approval_id),
        )


class SubagentRunner:
    """Runs the loops of agents that work is handed to, with the model of whoever hands it over
    where they have none of their own."""

    pauses = True

    def __init__(self, models: Models) -> None:
        self._models = models
        self.usual: ChatModel | None = None

    def __call__(self, agent: CompiledAgent) -> Run:
        """What runs the loop of this one."""

        async def run(child: OpenedSession, prompt: str) -> str:
            options = child.parts.wanted.options
            above = options.get("above")
            goes_on = above is not None and above.paused
            within = None if above is None else above.left()
            asks = Options(approver=options.get("approver")) if goes_on else Options()
            model = agent.agent.model or self.usual
            session = agent_session(child, self._models, model, asks, within)
            said = None if goes_on else prompt
            while said is not None or goes_on:
                async for one in session.run(said, goes_on=goes_on):
                    if options.get("approver") == "elsewhere" and isinstance(one, Event):
                        _tell_of_question(agent.id, one)
                if questions := await session.questions():
                    raise await _paused(child, questions[0])
                end = session.last  # somebody may have answered before anybody waited for that
                said, goes_on = None, end is not None and end.ended == "requires_action"
            end = session.last
            if end is None or end.ended not in _ENDED_WELL:
                raise RuntimeError("it did not run" if end is None else end.problem or end.ended)
            return end.response

        return run


async def _paused(child: OpenedSession, question: Question) -> Exception:
    """A subagent's call waits for a person. Nobody waits for one in the background: it is ended."""
    parts, above = child.parts, child.parts.wanted.options.get("above")
    if above is not None and above.waits:
        parts.own.is_paused = True
        return PausedBelow(f"waits for leave to run {question.tool}")
    assert parts.log is not None
    await waiting_below.end_below(await parts.log.journal(), parts.session.id)
    return RuntimeError(f"it needs leave to run {question.tool}, and nobody waits for that")
