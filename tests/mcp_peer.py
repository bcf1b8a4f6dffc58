"""A client of the server's core in the same process: messages in, messages out, no transport."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from holdfast.app.holdfast import Holdfast
from holdfast.app.tool_files import load_tools
from holdfast.contract.person import Asker
from holdfast.contract.ports import Approver
from holdfast.surfaces.mcp.batches import taken
from holdfast.surfaces.mcp.client import Client
from holdfast.surfaces.mcp.served import Served
from holdfast.surfaces.mcp.tickets import Ticket

MODERN: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
ELICITS: dict[str, Any] = {
    **MODERN,
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}


class Peer:
    """Says something, and hears what comes."""

    def __init__(self, served: Served, client: Client) -> None:
        self.served = served
        self.client = client
        self.heard: list[dict[str, Any]] = []
        self.skipped = 0
        self._came = anyio.Event()
        self._next = 0

    def skip(self) -> None:
        self.skipped += 1

    def send(self, message: bytes, /, *, droppable: bool = False) -> None:
        self.heard.append(json.loads(message))
        self._came.set()

    def finish(self, message: bytes, _code: int = 0, /) -> None:
        self.send(message)

    def say(self, text: bytes) -> Ticket | None:
        """Any text at all."""
        return taken(text, self.client, self)

    def ask(self, method: str, own: Any = None, **params: Any) -> Any:
        """Send a request; its id."""
        if own is None:
            self._next += 1
            own = f"r{self._next}"
        request = {"jsonrpc": "2.0", "id": own, "method": method, "params": params}
        self.say(json.dumps(request).encode())
        return own

    def tell(self, method: str, **params: Any) -> None:
        self.say(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def reply(self, own: Any, **result: Any) -> None:
        self.say(json.dumps({"jsonrpc": "2.0", "id": own, "result": result}).encode())

    async def until(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first message that fits; it is taken away."""
        with anyio.fail_after(15):
            while True:
                for message in self.heard:
                    if fits(message):
                        self.heard.remove(message)
                        return message
                self._came = anyio.Event()
                await self._came.wait()

    async def answer(self, own: Any) -> Any:
        return await self.until(lambda one: one.get("id") == own and "method" not in one)

    async def asked(self, method: str, **params: Any) -> Any:
        """Send a request, and wait for its answer."""
        return await self.answer(self.ask(method, **params))

    async def greet(self, version: str = "2025-11-25", **capabilities: Any) -> Any:
        known = {"name": "tests", "version": "1"}
        return await self.asked(
            "initialize", protocolVersion=version, capabilities=capabilities, clientInfo=known
        )


@asynccontextmanager
async def peer(tool_file: Any, *, greets: bool = True, **options: Any) -> AsyncGenerator[Peer]:
    """A client of a session that is open."""
    tools = load_tools([tool_file])

    def make(approver: Approver, person: Asker) -> Holdfast:
        return Holdfast(tools=tools, approver=approver, person=person, **options)

    served = Served(make)
    async with served.holdfast:
        client = Client(served, greets=greets)
        try:
            yield Peer(served, client)
        finally:
            client.end()
            with anyio.CancelScope(shield=True):
                await client.close()
