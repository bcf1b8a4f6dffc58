"""An MCP server at an address of the loopback that answers with all that it was sent."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from loopback_http import on_loopback
from starlette.requests import Request
from starlette.responses import JSONResponse, Response


def echoing(request: Request, asked: dict[str, Any]) -> Response:
    everything = json.dumps([str(request.url), dict(request.headers)])
    if "id" not in asked:
        return Response(status_code=202)
    if asked["method"] == "initialize":
        server = {"name": everything, "version": everything}
        able: Any = {"tools": {}}
        told: Any = {"protocolVersion": "2025-11-25", "capabilities": able, "serverInfo": server}
    elif asked["method"] == "tools/list":
        one = {"inputSchema": {"type": "object"}, "description": everything}
        told = {"tools": [{"name": name, **one} for name in ("tell", "refuse")]}
    elif asked["params"]["name"] == "refuse":
        problem = {"code": -32603, "message": everything}
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "error": problem})
    else:
        told = {"content": [{"type": "text", "text": everything}]}
    return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": told})


@asynccontextmanager
async def served(seen: list[str]) -> AsyncGenerator[int]:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            request = Request(scope, receive)
            seen.append(request.headers.get("authorization", ""))
            if request.method == "POST":
                response = echoing(request, json.loads(await request.body()))
            else:
                response = Response(status_code=405)
            await response(scope, receive, send)

    async with on_loopback(app) as port:
        yield port
