"""What stands behind the ports that tools name: an entry for each, made for one session."""

from collections.abc import Mapping

import msgspec

from holdfast.app.settings import Settings, Surroundings
from holdfast.app.skill_places import SkillPlaces
from holdfast.contract.delegation import Delegation
from holdfast.contract.person import Asker, Person
from holdfast.contract.plan_shelf import PlanShelf
from holdfast.contract.ports import Clock, IdSource
from holdfast.contract.runtime import Hand, Ports, SessionFacts
from holdfast.contract.skills import Skills
from holdfast.contract.todos import TodoList
from holdfast.contract.tool_index import ToolIndex
from holdfast.envelope.redact import Redactor
from holdfast.execution.sidecars import SidecarFiles
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.delegation import Agent, Delegations
from holdfast.runtime.people import People
from holdfast.runtime.plans import CallPlans
from holdfast.runtime.session_log import SessionLog
from holdfast.runtime.todos import SessionTodos
from holdfast.runtime.tool_index import OfferedTools
from holdfast.sources.skills import SkillFolders


class PortParts(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's ports are made from."""

    session: SessionFacts
    settings: Settings
    surroundings: Surroundings
    catalog: Catalog
    hand: Hand
    sidecars: SidecarFiles
    clock: Clock
    ids: IdSource
    redactor: Redactor
    log: SessionLog | None
    asker: Asker | None
    """Who asks a person; None: nobody is there."""
    skills: SkillPlaces
    on_demand: tuple[str, ...] = ()
    agents: Mapping[str, Agent] = {}
    depth: int = 0
    """How far below the session that a person began."""


class SessionPorts:
    """The ports of a session, and what they keep for it."""

    def __init__(self, parts: PortParts) -> None:
        self.parts = parts
        self.todos = SessionTodos()
        self.offered = OfferedTools(parts.catalog, parts.on_demand)
        self.tasks = Delegations(
            parts.agents, parts.depth, self._new_session, parts.log, parts.redactor
        )
        self._skills: SkillFolders | None = None
        self.people = People(parts.asker, parts.log, parts.redactor, parts.clock)

    def _new_session(self) -> str:
        return self.parts.ids.new("ses")

    @property
    def skills(self) -> SkillFolders:
        """The skills, looked for once, when somebody first asks for one."""
        if self._skills is None:
            self._skills = SkillFolders(self.parts.skills.folders)
        return self._skills

    def all(self) -> Ports:
        """By port, what each call is handed."""
        return {
            TodoList: lambda _call: self.todos,
            Person: self.people.of,
            Skills: lambda _call: self.skills,
            ToolIndex: lambda _call: self.offered,
            Delegation: lambda _call: self.tasks,
            PlanShelf: lambda call: CallPlans(self.parts.sidecars, call),
        }
