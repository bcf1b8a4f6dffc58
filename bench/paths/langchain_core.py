"""langchain-core: `StructuredTool.ainvoke` and `.invoke` with the parsed arguments."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from langchain_core.tools import StructuredTool

import tools_pydantic
from rows import Call, Row


@asynccontextmanager
async def opened() -> AsyncIterator[list[Row]]:
    models = tools_pydantic
    yield [
        Row(
            "langchain-core StructuredTool.ainvoke",
            "async",
            _async_call(models.add_async),
            _async_call(models.order_async),
        ),
        Row(
            "langchain-core StructuredTool.invoke (in place)",
            "sync",
            _sync_call(models.add),
            _sync_call(models.order),
        ),
    ]


def _async_call(function: Callable[..., object]) -> Call:
    tool = StructuredTool.from_function(coroutine=function)

    async def call(text: str) -> str:
        return str(await tool.ainvoke(json.loads(text)))

    return call


def _sync_call(function: Callable[..., object]) -> Call:
    tool = StructuredTool.from_function(function)

    async def call(text: str) -> str:
        return str(tool.invoke(json.loads(text)))

    return call
