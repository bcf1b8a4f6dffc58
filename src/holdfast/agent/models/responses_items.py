"""Rows as items of OpenAI's Responses, and tools as it is told of them.

What the provider wants to see again of its reasoning is kept beside a row, under its own name.
"""

from collections import defaultdict
from typing import cast

from holdfast.agent.models.history import offered, sent_arguments, sent_name
from holdfast.agent.models.setup import ModelSetup
from holdfast.contract.chunks import (
    AskedCall,
    AssistantChunk,
    Chunk,
    SystemChunk,
    ToolResultChunk,
    UserChunk,
)
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.model import ModelRequest, ModelTool

OPAQUE = "openai_responses"
"""Under which name of a row its reasoning is kept."""


def responses_tool(tool: ModelTool) -> JsonObject:
    """A tool as it is sent; its schema is not narrowed to what the provider could enforce."""
    sent: JsonObject = {"type": "function", "name": tool.name}
    if tool.description is not None:
        sent["description"] = tool.description
    return {**sent, "parameters": tool.schema, "strict": False}


def responses_body(setup: ModelSetup, request: ModelRequest) -> JsonObject:
    """All that is asked; nothing of it is kept by the provider."""
    known = offered(request)
    items = [item for row in request.rows for item in _items(row, known)]
    if request.notices:
        items.append(_message("system", "\n\n".join(request.notices)))
    body: JsonObject = {"model": setup.model, "input": cast("list[JsonValue]", items)}
    if request.tools:
        body["tools"] = [responses_tool(tool) for tool in request.tools]
    body["max_output_tokens"] = request.max_output_tokens or setup.max_output_tokens
    if setup.temperature is not None:
        body["temperature"] = setup.temperature
    body["store"] = False
    body["include"] = ["reasoning.encrypted_content"]
    body["stream"] = setup.stream
    return body


def _items(row: Chunk, known: frozenset[str]) -> list[JsonObject]:
    match row:
        case SystemChunk():
            return [_message("system", row.content)]
        case UserChunk():
            return [_message("user", row.content)]
        case ToolResultChunk():
            return [
                {
                    "type": "function_call_output",
                    "call_id": row.tool_call_id,
                    "output": row.content,
                }
            ]
        case AssistantChunk():
            return _answer(row, known)


def _message(role: str, text: str) -> JsonObject:
    return {"role": role, "content": text}


def _answer(row: AssistantChunk, known: frozenset[str]) -> list[JsonObject]:
    said: list[JsonObject] = [_message("assistant", row.content)] if row.content else []
    said += [_call(call, known) for call in row.tool_calls or ()]
    return with_kept(said, row, OPAQUE)


def _call(call: AskedCall, known: frozenset[str]) -> JsonObject:
    sent: JsonObject = {"type": "function_call", "call_id": call.id}
    name = sent_name(call.name, known)
    return {**sent, "name": name, "arguments": sent_arguments(call.arguments)}


def with_kept(said: list[JsonObject], row: AssistantChunk, name: str) -> list[JsonObject]:
    """What a row says, with what its provider wants to see again where it stood."""
    kept = row.opaque.get(name) if isinstance(row.opaque, dict) else None
    if not isinstance(kept, list):
        return said
    before: defaultdict[int, list[JsonObject]] = defaultdict(list)
    for at, block in map(_kept, kept):
        if block:
            before[min(at, len(said))].append(block)
    woven: list[JsonObject] = []
    for place, item in enumerate(said):
        woven += [*before[place], item]
    return [*woven, *before[len(said)]]


def _kept(one: JsonValue) -> tuple[int, JsonObject]:
    """What was kept, and how many parts stood before it."""
    fields = one if isinstance(one, dict) else {}
    at, block = fields.get("at"), fields.get("block")
    ordered = dict(sorted(block.items())) if isinstance(block, dict) else {}
    return (at if isinstance(at, int) else 0), ordered
