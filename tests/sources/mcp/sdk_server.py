"""The SDK's own server as a program: it is copied, so it imports nothing of ours."""

import sys
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel


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


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - a text stream
    made().run("stdio")
