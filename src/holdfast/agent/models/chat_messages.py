"""Rows as messages of a chat completion, and tools as it is told of them.

What is only for one step is the last message. Rows that were sent before are the same bytes again.
What a server wants to see again of its reasoning is kept beside a row, with whose it is: others
that speak the same form refuse what they do not know.
"""

from typing import cast

from holdfast.agent.models.history import offered, sent_arguments, sent_name
from holdfast.agent.models.setup import ModelSetup
from holdfast.contract.chunks import AssistantChunk, message_of
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json, encode_json
from holdfast.contract.model import ModelRequest, ModelTool

OPAQUE = "openai_chat"
"""Under which name of a row its reasoning is kept."""


def chat_tool(tool: ModelTool) -> JsonObject:
    """A tool as it is sent."""
    function: JsonObject = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    function["parameters"] = tool.schema
    return {"type": "function", "function": function}


def chat_messages(setup: ModelSetup, request: ModelRequest) -> list[JsonValue]:
    """The rows as messages, and what is only for this step behind them."""
    known = offered(request)
    origin = setup.origin
    messages: list[JsonValue] = [
        _answer(row, origin, known) if isinstance(row, AssistantChunk) else message_of(row)
        for row in request.rows
    ]
    if request.notices:
        messages.append({"role": setup.notices_as, "content": "\n\n".join(request.notices)})
    return messages


def chat_body(setup: ModelSetup, request: ModelRequest) -> JsonObject:
    """All that is asked."""
    body: JsonObject = {"model": setup.model, "messages": chat_messages(setup, request)}
    if request.tools:
        body["tools"] = [chat_tool(tool) for tool in request.tools]
    body[setup.output_limit] = request.max_output_tokens or setup.max_output_tokens
    if setup.temperature is not None:
        body["temperature"] = setup.temperature
    body["stream"] = setup.stream
    if setup.stream:
        body["stream_options"] = {"include_usage": True}
    return body


def _answer(row: AssistantChunk, origin: str, known: frozenset[str]) -> JsonObject:
    kept = _kept(row, origin)
    content = row.content if row.tool_calls else row.content or ""
    message: JsonObject = {"role": "assistant", "content": content}
    thoughts = kept.get("reasoning_content")
    if isinstance(thoughts, str):
        message["reasoning_content"] = thoughts
    if row.tool_calls:
        calls: list[JsonObject] = []
        for call in row.tool_calls:
            function: JsonObject = {"name": sent_name(call.name, known)}
            function["arguments"] = sent_arguments(call.arguments)
            calls.append({"id": call.id, "type": "function", "function": function})
        _add_extras(calls, kept.get("calls"))
        message["tool_calls"] = cast("list[JsonValue]", calls)
    return message


def _kept(row: AssistantChunk, origin: str) -> JsonObject:
    """What the server that is asked wants to see again with a row; empty when it was another's."""
    kept = row.opaque.get(OPAQUE) if isinstance(row.opaque, dict) else None
    return kept if isinstance(kept, dict) and origin and kept.get("origin") == origin else {}


def _add_extras(calls: list[JsonObject], extras: JsonValue) -> None:
    for extra in extras if isinstance(extras, list) else ():
        fields = extra if isinstance(extra, dict) else {}
        at, content = fields.get("at"), fields.get("extra_content")
        if isinstance(at, int) and 0 <= at < len(calls) and content is not None:
            # In one order, whether it has just come or was kept.
            calls[at]["extra_content"] = decode_json(encode_json(content))
