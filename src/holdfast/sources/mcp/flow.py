"""Tools of MCP servers as flow classes, for sessions whose loop takes those.

A flow class has no place for what a tool requires: whoever hands it to a session vouches for it, as
for any flow class. Its pin counts all the same.
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import NamedTuple, Protocol, cast

from holdfast.contract.flow import FlowSession, FlowToolCall
from holdfast.contract.json_value import JsonObject, plain
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Tool
from holdfast.sources.mcp.definitions import Definition, offered
from holdfast.sources.mcp.results import text_of_answer
from holdfast.sources.mcp.states import ServerState, ToolState


class FlowServers(Protocol):
    """The servers whose tools are wrapped."""

    def tools(self) -> tuple[Tool, ...]:
        """Those that can be used."""
        ...

    def states(self) -> tuple[ServerState, ...]:
        """How each server stands."""
        ...

    def call(
        self, server: str, definition: Definition, arguments: JsonObject, runtime: Runtime
    ) -> Coroutine[object, object, JsonObject]:
        """Call a tool; gives the answer as it came."""
        ...


class FlowWorld(NamedTuple):
    """What calls of flow tools need beside their arguments."""

    wait: Callable[[Coroutine[object, object, JsonObject]], JsonObject]
    """Waits, in the thread of a flow tool, for work of the loop that the servers live on."""
    runtime: Runtime
    """What the calls are handed."""


class McpFlowTool(FlowToolCall):
    """One tool; its text parts are joined, and its calls overlap with no others."""

    def __init__(
        self, servers: FlowServers, server: str, state: ToolState, world: FlowWorld
    ) -> None:
        self._servers = servers
        self._server = server
        self._state = state
        self._world = world

    @property
    def name(self) -> str:
        """What the model calls it."""
        return self._state.id

    @property
    def description(self) -> str | None:
        """What its server says of it, cut."""
        return offered(self._state.definition.description)

    @property
    def parameters(self) -> Mapping[str, object]:
        """The server's own schema."""
        return self._state.definition.input_schema

    def __call__(
        self,
        session: FlowSession,  # noqa: ARG002 - the interface's
        arguments: Mapping[str, object],
    ) -> object:
        """Call it: ``{"text": ...}``; raises what the server reports."""
        sent = cast("JsonObject", plain(arguments))
        definition, runtime = self._state.definition, self._world.runtime
        work = self._servers.call(self._server, definition, sent, runtime)
        return {"text": text_of_answer(self._world.wait(work))}


def flow_tools(servers: FlowServers, world: FlowWorld) -> tuple[McpFlowTool, ...]:
    """Every tool that can be used, wrapped."""
    usable = {tool.name for tool in servers.tools()}
    return tuple(
        McpFlowTool(servers, server.name, tool, world)
        for server in servers.states()
        for tool in server.tools
        if tool.id in usable
    )
