"""What an agent is told to be and which tools it is offered: written down when it changes.

A model's provider remembers what it was told before as long as that stays the same, so nothing here
changes without need, and what is offered later is told last.
"""

from collections.abc import Callable

from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import ModelTool
from holdfast.contract.tool import Tool
from holdfast.contract.wake_events import AgentEquipped, RunTerms

ANY_OBJECT: JsonObject = {"type": "object", "properties": {}}
"""Models want a schema, also of a tool that takes whatever comes."""


class Outfit:
    """The outfit of one session."""

    def __init__(
        self,
        system: Callable[[], tuple[str, ...]],
        offered: Callable[[], tuple[Tool, ...]],
        terms: RunTerms | None = None,
    ) -> None:
        self._system = system
        self._offered = offered
        self._terms = terms
        self._known: tuple[Tool, ...] | None = None
        self._made: tuple[ModelTool, ...] = ()

    def anew(self, before: AgentEquipped | None) -> AgentEquipped | None:
        """What it is when a run begins; None: as before."""
        made = AgentEquipped(system=self._system(), tools=self._tools(), terms=self._terms)
        return _unless_equal(made, before)

    def changed(self, before: AgentEquipped | None) -> AgentEquipped | None:
        """What it is within a run, where only tools may come and go; None: as before."""
        if before is None or self._offered() is self._known:
            return None
        made = AgentEquipped(system=before.system, tools=self._tools(), terms=before.terms)
        return _unless_equal(made, before)

    def _tools(self) -> tuple[ModelTool, ...]:
        offered = self._offered()
        if offered is not self._known:
            self._known, self._made = offered, tuple(map(model_tool, offered))
        return self._made


def model_tool(tool: Tool) -> ModelTool:
    """A tool as a model is told of it."""
    schema = tool.input_schema or ANY_OBJECT
    return ModelTool(name=tool.name, description=tool.description, schema=schema)


def _unless_equal(made: AgentEquipped, before: AgentEquipped | None) -> AgentEquipped | None:
    if before is None or (made.system, made.terms) != (before.system, before.terms):
        return made
    return None if made.tools is before.tools or made.tools == before.tools else made
