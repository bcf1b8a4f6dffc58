"""What a model, an editor and a person are told of a tool. All of it reads one definition."""

from collections.abc import Mapping

from holdfast.contract.json_value import plain
from holdfast.contract.tool import Tool


def function_definition(
    name: str, description: str | None, parameters: Mapping[str, object]
) -> dict[str, object]:
    """An OpenAI-style function tool. What a source left open stays absent."""
    function: dict[str, object] = {"name": name}
    if description is not None:
        function["description"] = description
    if parameters:
        function["parameters"] = parameters
    return {"type": "function", "function": function}


def openai_definition(tool: Tool) -> dict[str, object]:
    """The tool as an OpenAI-style function."""
    return function_definition(tool.name, tool.description, tool.input_schema)


def full_definition(tool: Tool) -> dict[str, object]:
    """Everything that is declared about the tool, as plain data."""
    definition: dict[str, object] = {
        "name": tool.name,
        "input_schema": tool.input_schema,
        "requires": plain(tool.requires),
        "ownership": tool.ownership,
        "permission_policy": tool.permission_policy,
        "effects": list(tool.effects),
        "read_only": tool.read_only,
        "destructive": tool.destructive,
        "interrupt_behavior": tool.interrupt_behavior,
        "acp_kind": tool.acp_kind,
        "parallel_safe": tool.parallel_safe,
        "limits": plain(tool.limits),
    }
    if tool.description is not None:
        definition["description"] = tool.description
    if tool.output_schema is not None:
        definition["output_schema"] = tool.output_schema
    return definition
