"""openai-agents: `FunctionTool.on_invoke_tool` with a context per call, made as its runner does.

Hooks and tracing are left out. The runner turns what comes back into text with `str`. The floor
keeps one context for all calls: not a whole call, for a context carries one call's id and text.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from agents import RunContextWrapper, function_tool
from agents.tool_context import ToolContext
from typing_extensions import TypedDict

import tools_pydantic
import tools_typed
from rows import Call, Row


@asynccontextmanager
async def opened() -> AsyncIterator[list[Row]]:
    models = tools_pydantic
    yield [
        Row(
            "openai-agents on_invoke_tool",
            "async",
            _call(models.add_async),
            _call(models.order_async),
        ),
        Row(
            "openai-agents on_invoke_tool (TypedDict)",
            "async",
            _call(tools_typed.add_async),
            # A TypedDict's schema is open, which strict mode does not take.
            _call(tools_typed.order_over(TypedDict), strict=False),
        ),
        Row(
            "openai-agents on_invoke_tool, one context reused",
            "async",
            _reused(models.add_async),
            _reused(models.order_async),
            role="floor",
        ),
        Row(
            "openai-agents on_invoke_tool (thread)", "sync", _call(models.add), _call(models.order)
        ),
    ]


def _call(function: Callable[..., object], *, strict: bool = True) -> Call:
    tool = function_tool(function, strict_mode=strict)
    run = RunContextWrapper(None)
    context_of, invoke, name = ToolContext.from_agent_context, tool.on_invoke_tool, tool.name

    async def call(text: str) -> str:
        context = context_of(run, "call_1", tool_name=name, tool_arguments=text)
        return str(await invoke(context, text))

    return call


def _reused(function: Callable[..., object]) -> Call:
    tool = function_tool(function)
    context = ToolContext(None, tool_name=tool.name, tool_call_id="call_1", tool_arguments="{}")
    invoke = tool.on_invoke_tool

    async def call(text: str) -> str:
        return str(await invoke(context, text))

    return call
