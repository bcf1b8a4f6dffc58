"""Putting a session together: every part from configuration, in the order they need each other.

Nothing is opened or started here. What the parts do is not known here either.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from holdfast.app import children, doubts, opened_under, servers, telemetry
from holdfast.app.after_edit import hooks_tool
from holdfast.app.audit import audit_log
from holdfast.app.command_tools import strictest
from holdfast.app.configuration import Configuration
from holdfast.app.hands import HandSetup, KnownTools, hand_for, leaves_of, remarks_of, whole_policy
from holdfast.app.judging import JudgeParts, agent_manifest, judge_for
from holdfast.app.later_hand import LaterHand
from holdfast.app.locations import project_root
from holdfast.app.managed import mounts
from holdfast.app.named_sources import (
    NamedSources,
    server_tools,
    sources_of,
    told_of,
    with_secrets,
)
from holdfast.app.options import (
    OpenedUnder,
    Options,
    Wanted,
    beginning_of,
    configuration_of,
    facts_of,
)
from holdfast.app.outside import Bounds, Outside
from holdfast.app.problems import ConfigurationError
from holdfast.app.profiles import catalog_of, is_managed, on_demand, profile_settings
from holdfast.app.reaching import reach_of
from holdfast.app.session_ports import PortParts, SessionPorts
from holdfast.app.settings import ProfileSettings, Settings, Surroundings
from holdfast.app.skill_places import skill_places
from holdfast.app.spelling import advice
from holdfast.app.store import clock_for, session_log
from holdfast.app.subagents import Above, Child, Subagent, agents_of, always, confirmed_below
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.app.web import session_search
from holdfast.app.who_answers import approver_of, asker_of
from holdfast.contract.agents import CompiledAgent
from holdfast.contract.commanding import CommandPolicy
from holdfast.contract.ports import Clock
from holdfast.contract.runtime import Progress, SessionFacts
from holdfast.contract.tool import Tool
from holdfast.envelope.redact import Redactor
from holdfast.execution.sidecars import SidecarFiles
from holdfast.policy.judge import PolicyJudge
from holdfast.runtime import applications
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.pipeline import Parts, Pipeline
from holdfast.runtime.session_log import SessionLog
from holdfast.runtime.turn import Turn
from holdfast.runtime.visibility import SeenAbove, visible

_NOTHING_TO_GO_ON_WITH = (
    "Holdfast(session=...) cannot go on with a session: store.kind is none, so that nothing is"
    " written down; set store.kind = 'sqlite', or leave session= out"
)


class Whole(msgspec.Struct, frozen=True):
    """All parts of a session."""

    session: SessionFacts
    clock: Clock
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
    agent: CompiledAgent | None
    """The agent that the session is opened under."""
    wanted: Wanted
    configuration: Configuration
    surroundings: Surroundings
    telemetry: "telemetry.SessionTelemetry | None"
    """Who tells others what happens; None: nobody, as it is configured."""


def assembled(wanted: Wanted) -> Whole:
    """All of it; ConfigurationError and ToolDefinitionError say what does not fit together."""
    options = wanted.options
    configuration = configuration_of(options, wanted.workspace)
    settings = configuration.settings
    surroundings = options.get("surroundings") or surroundings_of_this_process(settings)
    clock = options.get("clock") or clock_for(settings)
    ids = TimeIds(clock)
    session = facts_of(wanted, ids)
    wanted = _under_its_profile(wanted, settings)
    sources = sources_of(wanted.profile, options, configuration)
    under = _opened_under(wanted, sources, configuration, surroundings, session.workspace)
    agent = under.agent
    commands = _commands(wanted, settings)
    chosen = msgspec.structs.replace(
        profile_settings(settings.profile, wanted.profile), commands=strictest(commands)
    )
    above = options.get("above")
    top = session.id if above is None else above.top
    surroundings = with_secrets(surroundings, sources)
    tools = (*_own_tools(wanted), *sources.plugins)
    shown = (chosen.tools, *(() if agent is None else (agent.agent.tools,)), *_seen_above(wanted))
    catalog = visible(catalog_of(tools, chosen, settings, top), *shown)
    outside = Outside(catalog, Bounds(settings.limits, shown), sources.manifests)
    sidecars = SidecarFiles(
        surroundings.data_home / "sessions",
        call_quota=settings.limits.sidecar_call_bytes,
        session_quota=settings.limits.sidecar_session_bytes,
    )
    judging, mounts_here = _mounted(
        msgspec.structs.replace(
            _judging(wanted, configuration, surroundings, session, catalog),
            agent=agent,
            unseen=(*hooks_tool(settings), *server_tools(sources, surroundings)),
            vouched=outside.vouched,
            kept=tuple(path for one in sources.manifests for path in one.made_from),
            commands_begin=lambda: own.commands_begin(),
        ),
        chosen,
        sources,
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
    created = beginning_of(wanted, session, agent)
    log = _kept(session_log(settings, surroundings, created, session.id, clock, ids), options)
    search = session_search(settings.web, top, surroundings) if above is None else above.search
    bundled = (*(() if agent is None else agent.agent.skills), *options.get("skills", ()))
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
            asker=asker_of(options, log),
            skills=skill_places(configuration, surroundings, session.workspace, bundled),
            search=search,
            on_demand=(
                *_known(tuple(options.get("on_demand", ())), catalog, above),
                *on_demand(chosen, [one.name for one in catalog]),
            ),
            agents=agents_of(
                under.subagents,
                lambda child, metadata: Above(
                    session_id=session.id,
                    child_id=child,
                    depth=own.tasks.depth + 1,
                    metadata=metadata,
                    reach=reach,
                    tools=catalog.get,
                    sees=lambda name: all(one.admits(name) for one in shown),
                    from_elsewhere=(*sources.plugins, *outside.tools()),
                    rules=judge.as_parent,
                    commands=commands,
                    confirmed=partial(confirmed_below, catalog.get, commands, above),
                    turn=turn,
                    search=search,
                    left=lambda: own.left(),
                    top=top,
                ),
                partial(_child, wanted, configuration),
            ),
            depth=0 if above is None else above.depth,
            created=created,
            bound=above is not None,
            mounts=mounts_here,
            policy=partial(whole_policy, reach),
            vectors=options.get("vectors"),
            embedder=options.get("embedder"),
            against_writing=hand_setup.against_writing,
        )
    )
    outside.servers = _servers(sources, hand_setup, hand, tuple(settings.mcp))
    outside.notices, outside.left_out = told_of(sources, configuration, options, wanted.profile)
    outside.changed = partial(_tools_changed, judge, catalog, own, (wanted.profile, agent))
    pipeline = Pipeline(
        Parts(
            catalog=catalog,
            judge=judge,
            approver=approver_of(options),
            clock=clock,
            ids=ids,
            sidecars=sidecars,
            redactor=redactor,
            session=session,
            progress=options.get("progress") or _unheard,
            hand=hand,
            ports={**own.all(), **options.get("ports", {})},
            log=log,
            stays_open=own.stays_open,
            fulfils=options.get("application") is not None,
            around=own.managed,
            remarks=remarks_of(settings.sandbox),
            max_argument_bytes=settings.limits.argument_bytes,
            turn=turn,
        )
    )
    doubts = partial(_doubts, settings, wanted.profile, [tool.name for tool in tools], outside)
    return Whole(
        *(session, clock, ids, catalog, sidecars, redactor, hand),
        *(judge, log, own, turn, pipeline, doubts, outside),
        *(agent, wanted, configuration, surroundings),
        telemetry.session_telemetry(settings, surroundings, created, log)
        if settings.telemetry.enabled
        else None,
    )


def _mounted(
    judging: JudgeParts, profile: ProfileSettings, sources: NamedSources
) -> "tuple[JudgeParts, tuple[mounts.Mount, ...]]":
    """With what is mounted and what is granted; only managed sessions have mounts."""
    judging = msgspec.structs.replace(judging, granted=(sources.granted,))
    if not is_managed(profile) and not judging.settings.vault:
        return judging, ()
    found = mounts.mounts_of(judging, is_managed=is_managed(profile))
    return mounts.mounted(judging, found), found


def _own_tools(wanted: Wanted) -> Iterator[Tool]:
    """The host's; those that only the application fulfils wait for it, where it is there."""
    waits = wanted.options.get("application") is not None
    for tool in wanted.tools:
        custom = waits and tool.ownership == "custom"
        yield applications.fulfilled_outside(tool) if custom else tool


