"""Putting a session's hand together: gates and policies from what its tools reach."""

from collections.abc import Callable, Mapping
from functools import cache, partial

import msgspec

from holdfast.app.later_hand import LaterHand
from holdfast.app.settings import SandboxSettings, Surroundings
from holdfast.app.undo import changes_of
from holdfast.contract.audit import AuditLog
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.sandbox import SandboxLimits, SandboxPolicy
from holdfast.contract.tool import Tool
from holdfast.envelope.redact import Redactor
from holdfast.execution.processes import aftermath, hand
from holdfast.execution.sidecars import SidecarFiles
from holdfast.policy.bounds import Bounds
from holdfast.policy.command_gate import command_refusal
from holdfast.policy.containment import reads_all_below
from holdfast.policy.denied_places import within_rules
from holdfast.policy.reach import Reach
from holdfast.policy.sandbox_policy import sandbox_policy

UNCONFINED_REMARK = (
    "Processes of this session run unconfined: the configuration says so"
    " (sandbox.confinement = 'unconfined')."
)


class HandSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What a hand is made from."""

    session: SessionFacts
    tools: Mapping[str, Tool]
    reach: Reach
    bounds: Callable[[], Bounds]
    """What the rules say of what its calls come upon."""
    settings: SandboxSettings
    surroundings: Surroundings
    sidecars: SidecarFiles
    redactor: Redactor
    clock: Clock
    ids: IdSource
    audit: AuditLog


def hand_for(setup: HandSetup) -> LaterHand:
    """The hand of a session. Nothing is started or made before a call needs it."""
    return LaterHand(partial(_made, setup))


def _made(setup: HandSetup, *, closed: bool) -> "hand.SessionHand":
    around = setup.surroundings
    return hand.SessionHand(
        hand.HandParts(
            session=setup.session,
            folder=around.data_home / "sessions" / setup.session.id,
            leaves=partial(_leaves, setup),
            # What a session may reach never changes, nor do the denies it begins with (what a
            # person refuses later is about calls); compiling it costs more than a decision.
            policy=cache(partial(_policy, setup)),
            environment=around.environment,
            spools=partial(setup.sidecars.spool, setup.session.id),
            changes=changes_of(around.data_home, setup.session.id, setup.clock),
            clock=setup.clock,
            ids=setup.ids,
            audit=setup.audit,
            most_shown=partial(_most_shown, setup),
            scrubber=setup.redactor.stream if setup.redactor.active else None,
            confinement=setup.settings.confinement,
        ),
        closed=closed,
    )


def remarks_of(settings: SandboxSettings) -> tuple[str, ...]:
    """What every answer has to say about the sandbox."""
    return (UNCONFINED_REMARK,) if settings.confinement == "unconfined" else ()


def moved_remark(session: SessionFacts, begun_in: str | None) -> str | None:
    """What to say of a session that is taken up in another workspace; None: it is the same."""
    if session.workspace == begun_in:
        return None
    before, now = begun_in or "no workspace", session.workspace or "no workspace"
    wanted = "without workspace=" if begun_in is None else f"with workspace={begun_in!r}"
    return (
        f"session {session.id} was begun in {before} and is taken up in {now}: paths mean other"
        f" files here, and what was allowed before does not run; open it {wanted} for that"
    )


def _leaves(setup: HandSetup, name: str, call_id: str | None) -> "aftermath.Leaves":
    tool = setup.tools[name]
    reach, bounds = setup.reach, setup.bounds()
    scope = reach.scope(tool)
    against = partial(bounds.against, tool, call_id)
    reads = bounds.narrow(tool, "fs.read")
    files = against if reads or bounds.narrow(tool, "fs.write") else None
    hosts = against if bounds.narrow(tool, "net.fetch") else None
    return aftermath.Leaves(
        open=partial(reach.path, tool, files),
        reach=partial(reach.host, tool, hosts),
        run=partial(command_refusal, scope),
        all_below=_not_all if reads else partial(reads_all_below, scope),
    )


def _not_all(_directory: str) -> bool:
    """A rule may speak against something there."""
    return False


def _most_shown(setup: HandSetup, name: str) -> int:
    return setup.tools[name].limits.output.max_bytes


def _policy(setup: HandSetup, name: str) -> SandboxPolicy:
    wanted = setup.settings
    limits = SandboxLimits(
        cpu_seconds=wanted.cpu_seconds,
        memory_bytes=wanted.memory_bytes,
        processes=wanted.processes,
        file_bytes=wanted.file_bytes,
    )
    tool, reach = setup.tools[name], setup.reach
    policy = sandbox_policy(reach.scope(tool), limits)
    return within_rules(policy, setup.bounds().scales, tool, reach.places)
