"""The SDK's own server, over HTTP on the loopback, and as a program: the good cases."""

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from loopback_http import on_loopback
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

Guard = Callable[[Request], Response | None]
"""Refuses a request with a response; None: it may pass."""


class Person(BaseModel):
    """A form."""

    name: str
    age: int


def made() -> MCPServer:
    server = MCPServer("good")

    @server.tool()
    async def echo(text: str) -> str:
        """Say it again."""
        return text

    @server.tool()
    async def slow(text: str) -> str:
        """Say it a little later."""
        await anyio.sleep(0.02)
        return text

    @server.tool()
    async def never(text: str) -> str:
        """Never say it."""
        await anyio.sleep(3600)
        return text

    @server.tool()
    async def ask(context: Context[Any]) -> str | InputRequiredResult:
        """Ask a person, in the way of the protocol that is spoken."""
        if (context.protocol_version or "") < "2026":
            asked = await context.elicit("Who are you?", Person)
            return asked.model_dump_json()
        if context.input_responses is None:
            schema = Person.model_json_schema()
            form = ElicitRequestFormParams(message="Who are you?", requested_schema=schema)
            return InputRequiredResult(input_requests={"who": ElicitRequest(params=form)})
        return context.input_responses["who"].model_dump_json()

    @server.tool()
    async def grow(context: Context[Any]) -> str:
        """Have one tool more."""

        def grown() -> str:
            """It was not there before."""
            return "grown"

        server.add_tool(grown)
        await context.session.send_tool_list_changed()
        await context.notify_tools_changed()
        return "grown"

    return server


@asynccontextmanager
async def http_server(guard: Guard | None = None) -> AsyncGenerator[str]:
    """The address of a server that runs meanwhile."""
    app = made().streamable_http_app()
    behind = app if guard is None else _Guarded(app, guard)
    async with on_loopback(behind) as port:
        yield f"http://127.0.0.1:{port}/mcp"


class _Guarded:
    def __init__(self, app: Any, guard: Guard) -> None:
        self._app, self._guard = app, guard

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        refused = self._guard(Request(scope)) if scope["type"] == "http" else None
        await (refused or self._app)(scope, receive, send)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - a text stream
    made().run("stdio")
