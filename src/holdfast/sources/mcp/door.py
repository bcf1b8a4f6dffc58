"""The door to MCP servers: what is behind it is loaded when the first server is configured.

The SDK is an extra, and slow to load. Whoever composes imports this module alone.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from typing import Protocol

from holdfast.contract.tool import Tool
from holdfast.sources.mcp.ports import Ports
from holdfast.sources.mcp.setup import ServerSetup
from holdfast.sources.mcp.states import ServerState


class NoClient(RuntimeError):
    """The client of MCP is not installed; the message says how it is."""


class McpSource(Protocol):
    """The MCP servers of a session."""

    async def open(self, patience: float = math.inf, /) -> None:
        """Connect all at once, and wait for them so many seconds; OSError or ValueError: pins
        cannot be read."""
        ...

    async def settled(self) -> None:
        """Return when each server has listed its tools, failed or had its time."""
        ...

    async def close(self) -> None:
        """End all of them and everything they started, within a bound."""
        ...

    def changed(self) -> bool:
        """Whether a server lists other tools than those that are offered."""
        ...

    def take_changes(self) -> bool:
        """From here on, offer what the servers list now; whether that is something else."""
        ...

    def tools(self, taken: Collection[str] = ()) -> tuple[Tool, ...]:
        """The tools that can be used; ``taken``: names that others have."""
        ...

    def states(self, taken: Collection[str] = ()) -> tuple[ServerState, ...]:
        """How each server stands."""
        ...

    async def pin(
        self, server: str, tool: str | None = None, seen: Mapping[str, str] | None = None
    ) -> tuple[str, ...]:
        """Accept definitions, if they are those that were seen; LookupError, OSError."""
        ...


def mcp_servers(setups: Iterable[ServerSetup], ports: Ports) -> McpSource:
    """The servers, not opened yet; NoClient where the SDK is missing, ValueError for one name
    given twice."""
    try:
        behind = import_module("holdfast.sources.mcp.servers")
    except ImportError as problem:
        raise NoClient(
            f"MCP servers need a package more ({problem}); install it with:"
            " pip install 'holdfast[mcp]'"
        ) from None
    servers: McpSource = behind.McpServers(setups, ports)
    return servers
