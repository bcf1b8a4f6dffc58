"""Asking a model for a loop: rows and function schemas become a request, pieces are passed on."""

from collections.abc import Iterable, Mapping
from typing import cast

from holdfast.agent.flow.ports import Schema
from holdfast.contract.chunks import ChunkTable
from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import ChatModel, Heard, ModelReply, ModelRequest, ModelTool


async def asked(
    model: ChatModel, rows: ChunkTable, tools: Iterable[Schema], heard: Heard | None = None
) -> ModelReply:
    """One reply; ModelError."""
    request = ModelRequest(rows=rows.rows, tools=tuple(map(model_tool, tools)))
    return await model.complete(request, heard)


def model_tool(schema: Schema) -> ModelTool:
    """An OpenAI-style function as a model's port takes it."""
    function = cast("Mapping[str, object]", schema["function"])
    description = function.get("description")
    parameters = function.get("parameters")
    return ModelTool(
        name=str(function["name"]),
        description=None if description is None else str(description),
        schema={} if parameters is None else dict(cast("JsonObject", parameters)),
    )
