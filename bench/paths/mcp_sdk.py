"""mcp SDK 2: the in-memory client, directly dispatched (its default)."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp import Client
from mcp.server.mcpserver import MCPServer

import tools_pydantic
from rows import Call, Row


@asynccontextmanager
async def opened() -> AsyncIterator[list[Row]]:
    server = MCPServer("bench")
    for function in (
        tools_pydantic.add_async,
        tools_pydantic.order_async,
        tools_pydantic.add,
        tools_pydantic.order,
    ):
        server.add_tool(function)
    async with Client(server) as client:
        yield [
            Row(
                "mcp SDK in-memory Client.call_tool",
                "async",
                _call(client, "add_async"),
                _call(client, "order_async"),
            ),
            Row(
                "mcp SDK in-memory Client.call_tool (thread)",
                "sync",
                _call(client, "add"),
                _call(client, "order"),
            ),
        ]


def _call(client: Client, name: str) -> Call:
    async def call(text: str) -> str:
        return (await client.call_tool(name, json.loads(text))).content[0].text

    return call
