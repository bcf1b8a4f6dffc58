"""What stands behind the ports that tools name: an entry for each, made for one session."""

from collections.abc import Callable, Mapping
from functools import cached_property, partial

import msgspec

from holdfast.app import language_servers
from holdfast.app.after_edit import hooks_of
from holdfast.app.file_bounds import bounds_of
from holdfast.app.later_hand import LaterHand
from holdfast.app.managed import basis as managed_basis
from holdfast.app.managed import mounts as managed_mounts
from holdfast.app.managed import session as managed_session
from holdfast.app.profiles import is_managed
from holdfast.app.settings import ProfileSettings, Settings, Surroundings
from holdfast.app.skill_places import SkillPlaces
from holdfast.contract import vectors
from holdfast.contract.after_edit import AfterEdit
from holdfast.contract.agents import RunLimits
from holdfast.contract.artifacts import Artifacts
from holdfast.contract.commanding import Commanding
from holdfast.contract.delegation import Delegation
from holdfast.contract.events import SessionCreated
from holdfast.contract.extraction import Extraction
from holdfast.contract.file_bounds import FileBounds
from holdfast.contract.journal import Journal
from holdfast.contract.language_servers import LanguageServers
from holdfast.contract.person import Application, Asker, Person
from holdfast.contract.plan_shelf import PlanShelf
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.programs import Programs
from holdfast.contract.runtime import Ports, Runtime, SessionFacts
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.contract.search import FileSearch
from holdfast.contract.searching import WebSearch
from holdfast.contract.skills import Skill, Skills
from holdfast.contract.todos import TodoList
from holdfast.contract.tool_index import ToolIndex
from holdfast.envelope.redact import Redactor
from holdfast.execution import artifacts
from holdfast.execution.extraction import parsers
from holdfast.execution.language_servers import call_servers, session_servers
from holdfast.execution.search import file_search
from holdfast.execution.session_outputs import SessionOutputs
from holdfast.execution.sidecars import SidecarFiles
from holdfast.policy.command_policies import form_of
from holdfast.runtime import after_edit, applications, child_sessions, plans
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.delegation import Agent, CallDelegation, Delegations
from holdfast.runtime.people import People
from holdfast.runtime.searching import SessionSearch, calls_before
from holdfast.runtime.session_log import SessionLog
from holdfast.runtime.todos import SessionTodos
from holdfast.runtime.tool_index import OfferedTools
from holdfast.sources.skills import SkillFolders
from holdfast.tools.locked.web_search import web_search


