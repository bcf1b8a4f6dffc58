"""All configured MCP servers of a session, and the tools they bring.

The host opens them, asks for their tools, takes changes when its next turn begins and closes them.
Who judges calls, and what becomes of results, is not known here.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from typing import cast

from anyio import CancelScope, create_task_group, move_on_after, to_thread

from holdfast.contract.json_value import JsonObject, plain
from holdfast.contract.ports import StoredOutput
from holdfast.contract.requirements import RequirementSet
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Alone, Body, Limits, Tool, ToolDefinitionError
from holdfast.sources.mcp.definitions import Definition, offered, offered_schema
from holdfast.sources.mcp.identity import where
from holdfast.sources.mcp.last_words import is_blocked, reach_advice
from holdfast.sources.mcp.naming import alias_of, names_of, reduced
from holdfast.sources.mcp.pinning import Pins
from holdfast.sources.mcp.ports import Ports
from holdfast.sources.mcp.results import Keep, OutputCheck, result_of
from holdfast.sources.mcp.server import Server
from holdfast.sources.mcp.setup import ServerSetup, requirements_of
from holdfast.sources.mcp.states import ServerState, ToolState
from holdfast.sources.mcp.troubles import unknown_server


class UnknownServer(LookupError):
    """There is no server, or no tool of it, by that name."""


class ChangedSince(LookupError):
    """What somebody would accept is not what they were shown."""


class McpServers:
    """The servers of a session. Used on one event loop."""

    def __init__(self, setups: Iterable[ServerSetup], ports: Ports) -> None:
        """ValueError: two servers have one name."""
        self._ports = ports
        self._pins = Pins(ports.pins, ports.clock)
        self._servers: dict[str, Server] = {}
        for setup in setups:
            if setup.name in self._servers:
                raise ValueError(f"two MCP servers are called {setup.name!r}; rename one of them")
            self._servers[setup.name] = Server(setup, ports, self._pins)
        self._left_out: dict[str, list[str]] = {}

    async def open(self, patience: float = math.inf) -> None:
        """Connect all at once; returns when each has settled, or after so many seconds.

        What comes later is there to be taken. OSError or ValueError: pins cannot be read, and
        without them no tool may be used.
        """
        await self._pins.load()
        for server in self._servers.values():
            server.begin()
        with move_on_after(patience):
            await self.settled()
        self.take_changes()

    async def settled(self) -> None:
        """Return when each server has listed its tools, failed or had its time."""
        async with create_task_group() as tasks:
            for server in self._servers.values():
                tasks.start_soon(server.settled)

    async def close(self) -> None:
        """End all of them and everything they started, within a bound."""
        with CancelScope(shield=True):
            async with create_task_group() as tasks:
                for server in self._servers.values():
                    tasks.start_soon(server.close)

    def changed(self) -> bool:
        """Whether a server lists other tools than those that are offered."""
        return any(server.shelf.changed for server in self._servers.values())

    def take_changes(self) -> bool:
        """From here on, offer what the servers list now; whether that is something else."""
        taken = [server.shelf.take() for server in self._servers.values()]
        return any(taken)

    def tools(self, taken: Collection[str] = ()) -> tuple[Tool, ...]:
        """The tools that can be used; ``taken``: names that others have."""
        names = self._names(taken)
        self._left_out = {name: [] for name in self._servers}
        made: list[Tool] = []
        for server in self._servers.values():
            for definition in server.shelf.listing.definitions:
                if server.quarantine(definition) is None:
                    tool = self._made(server, definition, names[server.setup.name, definition.name])
                    made += [] if tool is None else [tool]
        return tuple(made)

    def states(self, taken: Collection[str] = ()) -> tuple[ServerState, ...]:
        """How each server stands."""
        names = self._names(taken)
        return tuple(self._state(server, names) for server in self._servers.values())

    async def pin(
        self, server: str, tool: str | None = None, seen: Mapping[str, str] | None = None
    ) -> tuple[str, ...]:
        """Accept a server's definitions, or that of one tool; gives which.

        ``seen``: the fingerprints of what was shown; ChangedSince where it is something else by
        now. UnknownServer; OSError: it cannot be kept.
        """
        found = self._servers.get(server)
        if found is None:
            raise UnknownServer(f"there is no MCP server {server!r}")
        if found.peer is None:
            raise UnknownServer(
                f"the MCP server {server!r} has not listed its tools: {found.problem}"
            )
        wanted = [one for one in found.shelf.latest if tool in (None, one.name)]
        if tool is not None and not wanted:
            raise UnknownServer(f"the MCP server {server!r} has no tool {tool!r}")
        if seen is not None:
            _refuse_unseen(server, found.fingerprints(wanted), seen, tool)
        await self._pins.accept(server, found.identity, wanted, whole=tool is None)
        return tuple(one.name for one in wanted)

    async def call(
        self, server: str, definition: Definition, arguments: JsonObject, runtime: Runtime
    ) -> JsonObject:
        """Call a tool by its server's name; gives the answer as it came."""
        found = self._servers.get(server)
        if found is None:
            raise unknown_server(server)
        return await found.call(definition, arguments, runtime)

    def _names(self, taken: Collection[str]) -> Mapping[tuple[str, str], str]:
        return names_of(
            (
                (server.setup.name, definition.name)
                for server in self._servers.values()
                for definition in server.shelf.listing.definitions
            ),
            taken,
            self._ports.configured or self._servers,
        )

    def _made(self, server: Server, definition: Definition, name: str) -> Tool | None:
        """The tool; None, and a word about it, where it cannot be offered."""
        left_out = self._left_out[server.setup.name]
        check: OutputCheck | None = None
        if definition.output_schema is not None:
            try:
                check = OutputCheck(definition.output_schema)
            except ValueError as problem:
                said = str(problem).partition("\n")[0][:200]
                left_out.append(f"{definition.name!r} is left out: its output schema: {said}")
                return None
        try:
            tool = _tool(self, server.meant, definition, name, check)
        except ToolDefinitionError as problem:
            left_out.append(f"{definition.name!r} is left out: {problem}")
            return None
        wrong = self._ports.check(tool)
        if wrong is not None:
            left_out.append(f"{definition.name!r} is left out: {wrong}")
            return None
        plain_name = reduced((server.setup.name, definition.name))
        if name != plain_name:
            left_out.append(
                f"{definition.name!r} is called {name}: {plain_name} is too long, or may be another"
                " tool's name"
            )
        return tool

    async def settle(
        self,
        server: str,
        definition: Definition,
        check: OutputCheck | None,
        arguments: Mapping[str, object],
        runtime: Runtime,
    ) -> object:
        """What the body of a tool does."""
        sent = cast("JsonObject", plain(arguments))
        wire = await self.call(server, definition, sent, runtime)
        keep = Keep(partial(self._keep, runtime, count(1)), self._ports.redaction.content)
        return await result_of(wire, check, keep, partial(_hint, self._servers[server].setup))

    async def _keep(
        self, runtime: Runtime, numbers: Iterator[int], content: bytes
    ) -> StoredOutput | None:
        name = f"{runtime.tool}-{runtime.call_id}-{next(numbers)}"
        return await to_thread.run_sync(
            self._ports.sidecars.keep, runtime.session.id, name, content
        )

    def _state(self, server: Server, names: Mapping[tuple[str, str], str]) -> ServerState:
        name, peer = server.setup.name, server.peer
        held = [server.quarantine(one) for one in server.shelf.latest]
        return ServerState(
            name=name,
            status=server.status,
            where=where(server.setup),
            problem=server.problem,
            retry_seconds=server.retry_seconds,
            lasting=server.lasting,
            protocol_version=peer.protocol if peer else None,
            server_name=peer.name if peer else None,
            server_version=peer.version if peer else None,
            tools=tuple(
                ToolState(
                    name=one.name,
                    id=names[name, one.name],
                    pinned=self._pins.has(name, one.name),
                    definition=one,
                )
                for one in server.shelf.listing.definitions
            ),
            quarantined=tuple(one for one in held if one is not None),
            fingerprints=server.fingerprints(server.shelf.latest),
            remarks=(*server.shelf.remarks, *self._left_out.get(name, ())),
            changed=server.shelf.changed,
        )


