"""Keeping up with a server's list of tools: hearing of changes, and asking again."""

from collections.abc import Callable
from contextlib import AsyncExitStack

import mcp_types as types
from anyio import CancelScope, Event, current_time, fail_after, sleep
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import SubscriptionLost
from pydantic import ValidationError

from holdfast.sources.mcp.listing import Listing, list_tools
from holdfast.sources.mcp.setup import ServerSetup

RELIST_SECONDS = 1.0
"""Between two lists of a server that says that its tools have changed."""
SHORTEST_TTL = 5.0
_FIRST_TO_SUBSCRIBE = "2026"


class Upkeep:
    """Asks for the list again whenever it has changed, or has become too old."""

    def __init__(
        self,
        setup: ServerSetup,
        listed: Callable[[Listing], None],
        remark: Callable[[str], None],
    ) -> None:
        self._setup = setup
        self._listed = listed
        self._remark = remark
        self._stale = Event()

    async def notified(self, message: IncomingMessage) -> None:
        """Hear what a server says unasked."""
        if isinstance(message, types.ToolListChangedNotification):
            self._stale.set()

    async def keep(self, client: Client, listing: Listing) -> None:
        """Ask again, for as long as the connection holds."""
        while True:
            ttl = listing.ttl_seconds
            with CancelScope() as waiting:
                if ttl is not None:
                    waiting.deadline = current_time() + max(ttl, SHORTEST_TTL)
                await self._stale.wait()
            self._stale = Event()
            try:
                with fail_after(self._setup.startup_seconds):
                    listing = await list_tools(client.session, self._setup)
            except (MCPError, ValidationError, TimeoutError):
                self._remark("its changed list of tools could not be read; the old one stays")
            else:
                self._listed(listing)
            await sleep(RELIST_SECONDS)

    async def subscribe(self, client: Client) -> None:
        """Hear of changes from a server that tells only those who listen."""
        if client.protocol_version < _FIRST_TO_SUBSCRIBE:
            return
        while True:
            try:
                async with AsyncExitStack() as stack:
                    with fail_after(self._setup.seconds):
                        listening = client.listen(tools_list_changed=True)
                        events = await stack.enter_async_context(listening)
                    async for _ in events:
                        self._stale.set()
            except (MCPError, SubscriptionLost, TimeoutError):
                pass  # what was missed meanwhile is found with the next list
            await sleep(SHORTEST_TTL)
            self._stale.set()
