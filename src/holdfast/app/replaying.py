"""Putting a strict replay together: the tools, rules and settings of now, and nothing that acts.

Nothing is remembered, nothing is started and nothing is written, whatever the recording says.
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from holdfast.app.agents import Ground, compiled
from holdfast.app.configuration import Configuration
from holdfast.app.hands import UNCONFINED_REMARK, remarks_of
from holdfast.app.judging import JudgeParts, grants_of, judge_for
from holdfast.app.locations import project_root
from holdfast.app.profiles import catalog_of, profile_settings
from holdfast.app.reaching import reach_of
from holdfast.app.settings import DEFAULT_PROFILE, Settings, Surroundings
from holdfast.contract.agents import Agent, CompiledAgent
from holdfast.contract.archive import Archive
from holdfast.contract.events import ApprovalAsked, CallRefused, Event, SessionCreated
from holdfast.contract.journal import Journal, JournalError
from holdfast.contract.ports import GrantStore
from holdfast.contract.rules import Rule
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.tool import Tool
from holdfast.envelope.redact import Redactor
from holdfast.policy.hooks.unprotected import UNPROTECTED
from holdfast.policy.words import NO_ANSWERS, NOBODY_TO_ASK
from holdfast.record.codec import Chain
from holdfast.record.divergence import not_vouched_for
from holdfast.runtime.replaying import ReplayClock, Replayed, ReplayParts, replayed
from holdfast.runtime.visibility import visible

_PAGE = 1000


async def recording(journal: Journal, archive: Archive, name: str) -> tuple[Event, ...]:
    """All events of the session that is called so; UnknownSession."""
    session_id = await archive.called(name)
    events: list[Event] = []
    while page := await journal.events(session_id, after=len(events), limit=_PAGE):
        events += page
    return tuple(events)


class Now(msgspec.Struct, frozen=True, kw_only=True):
    """What a recording is held against."""

    tools: Sequence[Tool]
    configuration: Configuration
    surroundings: Surroundings
    chain: Chain
    """What vouches for the journal."""
    agents: Sequence[Agent] = ()
    """Beside those of the configuration."""


async def replay_strictly(events: Sequence[Event], now: Now) -> Replayed:
    """Settle the calls of a recording once more, and name the first event that is another one.

    JournalError for a recording that does not say how it began.
    """
    created = events[0].payload if events else None
    if not isinstance(created, SessionCreated):
        raise JournalError("the recording does not begin with the beginning of its session")
    found = await replayed(events, _parts(events, created, now))
    forged = not_vouched_for(events, now.chain)
    if forged is None:
        return found
    known = found.divergence
    if known is not None and known.sequence <= forged.sequence:
        return found
    return msgspec.structs.replace(found, divergence=forged)


def _parts(events: Sequence[Event], created: SessionCreated, now: Now) -> ReplayParts:
    settings = _without_programs(now.configuration.settings)
    profile = created.profile or DEFAULT_PROFILE
    chosen = profile_settings(settings.profile, profile)
    session = SessionFacts(id=events[0].session_id, workspace=created.workspace)
    place = None if created.workspace is None else Path(created.workspace)
    clock = ReplayClock()
    agent = _agent(created, profile, now)
    shown = () if agent is None else (agent.agent.tools,)
    catalog = visible(catalog_of(now.tools, chosen, settings, session.id), *shown)
    judging = JudgeParts(
        settings=settings,
        profile=profile,
        profile_settings=chosen,
        agent=agent,
        surroundings=now.surroundings,
        tools=tuple(catalog),
        workspace=place,
        project=now.configuration.project or (None if place is None else project_root(place)),
        session_id=session.id,
        found=now.configuration.rules,
        protects=_Protected(events),
        headless=_was_headless(events),
        answered=not _was_refused(events, NO_ANSWERS),
    )
    judging = msgspec.structs.replace(
        judging, grants=_OlderGrants(grants_of(judging), events[0].at)
    )
    return ReplayParts(
        tools=judging.tools,
        judge=judge_for(judging, reach_of(judging), clock.now),
        clock=clock,
        redactor=Redactor(now.surroundings.secrets),
        session=session,
        created=created,
        remarks=remarks_of(settings.sandbox),
        known_remarks=frozenset({UNCONFINED_REMARK}),
        max_argument_bytes=settings.limits.argument_bytes,
    )


def _agent(created: SessionCreated, profile: str, now: Now) -> CompiledAgent | None:
    """The agent it ran under, as it is declared now; None: under none, or it is not there."""
    settings = now.configuration.settings
    found = {**settings.agent, **{one.id: one for one in now.agents}}
    name = created.agent_id
    if name is None or name not in found:
        return None
    ground = Ground(
        settings=settings,
        surroundings=now.surroundings,
        workspace=None if created.workspace is None else Path(created.workspace),
        profile=profile,
        may_come=lambda _name: True,  # which tools there were is held against the recording
        agents={other: one.mode for other, one in found.items()},
    )
    return compiled(found[name], ground, name)


def _without_programs(settings: Settings) -> Settings:
    """Programs of the watchdog cannot be asked: nothing is started."""
    quiet = msgspec.structs.replace(settings.watchdog, commands=())
    return msgspec.structs.replace(settings, watchdog=quiet)


def _was_headless(events: Sequence[Event]) -> bool:
    """Whether nobody was there to be asked, as what was refused tells."""
    if any(isinstance(event.payload, ApprovalAsked) for event in events):
        return False
    return _was_refused(events, NOBODY_TO_ASK)


def _was_refused(events: Sequence[Event], reason: str) -> bool:
    refused = (event.payload for event in events if isinstance(event.payload, CallRefused))
    return any(said.reason == reason for said in refused)


class _Protected:
    """Whether commands were kept from protected places: a fact of the machine of then."""

    def __init__(self, events: Sequence[Event]) -> None:
        words = UNPROTECTED.encode()
        said = [msgspec.json.encode(event.payload) for event in events]
        self._kept = not any(words in text for text in said)

    def __call__(self, _tool: str, /) -> bool:
        return self._kept


class _OlderGrants:
    """What was remembered before the session began: what it added came of the answers in it."""

    def __init__(self, kept: GrantStore, begun: datetime) -> None:
        self._kept = kept
        self._begun = begun

    def load(self) -> tuple[Rule, ...]:
        older = self._kept.load()
        return tuple(one for one in older if one.added_at is None or one.added_at < self._begun)

    def add(self, _grants: Sequence[Rule], /) -> None:
        """It holds for the replay, and is not kept."""
