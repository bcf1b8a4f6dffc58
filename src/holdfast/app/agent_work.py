"""One agent in one session, for a program that needs nothing beside it.

`Holdfast.new_session` is for programs that have a session of their own as well.
"""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Unpack

import msgspec
from anyio import CancelScope

from holdfast.app import bringing, carrying
from holdfast.app.agent_opening import Models, SubagentRunner, agent_session, session_options
from holdfast.app.agent_session import AgentSession
from holdfast.app.holdfast import Holdfast
from holdfast.app.locations import project_root
from holdfast.app.options import Options, Wanted, configuration_of
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.agents import RunLimits
from holdfast.contract.model import ChatModel
from holdfast.contract.tool import Tool
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is opened with."""

    tools: tuple[Tool, ...] = ()
    profile: str
    workspace: str | Path
    agent: str | None = None
    """None: `default`."""
    model: str | ChatModel | None = None
    """None: the agent's."""
    session: str | None = None
    """Go on with this one."""
    within: RunLimits | None = None
    """What a run may use at most."""


class OpenAgent(msgspec.Struct, frozen=True):
    """An agent that can be spoken with."""

    session: AgentSession
    holdfast: Holdfast
    """What it works in."""


@asynccontextmanager
async def opened_agent(work: Work, **options: Unpack[Options]) -> AsyncGenerator[OpenAgent]:
    """Open it, and close all of it at the end; ConfigurationError, JournalError."""
    configuration = configuration_of(options, work.workspace)
    settings = configuration.settings
    around = options.get("surroundings") or surroundings_of_this_process(settings)
    brought: bringing.Brought | None = None
    if work.session is not None and carrying.is_carried(settings):
        clock = options.get("clock") or SystemClock()
        ground = carrying.Ground(settings, around, clock, TimeIds(clock))
        brought = await bringing.bring(ground, work.session)
        place = Path(brought.path)
        work = msgspec.structs.replace(work, workspace=place)
        # The rules are those of the project that it was begun in; what they hold for is here.
        configuration = msgspec.structs.replace(configuration, project=project_root(place))
    models = Models(settings, around)
    runner = SubagentRunner(models)
    wanted = Wanted(work.tools, work.profile, work.workspace, options, Holdfast)
    given = session_options(wanted, settings, work.agent, runner, work.model)
    given.pop("settings", None)
    given |= {"configuration": configuration, "surroundings": around}
    if work.session is not None:
        given["session"] = work.session
    tools: Iterable[object] = work.tools
    holdfast = Holdfast(tools=tools, profile=work.profile, workspace=work.workspace, **given)
    try:
        session = agent_session(holdfast, models, work.model, options, work.within)
        runner.usual = session.model
        if brought is not None and session.files is not None:
            session.files.is_as(brought.known, brought.files)
        async with holdfast:
            yield OpenAgent(session, holdfast)
    finally:
        with CancelScope(shield=True):
            await models.close()
