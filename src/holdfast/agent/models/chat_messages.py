"""Rows as messages of a chat completion, and tools as it is told of them.

What is only for one step is the last message. Rows that were sent before are the same bytes again.
"""

from typing import cast

from holdfast.agent.models.setup import ModelSetup
from holdfast.contract.chunks import ChunkTable
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.model import ModelRequest, ModelTool


def chat_tool(tool: ModelTool) -> JsonObject:
    """A tool as it is sent."""
    function: JsonObject = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    function["parameters"] = tool.schema
    return {"type": "function", "function": function}


def chat_messages(setup: ModelSetup, request: ModelRequest) -> list[JsonValue]:
    """The rows as messages, and what is only for this step behind them."""
    messages = cast("list[JsonValue]", ChunkTable(request.rows).to_messages())
    for message in cast("list[JsonObject]", messages):
        if message["content"] is None and "tool_calls" not in message:
            message["content"] = ""
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
