"""The door to MCP servers: what is behind it is loaded when the first server is configured.

The SDK is an extra, and slow to load. Whoever composes imports this module alone.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

from holdfast.contract.tool import Tool
from holdfast.sources.mcp.ports import Ports
from holdfast.sources.mcp.setup import ServerSetup
from holdfast.sources.mcp.states import ServerState

NO_CLIENT = "the client of MCP servers is not installed"
INSTALL = "run: pip install 'holdfast[mcp]', or in holdfast's own folder: pip install '.[mcp]'"


def has_client() -> bool:
    """Whether the client is installed. It is not loaded."""
    return find_spec("mcp") is not None


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

    def tools(self, taken: Collection[str] = (), /) -> tuple[Tool, ...]:
        """The tools that can be used; ``taken``: names that others have."""
        ...

    def states(self, taken: Collection[str] = (), /) -> tuple[ServerState, ...]:
        """How each server stands."""
        ...

    async def pin(
        self, server: str, tool: str | None = None, seen: Mapping[str, str] | None = None, /
    ) -> tuple[str, ...]:
        """Accept definitions, if they are those that were seen; LookupError, OSError."""
        ...


def mcp_servers(setups: Iterable[ServerSetup], ports: Ports) -> McpSource:
    """The servers, not opened yet; NoClient where the SDK is missing, ValueError for one name
    given twice."""
    try:
        behind = import_module("holdfast.sources.mcp.servers")
    except ImportError as problem:
        raise NoClient(f"{NO_CLIENT} ({problem}); {INSTALL}") from None
    servers: McpSource = behind.McpServers(setups, ports)
    return servers
