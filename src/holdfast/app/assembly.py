"""Putting a session together: every part from configuration, in the order they need each other.

Nothing is opened or started here. What the parts do is not known here either.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from holdfast.app.audit import audit_log
from holdfast.app.configuration import Configuration
from holdfast.app.hands import HandSetup, hand_for, remarks_of
from holdfast.app.judging import JudgeParts, judge_for, reach_of
from holdfast.app.locations import project_root
from holdfast.app.options import Options, configuration_of
from holdfast.app.problems import ConfigurationError
from holdfast.app.profiles import catalog_of, profile_settings
from holdfast.app.session_ports import PortParts, SessionPorts
from holdfast.app.settings import Surroundings
from holdfast.app.store import session_log
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.call import Ask
from holdfast.contract.events import SessionCreated
from holdfast.contract.ports import Answer, Clock
from holdfast.contract.runtime import Progress, SessionFacts
from holdfast.contract.tool import Tool
from holdfast.envelope.redact import Redactor
from holdfast.execution.processes.hand import SessionHand
from holdfast.execution.sidecars import SidecarFiles
from holdfast.policy.judge import PolicyJudge
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.pipeline import Parts, Pipeline
from holdfast.runtime.session_log import SessionLog

_NOTHING_TO_GO_ON_WITH = (
    "Holdfast(session=...) cannot go on with a session: store.kind is none, so that nothing is"
    " written down; set store.kind = 'sqlite', or leave session= out"
)


class Wanted(NamedTuple):
    """What somebody asks for."""

    tools: Iterable[Tool]
    profile: str
    workspace: str | Path | None
    options: Options


class Whole(NamedTuple):
    """All parts of a session."""

    session: SessionFacts
    ids: TimeIds
    catalog: Catalog
    sidecars: SidecarFiles
    redactor: Redactor
    hand: SessionHand
    judge: PolicyJudge
    log: SessionLog | None
    own: SessionPorts
    pipeline: Pipeline


def assembled(wanted: Wanted) -> Whole:
    """All of it; ConfigurationError and ToolDefinitionError say what does not fit together."""
    options = wanted.options
    configuration = configuration_of(options, wanted.workspace)
    settings = configuration.settings
    surroundings = options.get("surroundings") or surroundings_of_this_process(settings)
    clock = options.get("clock") or SystemClock()
    ids = TimeIds(clock)
    session = _session(wanted, ids)
    chosen = profile_settings(settings.profile, wanted.profile)
    catalog = catalog_of(wanted.tools, chosen, settings.limits)
    sidecars = SidecarFiles(
        surroundings.data_home / "sessions",
        call_quota=settings.limits.sidecar_call_bytes,
        session_quota=settings.limits.sidecar_session_bytes,
    )
    judging = _judging(wanted, configuration, surroundings, session, catalog)
    reach = reach_of(judging)
    redactor = Redactor(surroundings.secrets)
    hand = hand_for(
        HandSetup(
            session=session,
            tools={tool.name: tool for tool in catalog},
            reach=reach,
            settings=settings.sandbox,
            surroundings=surroundings,
            sidecars=sidecars,
            redactor=redactor,
            clock=clock,
            ids=ids,
            audit=judging.audit,
        )
    )
    judge = judge_for(msgspec.structs.replace(judging, protects=hand.protects), reach, clock.now)
    log = _log(wanted, configuration, surroundings, session, clock, ids)
    own = SessionPorts(
        PortParts(
            session=session,
            profile=wanted.profile,
            settings=settings,
            surroundings=surroundings,
            catalog=catalog,
            hand=hand,
            sidecars=sidecars,
            clock=clock,
            ids=ids,
        )
    )
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
            remarks=remarks_of(settings.sandbox),
            max_argument_bytes=settings.limits.argument_bytes,
        )
    )
    return Whole(session, ids, catalog, sidecars, redactor, hand, judge, log, own, pipeline)


def _session(wanted: Wanted, ids: TimeIds) -> SessionFacts:
    workspace = wanted.workspace
    return SessionFacts(
        id=wanted.options.get("session") or ids.new("ses"),
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
    )


def _log(
    wanted: Wanted,
    configuration: Configuration,
    surroundings: Surroundings,
    session: SessionFacts,
    clock: Clock,
    ids: TimeIds,
) -> SessionLog | None:
    created = SessionCreated(profile=wanted.profile, workspace=session.workspace)
    log = session_log(configuration.settings, surroundings, created, session.id, clock, ids)
    if "session" in wanted.options and log is None:
        raise ConfigurationError(_NOTHING_TO_GO_ON_WITH)
    return log


async def _nobody(_ask: Ask) -> Answer | None:
    return None


def _unheard(_progress: Progress) -> None:
    return None
