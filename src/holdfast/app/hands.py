"""Putting a session's hand together: gates and policies from what its tools reach."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import msgspec

from holdfast.app import undo
from holdfast.app.later_hand import LaterHand
from holdfast.app.settings import SandboxSettings, Surroundings
from holdfast.contract.audit import AuditLog
from holdfast.contract.paths import is_within
from holdfast.contract.ports import Clock, IdSource, PathView
from holdfast.contract.requirements import RequirementSet
from holdfast.contract.rules import Use
from holdfast.contract.runtime import Runtime, SessionFacts
from holdfast.contract.sandbox import SandboxLimits, SandboxPolicy
from holdfast.contract.tool import Alone, Tool
from holdfast.envelope.redact import Redactor
from holdfast.execution.path_facts import DiskPaths
from holdfast.execution.processes import aftermath, hand
from holdfast.execution.processes import tenure as tenures
from holdfast.execution.sidecars import SidecarFiles
from holdfast.policy import command_gate, containment, denied_places, sandbox_policy
from holdfast.policy.bounds import Bounds
from holdfast.policy.reach import Reach
from holdfast.runtime.catalog import Catalog

UNCONFINED_REMARK = (
    "Processes of this session run unconfined: the configuration says so"
    " (sandbox.confinement = 'unconfined')."
)


class HandSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What a hand is made from."""

    session: SessionFacts
    tools: Callable[[str], Tool]
    """The tool of a name, as it was last declared."""
    kept: tuple[str, ...] = ()
    """What tools are made from: no process writes there."""
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

    def against_writing(self, call: Runtime, path: str) -> str | None:
        """What rules say against a call that writes there, for a tool that shares files where no
        other call writes; None: nothing does. Whether its scope reaches the place is not asked."""
        use = self.reach.named(Use(capability="fs.write", kind="path", target=path))
        return self.bounds().against(self.tools(call.tool), call.call_id, use)


class KnownTools:
    """The tools of a session by name, those that the host itself runs as included.

    A call of a tool may still run when its source has none of that name any more.
    """

    def __init__(self, unseen: Iterable[Tool], catalog: Catalog) -> None:
        self._unseen = {tool.name: tool for tool in unseen}
        self._seen: dict[str, Tool] = {}
        self._catalog = catalog

    def __call__(self, name: str) -> Tool:
        """The tool as it was last declared; what the host runs as is never anybody else's."""
        if name in self._unseen:
            return self._unseen[name]
        tool = self._catalog.get(name)
        if tool is not None:
            self._seen[name] = tool
        return self._seen[name]


def hand_for(setup: HandSetup) -> LaterHand:
    """The hand of a session. Nothing is started or made before a call needs it."""
    return LaterHand(partial(_made, setup))


def _made(
    setup: HandSetup, *, closed: bool, tenure: "tenures.Tenure | None" = None
) -> "hand.SessionHand":
    around = setup.surroundings
    return hand.SessionHand(
        hand.HandParts(
            session=setup.session,
            folder=around.data_home / "sessions" / setup.session.id,
            tools=setup.tools,
            leaves=partial(leaves_of, setup),
            policy=_Policies(setup),
            environment=around.environment,
            parent_environment=around.parent_environment,
            spools=partial(setup.sidecars.spool, setup.session.id),
            changes=undo.changes_of(around.data_home, setup.session.id, setup.clock),
            clock=setup.clock,
            ids=setup.ids,
            audit=setup.audit,
            scrubber=setup.redactor.stream if setup.redactor.active else None,
            confinement=setup.settings.confinement,
            tenure=tenure,
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


class _Policies:
    """What the processes of tools are confined to, compiled once for what each one requires.

    What a session may reach changes with that alone, nor do the denies it begins with change (what
    a person refuses later is about calls); compiling it costs more than a decision.
    """

    def __init__(self, setup: HandSetup) -> None:
        self._setup = setup
        self._known: dict[tuple[str, RequirementSet, Alone | None], SandboxPolicy] = {}

    def __call__(self, tool: Tool) -> SandboxPolicy:
        key = tool.name, tool.requires, tool.alone
        if key not in self._known:
            self._known[key] = _policy(self._setup, tool)
        return self._known[key]


def leaves_of(setup: HandSetup, tool: Tool, call_id: str | None) -> "aftermath.Leaves":
    """What a tool may open, reach and run; ``call_id``: in one of its calls."""
    reach, bounds = setup.reach, setup.bounds()
    scope = reach.scope(tool)
    against = partial(bounds.against, tool, call_id)
    reads = bounds.narrow(tool, "fs.read")
    files = against if reads or bounds.narrow(tool, "fs.write") else None
    hosts = against if bounds.narrow(tool, "net.fetch") else None
    return aftermath.Leaves(
        open=partial(reach.path, tool, files),
        reach=partial(reach.host, tool, hosts),
        run=partial(command_gate.command_refusal, scope),
        all_below=_not_all if reads else partial(containment.reads_all_below, scope),
    )


def _not_all(_directory: str) -> bool:
    """A rule may speak against something there."""
    return False


def whole_policy(reach: Reach) -> SandboxPolicy:
    """What processes are confined to, all tools together; what rules deny is not in it."""
    return sandbox_policy.sandbox_policy(reach.agent)


def _policy(setup: HandSetup, tool: Tool) -> SandboxPolicy:
    wanted = setup.settings
    limits = SandboxLimits(
        cpu_seconds=wanted.cpu_seconds,
        memory_bytes=wanted.memory_bytes,
        processes=wanted.processes,
        file_bytes=wanted.file_bytes,
    )
    reach = setup.reach
    policy = sandbox_policy.sandbox_policy(reach.scope(tool), limits)
    if tool.alone is not None:
        readable = sandbox_policy.outermost(
            (*policy.readable, *_on_the_disk(tool.alone.started_from))
        )
        policy = msgspec.structs.replace(policy, readable=readable, owner=tool.alone.owner)
    inside = [
        path
        for path in _on_the_disk(setup.kept)
        if any(is_within(path, root) for root in policy.writable)
    ]
    protected = sandbox_policy.outermost((*policy.protected, *inside))
    policy = msgspec.structs.replace(policy, protected=protected)
    return denied_places.within_rules(policy, setup.bounds().scales, tool, reach.places)


def _on_the_disk(paths: Iterable[str]) -> Iterator[str]:
    """Where they really lie; what cannot be found is not read."""
    facts = DiskPaths()
    seen = (facts.look(path, None) for path in paths)
    return (one.physical for one in seen if isinstance(one, PathView))
