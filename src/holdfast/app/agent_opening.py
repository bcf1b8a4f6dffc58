"""What agents are opened with: their models, each made once, and what runs those below them.

Which sessions there are, and when one is run, is not known here.
"""

import logging
from typing import Any, Protocol, cast

from holdfast.agent.place import Equipment
from holdfast.app import carrying
from holdfast.app.agent_session import AgentSession
from holdfast.app.agent_settings import DEFAULT_AGENT, USUAL_INSTRUCTIONS
from holdfast.app.assembly import Whole
from holdfast.app.models import chosen_model, model_named, remembered
from holdfast.app.options import Options, Wanted
from holdfast.app.problems import ConfigurationError
from holdfast.app.prompting import system_for
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.subagents import Run, Runner
from holdfast.contract.agents import Agent, CompiledAgent, RunLimits
from holdfast.contract.events import ApprovalAsked, Event
from holdfast.contract.model import ChatModel
from holdfast.contract.question import Question
from holdfast.runtime import waiting_below
from holdfast.runtime.delegation import PausedBelow

_log = logging.getLogger("holdfast")

_NOT_HANDED_ON = frozenset(
    {
        *("session", "above", "flow", "keep_outputs", "progress", "agent", "model", "settings"),
        "other_projects",
    }
)
"""What is of the first session alone."""
_ENDED_WELL = frozenset({"final_response", "ended_by_surface"})


_MOST_PLAYING = 100
"""How many sessions' scripts are remembered; those that were opened longest ago begin anew."""


class OpenedSession(Protocol):
    """A session that is open: what is known of a `Holdfast` here."""

    parts: Whole


class NamedModels(Protocol):
    """Whoever has models by their names."""

    def named(self, model: str | ChatModel | None) -> ChatModel:
        """The model of this name; None: the only one there is. ConfigurationError."""
        ...


class Models:
    """The models of one program, each made once. Used on one event loop."""

    def __init__(self, settings: Settings, surroundings: Surroundings) -> None:
        self._settings = settings
        self._surroundings = surroundings
        self._made: dict[str | None, ChatModel] = {}
        self._playing: dict[str, SessionModels] = {}

    def named(self, model: str | ChatModel | None) -> ChatModel:
        """The model of this name; None: the only one there is. ConfigurationError."""
        if model is not None and not isinstance(model, str):
            return model
        if model not in self._made:
            self._made[model] = self.new(model)
        return self._made[model]

    def new(self, model: str | None) -> ChatModel:
        """One more of this name; ConfigurationError."""
        return model_named(self._settings, self._surroundings, model)

    def is_played(self, model: str | ChatModel | None) -> bool:
        """Whether it plays turns of a file, which each session begins anew; ConfigurationError."""
        if model is not None and not isinstance(model, str):
            return False
        return chosen_model(self._settings, model)[1].kind == "scripted"

    def of_session(self, session_id: str | None) -> "SessionModels":
        """The models as a session has them, and those below it. None: one that has no id yet."""
        known = None if session_id is None else self._playing.get(session_id)
        return SessionModels(self) if known is None else known

    def keep(self, session_id: str, models: "SessionModels") -> None:
        """A session that is opened again goes on in the scripts that it plays."""
        if models.plays:
            self._playing.pop(session_id, None)
            self._playing[session_id] = models
            if len(self._playing) > _MOST_PLAYING:
                del self._playing[next(iter(self._playing))]

    async def close(self) -> None:
        """Let go of all that was made here."""
        made, self._made = self._made, {}
        for model in made.values():
            await model.close()


class SessionModels:
    """The models of a program for one session and those below it: nobody else plays its scripts."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._scripts: dict[str | None, ChatModel] = {}

    @property
    def plays(self) -> bool:
        """Whether it plays any script."""
        return bool(self._scripts)

    def named(self, model: str | ChatModel | None) -> ChatModel:
        """The model of this name; None: the only one there is. ConfigurationError."""
        if not self._models.is_played(model):
            return self._models.named(model)
        name = cast("str | None", model)
        if name not in self._scripts:
            self._scripts[name] = self._models.new(name)
        return self._scripts[name]


def usual_agent() -> Agent:
    """An agent for whoever declares none."""
    return Agent(
        id=DEFAULT_AGENT, description="Does what it is asked.", instructions=USUAL_INSTRUCTIONS
    )


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
    models: NamedModels,
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
    session = AgentSession(parts, equipment, system_for(agent, parts.session, parts.own))
    session.files = carrying.workspace_of(parts)
    return session


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

    def __init__(self, models: NamedModels) -> None:
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
