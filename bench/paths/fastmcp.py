"""fastmcp: `server.call_tool`, and the in-memory client in front of it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastmcp import Client, FastMCP

import tools_pydantic
from rows import Call, Row


@asynccontextmanager
async def opened() -> AsyncIterator[list[Row]]:
    server = FastMCP("bench")
    for function in (
        tools_pydantic.add_async,
        tools_pydantic.order_async,
        tools_pydantic.add,
        tools_pydantic.order,
    ):
        server.tool(function)
    server.tool(tools_pydantic.add, name="add_inline", run_in_thread=False)
    server.tool(tools_pydantic.order, name="order_inline", run_in_thread=False)
    async with Client(server) as client:
        yield [
            Row(
                "fastmcp server.call_tool",
                "async",
                _call(server, "add_async"),
                _call(server, "order_async"),
            ),
            Row(
                "fastmcp in-memory Client.call_tool",
                "async",
                _call(client, "add_async"),
                _call(client, "order_async"),
            ),
            Row(
                "fastmcp server.call_tool (thread)",
                "sync",
                _call(server, "add"),
                _call(server, "order"),
            ),
            Row(
                "fastmcp server.call_tool (in place)",
                "sync",
                _call(server, "add_inline"),
                _call(server, "order_inline"),
            ),
        ]


def _call(caller: FastMCP | Client, name: str) -> Call:
    async def call(text: str) -> str:
        return (await caller.call_tool(name, json.loads(text))).content[0].text

    return call