def _servers(
    sources: NamedSources, setup: HandSetup, hand: LaterHand, configured: tuple[str, ...]
) -> "servers.SessionServers | None":
    if not sources.servers:
        return None
    return servers.servers_of(
        sources.servers,
        servers.ServerParts(
            session=setup.session,
            surroundings=setup.surroundings,
            hand=hand,
            sidecars=setup.sidecars,
            clock=setup.clock,
            redactor=setup.redactor,
            leaves=lambda name: leaves_of(setup, setup.tools(name), None),
            configured=configured,
        ),
    )


def _kept(log: SessionLog | None, options: Options) -> SessionLog | None:
    if log is None and "session" in options:
        raise ConfigurationError(_NOTHING_TO_GO_ON_WITH)
    return log


def _doubts(settings: Settings, profile: str, given: list[str], outside: Outside) -> list[str]:
    """What the configuration says in vain, and what is doubtful about tools from elsewhere."""
    return [*doubts.doubts_of(settings, profile, [*given, *outside.declared()]), *outside.remarks()]


def _tools_changed(
    judge: PolicyJudge,
    catalog: Catalog,
    own: SessionPorts,
    under: tuple[str, CompiledAgent | None],
) -> None:
    judge.tools_changed(agent_manifest(*under, catalog))
    own.offered.renew(catalog)


