"""The official SDK as a client of `holdfast mcp`: what it connects to, by transport."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
from command import HOLDFAST
from mcp import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_process import serving, variables


async def server_for(
    transport: str, home: Path, work: Path, words: list[str], stack: AsyncExitStack
) -> Any:
    """What a `Client` takes; a server over HTTP runs until the stack is closed."""
    if transport == "pipe":
        own = ["mcp", "--workspace", str(work), *words]
        return StdioServerParameters(command=str(HOLDFAST), args=own, env=variables(home))
    running = await stack.enter_async_context(serving(home, work, *words))
    token = {"Authorization": f"Bearer {running.token}"}
    http = await stack.enter_async_context(httpx2.AsyncClient(headers=token))
    return streamable_http_client(running.url, http_client=http)
