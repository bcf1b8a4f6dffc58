"""A door on loopback that adds the token: the public suite and its clients send none.

Everything else goes through as it is, streams piece by piece.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aiohttp import ClientSession, ClientTimeout, TCPConnector, web

_OWN = {"transfer-encoding", "content-length", "connection", "date", "server"}


@asynccontextmanager
async def with_token(target: str, token: str) -> AsyncGenerator[str]:
    """The address of a door to the target."""
    connector = TCPConnector(force_close=True, limit=0)
    async with ClientSession(connector=connector, timeout=ClientTimeout(total=None)) as session:

        async def pass_on(request: web.Request) -> web.StreamResponse:
            headers = request.headers.copy()
            headers["Authorization"] = f"Bearer {token}"
            body = await request.read()
            async with session.request(
                request.method, target, headers=headers, data=body or None, skip_auto_headers=_AUTO
            ) as answer:
                kept = {k: v for k, v in answer.headers.items() if k.lower() not in _OWN}
                response = web.StreamResponse(status=answer.status, headers=kept)
                await response.prepare(request)
                async for piece in answer.content.iter_any():
                    await response.write(piece)
                await response.write_eof()
                return response

        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/mcp", pass_on)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            port = runner.addresses[0][1]
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            await runner.cleanup()


_AUTO = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
