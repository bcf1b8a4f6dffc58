"""What can be seen of a session from outside: its tools, its lists, what is owed and doubtful.

Nothing is settled here.
"""

from collections.abc import Callable

from holdfast.app import shown_commands
from holdfast.app.later_hand import LaterHand
from holdfast.app.outside import Outside
from holdfast.app.session_ports import SessionPorts
from holdfast.contract.delegation import FinishedTask
from holdfast.contract.envelope import Envelope
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.shell import LiveCommands
from holdfast.contract.skills import Skill
from holdfast.contract.todos import Todo
from holdfast.contract.tool import Tool
from holdfast.envelope.redact import Redactor
from holdfast.execution.session_outputs import SessionOutputs
from holdfast.runtime import recovery
from holdfast.runtime.catalog import Catalog
from holdfast.sources import lint
from holdfast.sources.mcp.states import ServerState


class SessionViews:
    """The views of a session."""

    _session: SessionFacts
    _catalog: Catalog
    _hand: LaterHand
    _redactor: Redactor
    _own: SessionPorts
    _taken_up: "recovery.TakenUp | None"
    _moved: str | None
    _below: str | None
    _doubts: Callable[[], list[str]]
    _outside: Outside

    @property
    def session_id(self) -> str:
        """The session that calls are settled in."""
        return self._session.id

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that can be called, in the order they were registered."""
        return tuple(self._catalog)

    @property
    def offered(self) -> tuple[Tool, ...]:
        """The tools that a model is offered now: all, or of more than 20 those it found and others.

        What it found comes behind what it was offered before. Each of `tools` can be called.
        """
        return self._own.offered.offered()

    @property
    def finished_tasks(self) -> tuple[FinishedTask, ...]:
        """The work handed to subagents in the background that has ended, in the order of ends."""
        return self._own.tasks.finished

    @property
    def todos(self) -> tuple[Todo, ...]:
        """What the session has to do, as it last said."""
        return self._own.todos.all()

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills that can be loaded: a name and one line each, the same for the whole session.

        `remarks_on_skills` tells what was passed over.
        """
        return self._own.skills.all()

    @property
    def remarks_on_skills(self) -> tuple[str, ...]:
        """Which skills were passed over, and why."""
        return (*self._own.parts.skills.remarks, *self._own.skills.remarks)

    @property
    def outputs(self) -> SessionOutputs:
        """The files that the session keeps for others to read: artifacts and whole outputs."""
        return self._own.outputs

    @property
    def commands(self) -> LiveCommands:
        """The commands that run now: what they print, and how to end one."""
        return shown_commands.ShownCommands(self._hand.commands, self._redactor)

    @property
    def servers(self) -> tuple[ServerState, ...]:
        """The configured MCP servers: how each one stands, its tools, and what of them is held."""
        return self._outside.states()

    @property
    def has_changing_tools(self) -> bool:
        """Whether some of its tools come from sources that may change them."""
        return self._outside.may_change

    @property
    def waits_for_servers(self) -> bool:
        """Whether some tools are known only once it is open."""
        return self._outside.servers is not None

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is doubtful about a session taken up, what configuration says of tools, and schemas.

        None of it keeps a tool from being called.
        """
        taken_up = filter(None, (self._moved, self._below))
        of_tools = (remark for tool in self._catalog for remark in self.remarks_on(tool))
        return (*taken_up, *self._doubts(), *of_tools)

    @property
    def owed(self) -> tuple[Envelope, ...]:
        """The answers of calls that were open when the session was taken up, and ended then.

        Whoever asked for them before is owed these now: what may have begun ends as an error and is
        never run again, what a person refused gets its refusal.
        """
        return () if self._taken_up is None else self._taken_up.ended

    def remarks_on(self, tool: Tool) -> list[str]:
        """What is doubtful about the schema of one of the tools."""
        plan = self._catalog.plan(tool.name)
        ignored = [] if plan is None else [f"{tool.name}: {remark}" for remark in plan.remarks]
        return list(dict.fromkeys([*lint.lint(tool), *ignored]))
