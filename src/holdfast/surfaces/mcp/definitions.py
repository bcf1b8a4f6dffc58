"""Tools as clients are told of them. All of it reads the one definition of a tool."""

from collections.abc import Iterable

from holdfast.contract.json_value import JsonObject
from holdfast.contract.tool import Tool
from holdfast.runtime.definitions import published_results


def definitions(tools: Iterable[Tool], *, modern: bool) -> list[JsonObject]:
    """Every tool, in the order they were registered."""
    return [_definition(tool, modern=modern) for tool in tools]


def _definition(tool: Tool, *, modern: bool) -> JsonObject:
    told: JsonObject = {"name": tool.name, "title": _title(tool.name)}
    if tool.description is not None:
        told["description"] = tool.description
    told["inputSchema"] = _arguments(tool.input_schema)
    results = published_results(tool)
    # Before the modern era a result has to be an object, and the schema has to say so.
    if results is not None and (modern or results.get("type") == "object"):
        told["outputSchema"] = results
    told["annotations"] = _annotations(tool)
    return told


def _title(name: str) -> str:
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:] or name


def _arguments(schema: JsonObject) -> JsonObject:
    return schema if schema.get("type") == "object" else {"type": "object", **schema}


def _annotations(tool: Tool) -> JsonObject:
    """Hints; what a call may do is decided here all the same, when it is called."""
    hints: JsonObject = {
        "readOnlyHint": tool.read_only,
        "openWorldHint": bool(tool.requires.net.hosts) or tool.ownership == "mcp",
    }
    if tool.read_only:
        return hints
    return {**hints, "destructiveHint": tool.destructive}
