"""The tools a session can call: one name each, compiled at registration.

A duplicate name is an error and so is a locked one; nothing is ever replaced silently. The tools of
a source that changes are exchanged as a whole, or not at all.
"""

from collections.abc import Iterable, Iterator, Mapping

from holdfast.contract.failure import Failure
from holdfast.contract.tool import LOCKED_NAMES, Tool, ToolDefinitionError
from holdfast.preflight.plan import Plan
from holdfast.preflight.schema import SchemaProblem


class Catalog:
    """An ordered set of tools, each with its compiled preflight."""

    def __init__(self, tools: Iterable[Tool] = (), *, built_in: Iterable[Plan] = ()) -> None:
        """``built_in``: those that ship, compiled before; only they may bear locked names."""
        self._plans: dict[str, Plan] = {}
        self.absent: Mapping[str, Failure] = {}
        """By name, what to say of tools that there are and that cannot be called."""
        for plan in built_in:
            self._refuse_second(plan.tool)
            self._plans[plan.tool.name] = plan
        for tool in tools:
            self.register(tool)

    def register(self, tool: Tool) -> None:
        """Add a tool; ToolDefinitionError says why it cannot be."""
        if tool.name in LOCKED_NAMES:
            raise ToolDefinitionError(
                f"tool {tool.name!r}: this name is locked; it belongs to the built-in tool that"
                " models know. Give yours another name."
            )
        self._refuse_second(tool)
        self._plans[tool.name] = compiled(tool)

    def exchange(self, before: Iterable[str], tools: Iterable[Tool]) -> None:
        """Have these tools instead of those of the names; ToolDefinitionError, and nothing changes.

        A tool that is the same keeps its place and its compiled preflight.
        """
        gone = set(before)
        plans = {name: plan for name, plan in self._plans.items() if name not in gone}
        fresh = Catalog()
        for tool in tools:
            known = self._plans.get(tool.name)
            if tool.name in plans:
                self._refuse_second(tool)
            if known is not None and known.tool == tool and tool.name not in fresh:
                fresh._plans[tool.name] = known
            else:
                fresh.register(tool)
        self._plans = {**plans, **fresh._plans}

    def _refuse_second(self, tool: Tool) -> None:
        if tool.name in self._plans:
            raise ToolDefinitionError(
                f"tool {tool.name!r}: a tool of this name is already registered"
            )

    def plan(self, name: str) -> Plan | None:
        """The compiled preflight of a tool, None when there is no such tool."""
        return self._plans.get(name)

    def get(self, name: str) -> Tool | None:
        """The tool of that name."""
        plan = self._plans.get(name)
        return None if plan is None else plan.tool

    def restrict(self, names: Iterable[str]) -> "Catalog":
        """A catalog of those tools alone, in the order they have here."""
        kept = set(names)
        smaller = Catalog()
        smaller._plans = {name: plan for name, plan in self._plans.items() if name in kept}
        return smaller

    def __iter__(self) -> Iterator[Tool]:
        return (plan.tool for plan in self._plans.values())

    def __len__(self) -> int:
        return len(self._plans)

    def __contains__(self, name: object) -> bool:
        return name in self._plans


def compiled(tool: Tool) -> Plan:
    """The preflight of a tool; ToolDefinitionError when its schema cannot be enforced."""
    try:
        return Plan(tool)
    except SchemaProblem as problem:
        raise ToolDefinitionError(f"tool {tool.name!r}: input_schema: {problem}") from None
