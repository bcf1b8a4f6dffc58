"""The one door: whatever a host registers as a tool becomes a `Tool` here."""

import inspect
from collections.abc import Callable
from typing import cast

from holdfast.contract.flow import FlowToolCall
from holdfast.contract.tool import Tool, ToolDefinitionError
from holdfast.sources.functions import FunctionTool, tool_from_function
from holdfast.sources.objects import looks_like_tool_object, tool_from_object


def to_tool(candidate: object) -> Tool:
    """Accept a Tool, a decorated or plain function, or an object with the published fields."""
    if isinstance(candidate, Tool):
        return candidate
    if isinstance(candidate, FunctionTool):
        return candidate.tool
    if isinstance(candidate, FlowToolCall):
        raise ToolDefinitionError(
            f"the flow tool {candidate.name!r} needs a session: register"
            " tool_from_flow(flow_tool, session)"
        )
    if isinstance(candidate, type):
        raise ToolDefinitionError(
            f"{candidate.__name__} is a class; register an instance of it, or a function"
        )
    if not inspect.isroutine(candidate) and looks_like_tool_object(candidate):
        return tool_from_object(candidate)
    if callable(candidate):
        return tool_from_function(cast("Callable[..., object]", candidate))
    raise ToolDefinitionError(
        f"{candidate!r} is not a tool; register a function, a @tool function, a Tool, or an object"
        " with id, description, parameters, requires and execute(args, runtime)"
    )
