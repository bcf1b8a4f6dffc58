"""What this server is, what it can run, and what happens in the whole home."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

import msgspec
from starlette.responses import Response

from holdfast._version import __version__
from holdfast.app.profiles import PROFILES
from holdfast.contract.journal import JournalError
from holdfast.surfaces.http.house import House
from holdfast.surfaces.http.live.frames import MEDIA, STILL_HERE, streamed, told
from holdfast.surfaces.http.routes import Plain, Route
from holdfast.surfaces.http.rows import SessionRow, row_of


class AgentRow(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that a session can be begun with."""

    id: str
    description: str
    model: str | None
    profile: str | None


class ServerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What this server is."""

    version: str
    workspace: str
    project: str | None
    trusted: bool
    profile: str
    default_agent: str
    agents: list[AgentRow]
    models: list[str]
    profiles: list[str]
    workbench: str
    """The session in which the workbench settles its calls."""
    remarks: list[str]
    """What is doubtful about how it is configured."""


async def show_server(asked: Plain) -> ServerFacts:
    """What this server is, and what it can run."""
    house = asked.house
    configuration = house.configuration
    usual = AgentRow(id=house.default_agent, description="", model=None, profile=None)
    declared = {
        name: AgentRow(id=name, description=one.description, model=one.model, profile=one.profile)
        for name, one in house.settings.agent.items()
        if one.mode != "subagent"
    }
    return ServerFacts(
        version=__version__,
        workspace=house.opened.workspace,
        project=None if configuration.project is None else str(configuration.project),
        trusted=configuration.trusted,
        profile=house.opened.profile,
        default_agent=house.default_agent,
        agents=list({usual.id: usual, **declared}.values()),
        models=sorted(house.settings.model),
        profiles=sorted({*PROFILES, *house.settings.profile}),
        workbench=house.opened.workbench.session_id,
        remarks=[*map(str, configuration.notices), *house.opened.workbench.remarks_on_sources],
    )


class HomeChange(msgspec.Struct, frozen=True, kw_only=True):
    """Sessions that became other, and those that are gone."""

    sessions: list[SessionRow]
    gone: tuple[str, ...]


class WaitingCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How much waits for somebody, in all sessions."""

    approvals: int
    questions: int
    requests: int


async def stream_home(asked: Plain) -> Response:
    """What becomes other in the whole home: sessions, and how much waits for somebody."""
    return streamed(_changes(asked.house))


async def _changes(house: House) -> AsyncGenerator[bytes]:
    counts: WaitingCounts | None = None
    async with aclosing(house.home.changes(house.leaving)) as changes:
        async for change in changes:
            if change is None:
                yield STILL_HERE
            else:
                rows = [row_of(one, house.clock) for one in change.sessions]
                yield told("sessions", HomeChange(sessions=rows, gone=change.gone))
            with suppress(JournalError):
                now = await _counts(house)
                if now != counts:
                    counts = now
                    yield told("waiting", counts)


async def _counts(house: House) -> WaitingCounts:
    waits = await house.home.waits()
    return WaitingCounts(
        approvals=sum(one.approvals for one in waits),
        questions=sum(one.questions for one in waits),
        requests=sum(one.requests for one in waits),
    )


ROUTES = (
    Route(
        method="GET",
        path="/server",
        name="show_server",
        says="What this server is, and what it can run.",
        answer=show_server,
        gives=ServerFacts,
    ),
    Route(
        method="GET",
        path="/stream",
        name="stream_home",
        says="What becomes other in the whole home, as it happens.",
        answer=stream_home,
        media=MEDIA,
    ),
)
