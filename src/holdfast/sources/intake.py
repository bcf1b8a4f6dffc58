"""The one door: whatever a host registers as a tool becomes a `Tool` here."""

import inspect
from collections.abc import Callable
from typing import cast

from holdfast.contract.builtin import Builtin
from holdfast.contract.flow import FlowToolCall
from holdfast.contract.tool import Tool, ToolDefinitionError
from holdfast.sources import objects
from holdfast.sources.functions import FunctionTool, tool_from_function

_built: dict[str, tuple[Builtin, Tool]] = {}
"""Built-in tools never change: each is derived once, however many sessions have it."""


def to_tool(candidate: object) -> Tool:
    """Accept a Tool, a decorated or plain function, or an object with the published fields."""
    if isinstance(candidate, Tool):
        return candidate
    if isinstance(candidate, FunctionTool):
        return candidate.tool
    if isinstance(candidate, Builtin):
        return built_in(candidate)
    if isinstance(candidate, FlowToolCall):
        raise ToolDefinitionError(
            f"the flow tool {candidate.name!r} needs a session: register"
            " tool_from_flow(flow_tool, session)"
        )
    if isinstance(candidate, type):
        raise ToolDefinitionError(
            f"{candidate.__name__} is a class; register an instance of it, or a function"
        )
    if not inspect.isroutine(candidate) and objects.looks_like_tool_object(candidate):
        return objects.tool_from_object(candidate)
    if callable(candidate):
        return tool_from_function(cast("Callable[..., object]", candidate))
    raise ToolDefinitionError(
        f"{candidate!r} is not a tool; register a function, a @tool function, a Tool, or an object"
        " with id, description, parameters, requires and execute(args, runtime)"
    )


def built_in(candidate: Builtin) -> Tool:
    """A built-in tool, derived when it is first asked for."""
    known = _built.get(candidate.name)
    if known is None or known[0] is not candidate:
        known = _built[candidate.name] = (candidate, _derived(candidate))
    return known[1]


def _derived(candidate: Builtin) -> Tool:
    return tool_from_function(candidate.function, **candidate.options)