class PortParts(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's ports are made from."""

    session: SessionFacts
    settings: Settings
    profile: ProfileSettings
    surroundings: Surroundings
    catalog: Catalog
    hand: LaterHand
    sidecars: SidecarFiles
    clock: Clock
    ids: IdSource
    redactor: Redactor
    log: SessionLog | None
    asker: Asker | None
    """Who asks a person; None: nobody is there."""
    skills: SkillPlaces
    search: SessionSearch
    on_demand: tuple[str, ...] = ()
    agents: Mapping[str, Agent] = {}
    depth: int = 0
    """How far below the session that a person began."""
    created: SessionCreated
    """What its journal begins with."""
    bound: bool = False
    """Whether it works for another session, and ends with that."""
    mounts: "tuple[managed_mounts.Mount, ...]" = ()
    """What it stands on, where it is a managed one."""
    policy: Callable[[], SandboxPolicy] = SandboxPolicy
    """What its processes are confined to, all tools together."""
    vectors: "vectors.VectorBackend | None" = None
    """The program's own, who finds events by what they mean."""
    embedder: "vectors.Embedder | None" = None
    """The program's own, who makes vectors of texts."""
    against_writing: Callable[[Runtime, str], str | None] = lambda _call, _path: None
    """What rules say against a call that writes to a path; None: nothing."""


class SessionsBelow:
    """The sessions that a session handed work to: subagents, and those that last."""

    def __init__(
        self, parts: PortParts, new_session: Callable[[], str], tasks: Delegations
    ) -> None:
        self._parts = parts
        self._new_session = new_session
        self._tasks = tasks
        self.opener: child_sessions.Opener | None = None
        """Opens sessions that were delegated; None: nobody does."""

    @cached_property
    def children(self) -> "child_sessions.LastingChildren":
        """Those that last."""
        parts = self._parts
        return child_sessions.LastingChildren(
            child_sessions.ChildParts(
                created=parts.created,
                log=parts.log,
                redactor=parts.redactor,
                new_session=self._new_session,
                depth=lambda: self._tasks.depth,
                ends_with_another=parts.bound,
                opener=lambda: self.opener,
            )
        )

    async def stop(self) -> None:
        """Stop those that are run from here."""
        await self._tasks.close()
        if "children" in vars(self):
            await self.children.close()


class SessionPorts:
    """The ports of a session, and what they keep for it."""

    def __init__(self, parts: PortParts) -> None:
        self.parts = parts
        new_session = partial(parts.ids.new, "ses")
        self.todos = SessionTodos()
        self.outputs = SessionOutputs(parts.surroundings.data_home / "sessions", parts.session.id)
        self.offered = OfferedTools(parts.catalog, parts.on_demand)
        self.tasks = Delegations(parts.agents, parts.depth, new_session, parts.log, parts.redactor)
        self.left: Callable[[], RunLimits | None] = lambda: None
        """What the run under way may still use; None: nobody counts it."""
        self.is_paused = False
        """Its agent waits for a person, and whoever runs it comes back later."""
        self.below = SessionsBelow(parts, new_session, self.tasks)
        self._is_open = False
        self._search = parts.search
        self._hooks = hooks_of(parts.settings)
        # There, searches stand in for ls, find and grep, which leave nothing out.
        self._skips = parts.profile.commands != "managed"
        self._skills: SkillFolders | None = None
        form = form_of(parts.profile.commands or "any")
        self.commanding = form if self.managed is None else self.managed.commanding(form)
        self.commands_begin = partial(_begin, self.commanding)
        """Where a command runs of which nobody says it; None: in the workspace."""
        self.people = People(parts.asker, parts.log, parts.redactor, parts.clock)
        if parts.settings.lsp:
            _ = self._servers  # what does not fit is told before a call is made

    @cached_property
    def managed(self) -> "managed_session.ManagedSession | None":
        """What stands behind the managed tools; None: the profile has none of them."""
        parts = self.parts
        if not is_managed(parts.profile):
            return None
        return managed_session.ManagedSession(
            managed_basis.ManagedParts(
                session=parts.session,
                settings=parts.settings,
                surroundings=parts.surroundings,
                catalog=parts.catalog,
                hand=parts.hand,
                sidecars=parts.sidecars,
                clock=parts.clock,
                ids=parts.ids,
                redactor=parts.redactor,
                log=parts.log,
                created=parts.created,
                skills=lambda: self.skills,
                offer=self.offered.found,
                children=lambda: self.below.children,
                mounts=parts.mounts,
                policy=parts.policy,
                vectors=parts.vectors,
                embedder=parts.embedder,
                against_writing=parts.against_writing,
            )
        )

    @cached_property
    def applications(self) -> "applications.Applications":
        """Who fulfils the application's own tools."""
        return applications.Applications(self.parts.log, self.parts.redactor)

    @cached_property
    def artifacts(self) -> "artifacts.SessionArtifacts":
        """What its calls hand to people."""
        parts, limits = self.parts, self.parts.settings.limits
        quotas = artifacts.Quotas(limits.sidecar_call_bytes, limits.sidecar_session_bytes)
        folder = parts.surroundings.data_home / "sessions"
        return artifacts.SessionArtifacts(folder, parts.session.id, quotas)

    @cached_property
    def _servers(self) -> "session_servers.SessionServers":
        parts = self.parts
        known = language_servers.language_servers(
            parts.settings.lsp, parts.surroundings.environment
        )
        return session_servers.SessionServers(known, parts.session.workspace)

    @cached_property
    def _parsers(self) -> "parsers.Parsers":
        made = parsers.Parsers()
        if self._is_open:
            made.open()
        return made

    @property
    def skills(self) -> SkillFolders:
        """The skills, looked for once, when somebody first asks for one."""
        if self._skills is None:
            self._skills = SkillFolders(self.parts.skills.folders)
        return self._skills

    def all_skills(self) -> tuple[Skill, ...]:
        """The skills that can be loaded."""
        return self.skills.all()

    def all(self) -> Ports:
        """By port, what each call is handed."""
        return {
            **({} if self.managed is None else self.managed.ports()),
            TodoList: lambda _call: self.todos,
            Commanding: lambda _call: self.commanding,
            LanguageServers: self._language_servers,
            Artifacts: lambda call: artifacts.CallArtifacts(self.artifacts, call),
            Person: self.people.of,
            Application: lambda call: self.applications.of(call),
            Skills: lambda _call: self.skills,
            ToolIndex: lambda _call: self.offered,
            Delegation: lambda call: CallDelegation(self.tasks, call.call_id),
            PlanShelf: lambda call: plans.CallPlans(self.parts.sidecars, call),
            Extraction: lambda _call: self._parsers,
            WebSearch: self._search.of_call,
            FileBounds: self._bounds,
            Programs: self.parts.hand.programs,
            AfterEdit: lambda call: after_edit.CallHooks(call, self._hooks),
            FileSearch: self._file_search,
        }

    def stays_open(self, call_id: str) -> bool:
        """Whether a call waits for somebody, although nobody waits for the call."""
        if self.people.stays_open(call_id) or self.tasks.stays_open(call_id):
            return True
        return "applications" in vars(self) and self.applications.stays_open(call_id)

    def _bounds(self, call: Runtime) -> FileBounds:
        return bounds_of(self.parts.settings, self.parts.catalog, call.tool)

    def _file_search(self, call: Runtime) -> "file_search.RipgrepSearch":
        return file_search.RipgrepSearch(self.parts.hand.view(call), skips=self._skips)

    def _language_servers(self, call: Runtime) -> "call_servers.CallServers":
        return call_servers.CallServers(self._servers, call, lambda: self.parts.hand.shell(call))

    def open(self) -> None:
        """The session begins, or begins again."""
        self._is_open = True
        if self.parts.mounts:
            managed_mounts.make_folders(self.parts.mounts, self.parts.surroundings)
        if "_parsers" in vars(self):
            self._parsers.open()
        if self.managed is not None:
            self.managed.open()

    async def take_up(self, journal: Journal) -> None:
        """What the session used up before it was taken up counts on, and so does its depth."""
        state = (await journal.session(self.parts.session.id)).state
        depth = state.metadata.get("depth")
        if state.parent_id is not None and isinstance(depth, int):
            self.tasks.depth = depth
        below = {name: call.child for name, call in state.calls.items() if call.child is not None}
        self.tasks.waiting.update(below)
        before = await calls_before(journal, self.parts.session.id, web_search.name)
        self._search.used_before(before)

    async def close(self) -> None:
        """End what is kept for the next call."""
        self._is_open = False
        if "_parsers" in vars(self):
            await self._parsers.close()
        if self.managed is not None:
            await self.managed.close()


async def _begin(commanding: Commanding) -> str | None:
    return (await commanding.ground()).cwd
