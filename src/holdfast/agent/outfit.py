"""What an agent is told to be and which tools it is offered: written down when it changes.

A model's provider remembers what it was told before as long as that stays the same, so nothing here
changes without need, and what is offered later is told last. Known secrets are taken out here: what
is written down and what the model is told are one text.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import msgspec

from holdfast.contract.json_value import JsonValue, decode_json, encode_json
from holdfast.contract.model import ANY_OBJECT, ModelTool
from holdfast.contract.tool import Tool
from holdfast.contract.wake_events import AgentEquipped, RunTerms

_ValueT = TypeVar("_ValueT", bound=JsonValue)


class Outfit:
    """The outfit of one session."""

    def __init__(
        self,
        system: Callable[[], tuple[str, ...]],
        offered: Callable[[], tuple[Tool, ...]],
        clean: Callable[[bytes], bytes],
        terms: RunTerms | None = None,
    ) -> None:
        """``clean`` takes secrets out of JSON."""
        self._system = system
        self._offered = offered
        self._clean = clean
        self._terms = terms
        self._known: tuple[Tool, ...] | None = None
        self._made: tuple[ModelTool, ...] = ()

    def anew(self, before: AgentEquipped | None) -> AgentEquipped | None:
        """What it is when a run begins; None: as before."""
        system = tuple(self._without_secrets(text) for text in self._system())
        made = AgentEquipped(system=system, tools=self._tools(), terms=self._terms)
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
            self._known, self._made = offered, tuple(map(self._told, offered))
        return self._made

    def _told(self, tool: Tool) -> ModelTool:
        made = model_tool(tool)
        return msgspec.structs.replace(
            made,
            description=self._without_secrets(made.description),
            schema=self._without_secrets(made.schema),
        )

    def _without_secrets(self, value: _ValueT) -> _ValueT:
        """The same value where there is none in it."""
        encoded = encode_json(value)
        clear = self._clean(encoded)
        return value if clear == encoded else cast("_ValueT", decode_json(clear))


def model_tool(tool: Tool) -> ModelTool:
    """A tool as a model is told of it."""
    schema = tool.input_schema or ANY_OBJECT
    return ModelTool(name=tool.name, description=tool.description, schema=schema)


def _unless_equal(made: AgentEquipped, before: AgentEquipped | None) -> AgentEquipped | None:
    if before is None or (made.system, made.terms) != (before.system, before.terms):
        return made
    return None if made.tools is before.tools or made.tools == before.tools else made
