"""The SDK's own server over HTTP on the loopback."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from loopback_http import on_loopback
from sources.mcp.sdk_server import made
from starlette.requests import Request
from starlette.responses import Response

Guard = Callable[[Request], Response | None]
"""Refuses a request with a response; None: it may pass."""


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
