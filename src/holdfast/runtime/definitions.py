"""What a model, an editor and a person are told of a tool. All of it reads one definition."""

from collections.abc import Mapping
from typing import cast

from holdfast.contract.json_value import JsonObject, JsonValue, plain
from holdfast.contract.tool import Tool
from holdfast.envelope.bound import CUT_FORM


def function_definition(
    name: str, description: str | None, parameters: Mapping[str, object] | None
) -> dict[str, object]:
    """An OpenAI-style function tool. What a source left open stays absent."""
    function: dict[str, object] = {"name": name}
    if description is not None:
        function["description"] = description
    if parameters is not None:
        function["parameters"] = parameters
    return {"type": "function", "function": function}


def openai_definition(tool: Tool) -> dict[str, object]:
    """The tool as an OpenAI-style function."""
    return function_definition(tool.name, tool.description, tool.input_schema or None)


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
    if (results := published_results(tool)) is not None:
        definition["output_schema"] = results
    return definition


def published_results(tool: Tool) -> JsonObject | None:
    """The schema that every result of the tool fits: whole as it is declared, or cut."""
    own = tool.output_schema
    if own is None:
        return None
    whole = dict(own if "$id" in own else cast("JsonObject", _moved(own)))
    top: JsonObject = {"$schema": whole.pop("$schema")} if "$schema" in own else {}
    if _tells_objects(own):
        top["type"] = "object"  # MCP takes nothing else, and asks for the word at the top
    return {**top, "anyOf": [whole, CUT_FORM]}


def _tells_objects(schema: JsonObject) -> bool:
    forms = schema.get("anyOf")
    if isinstance(forms, list):
        return all(isinstance(form, dict) and form.get("type") == "object" for form in forms)
    return schema.get("type") == "object"


def _moved(schema: JsonValue) -> JsonValue:
    """What points into the schema from its top, after it has moved below another."""
    if isinstance(schema, list):
        return [_moved(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    moved = {name: _moved(one) for name, one in schema.items()}
    target = schema.get("$ref")
    if isinstance(target, str) and (target == "#" or target.startswith("#/")):
        moved["$ref"] = f"#/anyOf/0{target[1:]}"
    return moved
