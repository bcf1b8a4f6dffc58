"""What counts for each tool of a session: what all reach together, or something of its own."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from holdfast.contract.requirements import RequirementSet
from holdfast.contract.tool import Tool
from holdfast.policy.places import Places
from holdfast.policy.scope import EffectiveScope, compile_scope, strictly, union


class Beside(msgspec.Struct, frozen=True):
    """What tools reach beside what they require together."""

    single: Mapping[str, EffectiveScope] = MappingProxyType({})
    """What counts for tools, by name, that reach more than the others."""
    given: tuple[RequirementSet, ...] = ()
    """What every tool has, also in strict mode; but for those that are alone."""
    alone: Callable[[Tool], EffectiveScope] | None = None
    """Compiles what counts for a tool that is alone; None: there are no such tools."""


NOTHING_BESIDE = Beside()


class ToolScopes:
    """Finds what counts for a tool, and remembers it."""

    def __init__(
        self,
        agent: EffectiveScope,
        places: Places,
        *,
        strict: bool = False,
        beside: Beside = NOTHING_BESIDE,
    ) -> None:
        self.agent = agent
        self._places = places
        self._strict = strict
        self._beside = beside
        self._own: dict[str, tuple[RequirementSet, EffectiveScope]] = {}

    def of(self, tool: Tool) -> EffectiveScope:
        """The agent's, or in strict mode its own within that; of one that is alone, its own."""
        alone = self._beside.alone if tool.alone is not None else None
        shared = self._beside.single.get(tool.name, self.agent)
        if alone is None and not self._strict:
            return shared
        known = self._own.get(tool.name)
        if known is None or known[0] != tool.requires:  # a source may declare a tool anew
            own = self._strictly(shared, tool) if alone is None else alone(tool)
            known = self._own[tool.name] = (tool.requires, own)
        return known[1]

    def _strictly(self, shared: EffectiveScope, tool: Tool) -> EffectiveScope:
        required = union((tool.requires, *self._beside.given))
        return strictly(shared, compile_scope(required, self._places))
