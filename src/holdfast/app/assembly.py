"""Putting a session together: every part from configuration, in the order they need each other.

Nothing is opened or started here. What the parts do is not known here either.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
from anyio import sleep_forever

from holdfast.app import servers
from holdfast.app.after_edit import hooks_tool
from holdfast.app.audit import audit_log
from holdfast.app.command_tools import strictest
from holdfast.app.configuration import Configuration
from holdfast.app.doubts import doubts_of
from holdfast.app.hands import HandSetup, KnownTools, hand_for, leaves_of, remarks_of
from holdfast.app.judging import JudgeParts, agent_manifest, judge_for
from holdfast.app.later_hand import LaterHand
from holdfast.app.locations import project_root
from holdfast.app.named_sources import NamedSources, sources_of
from holdfast.app.options import Options, configuration_of
from holdfast.app.outside import Bounds, Outside
from holdfast.app.problems import ConfigurationError
from holdfast.app.profiles import catalog_of, profile_settings
from holdfast.app.reaching import reach_of
from holdfast.app.session_ports import PortParts, SessionPorts
from holdfast.app.settings import DEFAULT_PROFILE, Settings, Surroundings
from holdfast.app.skill_places import skill_places
from holdfast.app.spelling import advice
from holdfast.app.store import session_log
from holdfast.app.subagents import Above, Child, Subagent, agents_of
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.app.web import session_search
from holdfast.contract.call import Ask
from holdfast.contract.commanding import CommandPolicy
from holdfast.contract.events import SessionCreated
from holdfast.contract.json_value import JsonObject
from holdfast.contract.person import Asker, Inquiry, Replies
from holdfast.contract.ports import Answer, Clock
from holdfast.contract.runtime import Progress, SessionFacts
from holdfast.contract.tool import Tool
from holdfast.envelope.redact import Redactor
from holdfast.execution.sidecars import SidecarFiles
from holdfast.policy.judge import PolicyJudge
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.pipeline import Parts, Pipeline
from holdfast.runtime.session_log import SessionLog
from holdfast.runtime.turn import Turn

_NOTHING_TO_GO_ON_WITH = (
    "Holdfast(session=...) cannot go on with a session: store.kind is none, so that nothing is"
    " written down; set store.kind = 'sqlite', or leave session= out"
)

_NOBODY_ELSEWHERE = (
    "Holdfast(person='elsewhere') waits for replies in the journal, and store.kind is none; set"
    " store.kind = 'sqlite', or hand in a person= that asks"
)


class Wanted(msgspec.Struct, frozen=True):
    """What somebody asks for."""

    tools: tuple[Tool, ...]
    profile: str
    workspace: str | Path | None
    options: Options
    make: Callable[..., Child]
    """Makes another session: that of a subagent."""


class Whole(msgspec.Struct, frozen=True):
    """All parts of a session."""

    session: SessionFacts
    ids: TimeIds
    catalog: Catalog
    sidecars: SidecarFiles
    redactor: Redactor
    hand: LaterHand
    judge: PolicyJudge
    log: SessionLog | None
    own: SessionPorts
    turn: Turn
    pipeline: Pipeline
    doubts: Callable[[], list[str]]
    """What the configuration says of tools in vain."""
    outside: Outside


def assembled(wanted: Wanted) -> Whole:
    """All of it; ConfigurationError and ToolDefinitionError say what does not fit together."""
    options = wanted.options
    configuration = configuration_of(options, wanted.workspace)
    settings = configuration.settings
    surroundings = options.get("surroundings") or surroundings_of_this_process(settings)
    clock = options.get("clock") or SystemClock()
    ids = TimeIds(clock)
    session = _session(wanted, ids)
    commands = _commands(wanted, settings)
    chosen = msgspec.structs.replace(
        profile_settings(settings.profile, wanted.profile), commands=strictest(commands)
    )
    above = options.get("above")
    top = session.id if above is None else above.top
    sources = sources_of(wanted.profile, options, configuration)
    if sources.servers:
        surroundings = servers.with_secrets(surroundings, sources.servers)
    tools = (*wanted.tools, *sources.plugins)
    catalog = catalog_of(tools, chosen, settings, top)
    outside = Outside(catalog, Bounds(settings.limits, chosen.tools), sources.manifests)
    sidecars = SidecarFiles(
        surroundings.data_home / "sessions",
        call_quota=settings.limits.sidecar_call_bytes,
        session_quota=settings.limits.sidecar_session_bytes,
    )
    judging = msgspec.structs.replace(
        _judging(wanted, configuration, surroundings, session, catalog),
        unseen=(*hooks_tool(settings), *_server_tools(sources, surroundings)),
        granted=(sources.granted,),
        vouched=outside.vouched,
        kept=tuple(path for one in sources.manifests for path in one.made_from),
    )
    reach = reach_of(judging)
    outside.judged_by(reach.scope)
    redactor = Redactor(surroundings.secrets)
    hand_setup = HandSetup(
        session=session,
        tools=KnownTools(judging.unseen, catalog),
        kept=judging.kept,
        reach=reach,
        bounds=lambda: judge.bounds,
        settings=settings.sandbox,
        surroundings=surroundings,
        sidecars=sidecars,
        redactor=redactor,
        clock=clock,
        ids=ids,
        audit=judging.audit,
    )
    hand = hand_for(hand_setup)
    judge = judge_for(msgspec.structs.replace(judging, protects=hand.protects), reach, clock.now)
    log = _log(wanted, configuration, surroundings, session, clock, ids)
    search = session_search(settings.web, top, surroundings) if above is None else above.search
    turn = Turn(chosen.commands_per_turn, None if above is None else above.turn)
    own = SessionPorts(
        PortParts(
            session=session,
            settings=settings,
            profile=chosen,
            surroundings=surroundings,
            catalog=catalog,
            hand=hand,
            sidecars=sidecars,
            clock=clock,
            ids=ids,
            redactor=redactor,
            log=log,
            asker=_asker(options, log),
            skills=skill_places(
                configuration, surroundings, session.workspace, options.get("skills", ())
            ),
            search=search,
            on_demand=_known(tuple(options.get("on_demand", ())), catalog, above),
            agents=agents_of(
                options.get("subagents", {}),
                lambda child, metadata: Above(
                    session_id=session.id,
                    child_id=child,
                    depth=own.tasks.depth + 1,
                    metadata=metadata,
                    reach=reach,
                    tools=catalog.get,
                    from_elsewhere=(*sources.plugins, *outside.tools()),
                    rules=judge.as_parent,
                    commands=commands,
                    turn=turn,
                    search=search,
                    top=top,
                ),
                partial(_child, wanted, configuration),
            ),
            depth=0 if above is None else above.depth,
        )
    )
    if sources.servers:
        outside.servers = servers.servers_of(
            sources.servers,
            servers.ServerParts(
                session=session,
                surroundings=surroundings,
                hand=hand,
                sidecars=sidecars,
                clock=clock,
                redactor=redactor,
                leaves=lambda name: leaves_of(hand_setup, hand_setup.tools(name), None),
                configured=tuple(settings.mcp),
            ),
        )
    outside.notices = _concerned(configuration, sources, options, wanted.profile)
    if outside.notices and "servers" not in options:
        outside.left_out = servers.left_out(outside.notices, settings.mcp)
    outside.changed = partial(_tools_changed, judge, catalog, own, wanted.profile)
    pipeline = Pipeline(
        Parts(
            catalog=catalog,
            judge=judge,
            approver=options.get("approver") or _nobody,
            clock=clock,
            ids=ids,
            sidecars=sidecars,
            redactor=redactor,
            session=session,
            progress=options.get("progress") or _unheard,
            hand=hand,
            ports={**own.all(), **options.get("ports", {})},
            log=log,
            stays_open=own.people.stays_open,
            remarks=remarks_of(settings.sandbox),
            max_argument_bytes=settings.limits.argument_bytes,
            turn=turn,
        )
    )
    doubts = partial(_doubts, settings, wanted.profile, [tool.name for tool in tools], outside)
    return Whole(
        *(session, ids, catalog, sidecars, redactor, hand),
        *(judge, log, own, turn, pipeline, doubts, outside),
    )


def _server_tools(sources: NamedSources, surroundings: Surroundings) -> tuple[Tool, ...]:
    if not sources.servers:
        return ()
    return servers.server_tools(sources.servers, surroundings.parent_environment)


def _concerned(
    configuration: Configuration, sources: NamedSources, options: Options, profile: str
) -> dict[str, tuple[str, ...]]:
    """What the configuration says of the servers of this session, and of those it left out."""
    names = {one.name for one in sources.servers}
    all_of_them = profile != DEFAULT_PROFILE and "above" not in options
    return {
        name: said
        for name, said in configuration.server_notices.items()
        if name in names or (all_of_them and name not in configuration.settings.mcp)
    }


def _doubts(settings: Settings, profile: str, given: list[str], outside: Outside) -> list[str]:
    """What the configuration says in vain, and what is doubtful about tools from elsewhere."""
    return [*doubts_of(settings, profile, [*given, *outside.declared()]), *outside.remarks()]


def _tools_changed(judge: PolicyJudge, catalog: Catalog, own: SessionPorts, profile: str) -> None:
    judge.tools_changed(agent_manifest(profile, catalog))
    own.offered.renew(catalog)


def _child(wanted: Wanted, configuration: Configuration, subagent: Subagent, above: Above) -> Child:
    """The session of a subagent. What may hold credentials, and the person, are not handed on."""
    names = {"surroundings", "approver", "clock", "hooks", "rules", "subagents", "on_demand"}
    inherited = {name: value for name, value in wanted.options.items() if name in names}
    inherited_tools = (*wanted.tools, *above.from_elsewhere)
    return wanted.make(
        tools=inherited_tools if subagent.tools is None else subagent.tools,
        profile=subagent.profile or wanted.profile,
        workspace=wanted.workspace,
        configuration=configuration,
        above=above,
        **inherited,
    )


def _commands(wanted: Wanted, settings: Settings) -> tuple[CommandPolicy, ...]:
    """What commands are held to: by the profile, and by those of the agents above."""
    above = wanted.options.get("above")
    own = profile_settings(settings.profile, wanted.profile).commands or "any"
    return (own, *(() if above is None else above.commands))


def _known(names: tuple[str, ...], catalog: Catalog, above: Above | None) -> tuple[str, ...]:
    if above is not None:  # they were given to the session above; a subagent may lack some
        return tuple(name for name in names if name in catalog)
    for name in names:
        if name not in catalog:
            hint = advice(name, [one.name for one in catalog])
            raise ConfigurationError(f"on_demand: there is no tool {name!r}; {hint}")
    return names


def _session(wanted: Wanted, ids: TimeIds) -> SessionFacts:
    workspace = wanted.workspace
    if workspace is not None and not Path(workspace).is_dir():
        raise ConfigurationError(
            f"workspace: {str(workspace)!r} is no directory; make it, or name another"
        )
    above = wanted.options.get("above")
    fresh = ids.new("ses") if above is None else above.child_id
    return SessionFacts(
        id=wanted.options.get("session") or fresh,
        workspace=None if workspace is None else str(Path(workspace).resolve()),
    )


def _judging(
    wanted: Wanted,
    configuration: Configuration,
    surroundings: Surroundings,
    session: SessionFacts,
    catalog: Catalog,
) -> JudgeParts:
    options = wanted.options
    above = options.get("above")
    place = None if session.workspace is None else Path(session.workspace)
    return JudgeParts(
        settings=configuration.settings,
        profile=wanted.profile,
        profile_settings=profile_settings(configuration.settings.profile, wanted.profile),
        surroundings=surroundings,
        tools=tuple(catalog),
        workspace=place,
        project=configuration.project or (None if place is None else project_root(place)),
        session_id=session.id,
        found=configuration.rules,
        rules=tuple(options.get("rules", ())),
        hooks=tuple(options.get("hooks", ())),
        audit=audit_log(configuration.settings.audit, surroundings),
        headless=options.get("approver") is None,
        answered=options.get("person") is not None,
        parents=() if above is None else above.rules,
        above=None if above is None else above.reach,
        tools_above=_no_tools if above is None else above.tools,
        commands_above=() if above is None else above.commands,
    )


def _log(
    wanted: Wanted,
    configuration: Configuration,
    surroundings: Surroundings,
    session: SessionFacts,
    clock: Clock,
    ids: TimeIds,
) -> SessionLog | None:
    above = wanted.options.get("above")
    created = SessionCreated(profile=wanted.profile, workspace=session.workspace)
    if above is not None:
        metadata: JsonObject = {**above.metadata, "depth": above.depth}
        created = msgspec.structs.replace(created, parent_id=above.session_id, metadata=metadata)
    log = session_log(configuration.settings, surroundings, created, session.id, clock, ids)
    if "session" in wanted.options and log is None:
        raise ConfigurationError(_NOTHING_TO_GO_ON_WITH)
    return log


def _asker(options: Options, log: SessionLog | None) -> Asker | None:
    person = options.get("person")
    if person != "elsewhere":
        return person
    if log is None:
        raise ConfigurationError(_NOBODY_ELSEWHERE)
    return _somebody_elsewhere


async def _somebody_elsewhere(_inquiry: Inquiry) -> Replies | None:
    await sleep_forever()


def _no_tools(_name: str) -> None:
    return None


async def _nobody(_ask: Ask) -> Answer | None:
    return None


def _unheard(_progress: Progress) -> None:
    return None