def _hint(setup: ServerSetup, said: str) -> str | None:
    """What the server's sandbox may have to do with a failure in these words."""
    if setup.url is not None or not is_blocked(said):
        return None
    return reach_advice(setup.name, setup.requires, said)


def _refuse_unseen(
    server: str, now: Mapping[str, str], seen: Mapping[str, str], tool: str | None
) -> None:
    shown = {name: one for name, one in seen.items() if tool in (None, name)}
    if shown != now:
        others = sorted(name for name in {*shown, *now} if shown.get(name) != now.get(name))
        raise ChangedSince(
            f"the MCP server {server!r} says something else by now than what was shown (of"
            f" {', '.join(map(repr, others[:5]))}); nothing was accepted: look at it again"
        )


def _tool(
    servers: McpServers,
    setup: ServerSetup,
    definition: Definition,
    name: str,
    check: OutputCheck | None,
) -> Tool:
    def invoke(arguments: Mapping[str, object], runtime: Runtime) -> object:
        return servers.settle(setup.name, definition, check, arguments, runtime)

    hints = definition.annotations if setup.trust and definition.annotations else {}
    read_only = hints.get("readOnlyHint") is True
    requires: RequirementSet = requirements_of(setup)
    output = definition.output_schema
    return Tool(
        name=name,
        description=offered(definition.description),
        input_schema=offered_schema(definition.input_schema),
        output_schema=None if output is None else offered_schema(output),
        requires=requires,
        body=Body(style="async", invoke=invoke),
        ownership="mcp",
        alone=Alone(seconds=setup.seconds),
        alias=alias_of((setup.name, definition.name)),
        read_only=read_only,
        destructive=not read_only and hints.get("destructiveHint") is not False,
        interrupt_behavior="cancel",
        # Its deadline is kept by the client of MCP: while a person is asked, time stands still.
        limits=Limits(wall_seconds=None),
    )