def _under_its_profile(wanted: Wanted, settings: Settings) -> Wanted:
    if wanted.options.get("agent") is None:
        return wanted
    return msgspec.structs.replace(wanted, profile=opened_under.profile_of(wanted, settings))


def _opened_under(
    wanted: Wanted,
    sources: NamedSources,
    configuration: Configuration,
    surroundings: Surroundings,
    workspace: str | None,
) -> OpenedUnder:
    """Without an agent, and without somebody who runs the loops of others, none is looked at."""
    if wanted.options.get("agent") is None and "runner" not in wanted.options:
        return OpenedUnder(None, wanted.options.get("subagents", {}))
    return opened_under.opened_under(wanted, sources, configuration, surroundings, workspace)


def _child(wanted: Wanted, configuration: Configuration, subagent: Subagent, above: Above) -> Child:
    return children.child_session(wanted, configuration, subagent, above)


def _seen_above(wanted: Wanted) -> tuple[SeenAbove, ...]:
    """What a subagent sees at most."""
    above = wanted.options.get("above")
    if above is None:
        return ()
    own = (tool.name for tool in wanted.tools) if above.own_tools else ()
    return (SeenAbove(above.sees, frozenset(own)),)


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


def _judging(
    wanted: Wanted,
    configuration: Configuration,
    surroundings: Surroundings,
    session: SessionFacts,
    catalog: Catalog,
) -> JudgeParts:
    options = wanted.options
    above, flow = options.get("above"), options.get("flow")
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
        confirmed_above=always if above is None else above.confirmed,
        in_sandbox=None if flow is None else flow.in_sandbox,
    )


def _no_tools(_name: str) -> None:
    return None


def _unheard(_progress: Progress) -> None:
    return None
