"""pydantic-ai: `ToolManager.handle_call`, without capabilities or tracing.

The result becomes text the way a `ToolReturnPart` does it.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from pydantic_ai import FunctionToolset, RunContext, ToolReturnPart
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.tool_manager import ToolManager
from pydantic_ai.usage import RunUsage
from typing_extensions import TypedDict

import tools_pydantic
import tools_typed
from rows import Call, Row


@asynccontextmanager
async def opened() -> AsyncIterator[list[Row]]:
    models = tools_pydantic
    yield [
        Row(
            "pydantic-ai ToolManager.handle_call",
            "async",
            await _call(models.add_async),
            await _call(models.order_async),
        ),
        Row(
            "pydantic-ai ToolManager.handle_call (TypedDict)",
            "async",
            await _call(tools_typed.add_async),
            await _call(tools_typed.order_over(TypedDict)),
        ),
        Row(
            "pydantic-ai ToolManager.handle_call (thread)",
            "sync",
            await _call(models.add),
            await _call(models.order),
        ),
    ]


async def _call(function: Callable[..., object]) -> Call:
    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    tools = await ToolManager(FunctionToolset([function])).for_run_step(context)
    name = function.__name__

    async def call(text: str) -> str:
        value = await tools.handle_call(ToolCallPart(name, text, tool_call_id="call_1"))
        part = ToolReturnPart(tool_name=name, content=value, tool_call_id="call_1")
        return part.model_response_str()

    return call
