"""What a small model on this machine is told, and what its words mean.

It knows no calls of its own: it is told of tools in words, and what it writes is held to a schema,
so that it is an answer or one call and nothing else.
"""

from typing import NamedTuple, cast

from holdfast.agent.models.wire import encoded, object_in
from holdfast.contract.chunks import AssistantChunk, Chunk, SystemChunk, ToolResultChunk, UserChunk
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.model import ModelRequest, ModelTool

_HOW = (
    'Write one JSON object: {"answer": "..."} to answer, or {"tool": "...", "arguments": {...}} to'
    " use a tool. Tools:"
)
_BEGUN = late_pattern(r'\s*\{\s*"tool"\s*:\s*"([^"\\]*)"')


class Meant(NamedTuple):
    """What it wrote, understood: an answer or a call."""

    answer: str | None = None
    tool: str | None = None
    arguments: str = ""


def local_messages(request: ModelRequest) -> list[JsonValue]:
    """The rows as messages, the tools before them, and what is only for this step behind them."""
    messages: list[JsonValue] = []
    if request.tools:
        lines = [_HOW, *(_line(tool) for tool in request.tools)]
        messages.append(_message("system", "\n".join(lines)))
    messages += [_row(row) for row in request.rows]
    if request.notices:
        messages.append(_message("system", "\n\n".join(request.notices)))
    return messages


def reply_schema(tools: tuple[ModelTool, ...]) -> JsonObject:
    """An answer, or a call of one of these."""
    forms: list[JsonValue] = [_object({"answer": {"type": "string"}})]
    forms += [_object({"tool": {"const": one.name}, "arguments": one.schema}) for one in tools]
    return {"anyOf": forms}


def without_details(tools: tuple[ModelTool, ...]) -> tuple[ModelTool, ...]:
    """The same tools, of whose arguments is only known that they are an object."""
    loose: JsonObject = {"type": "object"}
    return tuple(ModelTool(name=one.name, description=None, schema=loose) for one in tools)


def meant(text: str) -> Meant | None:
    """What an object of that schema says; None when it is cut off."""
    found = object_in(text)
    if found is None:
        return None
    tool, answer = found.get("tool"), found.get("answer")
    if isinstance(tool, str):
        arguments = found.get("arguments")
        given = cast("JsonObject", arguments) if isinstance(arguments, dict) else {}
        return Meant(tool=tool, arguments=encoded(given).decode())
    return Meant(answer=answer if isinstance(answer, str) else text)


def begun_tool(text: str) -> str | None:
    """Which tool an object of that schema is about to use that was cut off; None: an answer."""
    found = _BEGUN.match(text)
    return None if found is None else found[1]


def _line(tool: ModelTool) -> str:
    schema = encoded(tool.schema).decode()
    return f"- {tool.name}: {tool.description or ''} Arguments: {schema}"


def _row(row: Chunk) -> JsonObject:
    match row:
        case SystemChunk():
            return _message("system", row.content)
        case UserChunk():
            return _message("user", row.content)
        case ToolResultChunk():
            return _message("user", f"Result of {row.name}: {row.content}")
        case AssistantChunk():
            said = [row.content] if row.content else []
            for call in row.tool_calls or ():
                arguments = object_in(call.arguments)
                shown: JsonValue = call.arguments if arguments is None else arguments
                said.append(encoded({"tool": call.name, "arguments": shown}).decode())
            return _message("assistant", "\n".join(said))


def _message(role: str, text: str) -> JsonObject:
    return {"role": role, "content": text}


def _object(properties: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": cast("list[JsonValue]", list(properties)),
        "additionalProperties": False,
    }
