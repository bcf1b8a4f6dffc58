"""An application that answers over HTTP on loopback for as long as a test needs it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import uvicorn


@asynccontextmanager
async def on_loopback(app: Any) -> AsyncGenerator[int]:
    """The port it is served at."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", ws="none")
    running = uvicorn.Server(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(running.serve)
        with anyio.fail_after(15):
            while not running.started:  # noqa: ASYNC110 - it tells nobody
                await anyio.sleep(0.01)
        try:
            yield running.servers[0].sockets[0].getsockname()[1]
        finally:
            running.should_exit = True
            running.force_exit = True
