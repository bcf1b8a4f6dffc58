"""The MCP servers of a session: from tables of the configuration to programs that run confined.

Each one runs as a tool that no model can call, so that it reaches what its own table declares. What
is spoken with them is not known here.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from holdfast.app.later_hand import LaterHand
from holdfast.app.pins import PinFile
from holdfast.app.problems import ConfigurationError
from holdfast.app.program_doubts import program_doubt
from holdfast.app.requirement_tables import requirements_of
from holdfast.app.server_absence import Absent, WithoutClient, held_in, is_away, left_out
from holdfast.app.server_programs import (
    files_named,
    guarded_variables,
    meant_by,
    server_tools,
    tool_of,
)
from holdfast.app.settings import Surroundings
from holdfast.app.source_settings import McpSettings
from holdfast.contract.errors import Unavailable
from holdfast.contract.failure import Failure
from holdfast.contract.gates import Refusal
from holdfast.contract.ports import Clock
from holdfast.contract.programs import Conversation, DeclaredProgram, Listener
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.contract.runtime import Progress, Runtime, SessionFacts
from holdfast.contract.tool import Tool, ToolDefinitionError
from holdfast.envelope.redact import Redactor
from holdfast.execution.drive import LoopCaller
from holdfast.execution.processes import aftermath
from holdfast.execution.sidecars import SidecarFiles
from holdfast.preflight.expansion import refuse_expansion_beyond
from holdfast.preflight.plan import MAX_CHECKS
from holdfast.preflight.schema import SchemaProblem
from holdfast.runtime.abort import Abort
from holdfast.runtime.catalog import compiled
from holdfast.sources.mcp.door import McpSource, NoClient, mcp_servers
from holdfast.sources.mcp.naming import owners_of
from holdfast.sources.mcp.pins import Pin, PinStore
from holdfast.sources.mcp.ports import Ports
from holdfast.sources.mcp.secrets import secrets_of
from holdfast.sources.mcp.setup import CALL_SECONDS, STARTUP_SECONDS, BadSetup, ServerSetup
from holdfast.sources.mcp.states import ServerState

__all__ = [
    "Absent",
    "ServerParts",
    "SessionServers",
    "is_away",
    "left_out",
    "remarks_on",
    "server_tools",
    "servers_of",
    "servers_with",
    "setups_of",
    "tool_of",
    "with_secrets",
]

_NAMED = 5
"""So many tools are named in one sentence."""
LONGEST_TOKEN_FILE = 64 * 1024


def setups_of(tables: Mapping[str, McpSettings]) -> tuple[ServerSetup, ...]:
    """The servers that are configured; ConfigurationError names the table that makes none."""
    return tuple(_setup(name, table) for name, table in tables.items())


def _setup(name: str, table: McpSettings) -> ServerSetup:
    try:
        return ServerSetup(
            name=name,
            command=table.command[0] if table.command else None,
            args=table.command[1:],
            env=table.env,
            cwd=table.cwd,
            url=table.url,
            headers=table.headers,
            token_file=table.token_file,
            era=table.era,
            seconds=table.seconds or CALL_SECONDS,
            startup_seconds=table.startup_seconds or STARTUP_SECONDS,
            trust=table.trust,
            disabled=table.disabled,
            allow=table.allow,
            deny=table.deny,
            requires=NOTHING_REQUIRED
            if table.requires is None
            else requirements_of(table.requires),
        )
    except BadSetup as problem:
        raise ConfigurationError(
            f"mcp.{name}: {problem}; correct the table [mcp.{name}], or remove it"
        ) from None


def servers_with(tool: str, servers: Iterable[str]) -> tuple[str, ...]:
    """The servers that a tool of this name may be of."""
    return owners_of(tool, servers)


def with_secrets(around: Surroundings, setups: Iterable[ServerSetup]) -> Surroundings:
    """The surroundings with what is secret of these servers among their secrets."""
    found = set(around.secrets)
    for one in setups:
        found |= secrets_of(one, around.parent_environment)
        meant = meant_by(one, around.parent_environment)
        if meant.token_file is not None:
            with suppress(OSError, ValueError):  # told when the server is connected
                found.add(_read_text(meant.token_file).strip())
    return msgspec.structs.replace(around, secrets=tuple(sorted(found)))


class ServerParts(msgspec.Struct, frozen=True, kw_only=True):
    """What the servers of a session are made from."""

    session: SessionFacts
    surroundings: Surroundings
    hand: LaterHand
    sidecars: SidecarFiles
    clock: Clock
    redactor: Redactor
    leaves: Callable[[str], aftermath.Leaves]
    """What a tool may open and reach, asked at the moment of use."""
    configured: tuple[str, ...] = ()
    """The names of all servers of the configuration, also of those that are not wanted."""


class SessionServers:
    """The servers of one session. Nothing is loaded for them before they are opened."""

    def __init__(self, setups: Sequence[ServerSetup], ports: Ports) -> None:
        self._setups = setups
        self._ports = ports
        self._source: McpSource | None = None
        self._taken: Collection[str] = ()

    async def open(self, patience: float) -> None:
        """Connect them, and wait so long; ConfigurationError where they cannot even be tried."""
        try:
            try:
                self._source = mcp_servers(self._setups, self._ports)
            except NoClient as problem:
                self._source = WithoutClient(self._setups, str(problem))
            await self._source.open(patience)
        except (OSError, ValueError) as problem:
            raise ConfigurationError(f"the pins of MCP tools: {problem}") from None

    async def settled(self) -> None:
        """Return when none of them is being connected for the first time."""
        if self._source is not None:
            await self._source.settled()

    async def close(self) -> None:
        """End all of them."""
        if self._source is not None:
            await self._source.close()

    def take_changes(self) -> bool:
        """From here on, offer what they list now; whether that is something else."""
        return self._source is not None and self._source.take_changes()

    def tools(self, taken: Collection[str], /) -> tuple[Tool, ...]:
        """The tools that can be used; ``taken``: names that others have."""
        self._taken = taken
        return () if self._source is None else self._source.tools(taken)

    def states(self) -> tuple[ServerState, ...]:
        """How each of them stands; nothing before they are opened."""
        return () if self._source is None else self._source.states(self._taken)

    def absent(self, notices: Mapping[str, tuple[str, ...]]) -> Mapping[str, Failure]:
        """By name, what to say of tools that cannot be called: those that are quarantined, and
        whatever is called like the tools of a server that is not there."""
        configured = self._ports.configured or tuple(one.name for one in self._setups)
        return Absent(held_in(self.states()), configured, notices, self.states)

    async def pin(
        self, server: str, tool: str | None, seen: Mapping[str, str] | None
    ) -> tuple[str, ...]:
        """Accept definitions, if they are those that were seen; LookupError, OSError."""
        if self._source is None:
            raise LookupError("the servers are not open")
        return await self._source.pin(server, tool, seen)

    def remarks(self, *, settled: bool = False) -> tuple[str, ...]:
        """What is doubtful about them; ``settled``: without those that are being connected."""
        states = (one for one in self.states() if not (settled and one.status == "connecting"))
        return tuple(remark for state in states for remark in remarks_on(state))


def remarks_on(state: ServerState) -> Iterator[str]:
    """What is doubtful about a server, a line each."""
    whose = f"mcp server {state.name}"
    if state.status not in ("connected", "disabled"):
        yield f"{whose} is {state.status}: {state.problem}"
    by_reason: dict[str, list[str]] = {}
    for held in state.quarantined:
        by_reason.setdefault(held.summary, []).append(held.tool)
    for reason, tools in by_reason.items():
        yield (
            f"{whose}: {_named(tools)} quarantined ({reason}); holdfast mcp pin"
            f" {state.name} shows the change and accepts it"
        )
    yield from (f"{whose}: {remark}" for remark in state.remarks)


def _named(tools: Sequence[str]) -> str:
    """Tools as the beginning of a sentence."""
    if len(tools) == 1:
        return f"the tool {tools[0]!r} is"
    more = len(tools) - _NAMED
    named = ", ".join(map(repr, tools[:_NAMED]))
    return f"the tools {named} and {more} more are" if more > 0 else f"the tools {named} are"


def servers_of(setups: Sequence[ServerSetup], parts: ServerParts) -> SessionServers:
    """The servers, not started yet."""
    state_home = parts.surroundings.state_home
    ports = Ports(
        start=_Starter(parts).start,
        begin=lambda work: LoopCaller().begin(work)[1],
        pins=_ForgottenPins() if state_home is None else PinFile(state_home),
        clock=parts.clock,
        sidecars=parts.sidecars,
        configured=parts.configured,
        check=_unenforceable,
        environment=parts.surroundings.parent_environment,
        read_text=_read_text,
        redaction=parts.redactor,
        gate=lambda setup: parts.leaves(tool_of(setup.name)).reach,
        objections=partial(_objections, parts),
        no_program=partial(_no_program, parts),
    )
    return SessionServers(setups, ports)


def _read_text(path: str) -> str:
    with Path(path).open("rb") as file:
        content = file.read(LONGEST_TOKEN_FILE + 1)
    if len(content) > LONGEST_TOKEN_FILE:
        raise ValueError("it is too large")
    return content.decode("utf-8")


def _objections(parts: ServerParts, meant: ServerSetup) -> Iterator[str]:
    """What of its command line a server may not read, and why."""
    leaves = parts.leaves(tool_of(meant.name))
    for path in files_named(meant):
        verdict = leaves.open("read", path)
        if isinstance(verdict, Refusal):
            yield f"its command line names {path}, which it may not read: {verdict.reason}"


def _no_program(parts: ServerParts, meant: ServerSetup) -> str:
    """Why the program of a server was not found where it was to run."""
    program = meant.argv[0]
    around = {**parts.surroundings.parent_environment, **meant.env}
    folder = Path(parts.session.workspace or "") / (meant.cwd or "")
    doubt = program_doubt(program, around, folder)
    if doubt is not None:
        return doubt.text
    return (
        f"its program {program!r} is there and was not found in its sandbox; give command its whole"
        f" path, and name what else it is run by in requires of [mcp.{meant.name}]"
    )


def _unenforceable(tool: Tool) -> str | None:
    """Why a tool cannot be offered. What a call would check its result by is bounded, too."""
    try:
        compiled(tool)
        refuse_expansion_beyond(tool.output_schema or {}, MAX_CHECKS)
    except ToolDefinitionError as problem:
        return str(problem)
    except SchemaProblem as problem:
        return f"its output schema: {problem}"
    return None


class _Starter:
    """Starts the programs of servers in the sandboxes of their own."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts

    async def start(self, setup: ServerSetup, listener: Listener) -> Conversation:
        runtime = Runtime(
            call_id="",
            tool=tool_of(setup.name),
            session=self._parts.session,
            progress=_unheard,
            abort=Abort(),
            hand=self._parts.hand,
        )
        self._check_folder(setup)
        program = DeclaredProgram(
            argv=setup.argv, variables={**guarded_variables(setup), **setup.env}, cwd=setup.cwd
        )
        return await self._parts.hand.programs(runtime).converse(program, listener)

    def _check_folder(self, setup: ServerSetup) -> None:
        """Say what is wrong with the folder it is to begin in; Unavailable."""
        if setup.cwd is None:
            return
        named = f"its cwd {setup.cwd!r}"
        if not (Path(self._parts.session.workspace or "") / setup.cwd).is_dir():
            raise Unavailable(
                f"{named} is no folder; make it, or name another in [mcp.{setup.name}]"
            )
        verdict = self._parts.leaves(tool_of(setup.name)).open("read", setup.cwd)
        if isinstance(verdict, Refusal):
            raise Unavailable(
                f"{named} is nothing that it may read: {verdict.reason} Give it"
                f" requires = {{ read = [{setup.cwd + '/**'!r}] }} in [mcp.{setup.name}]"
            )


class _ForgottenPins(PinStore):
    """Where there is no place for state, what was accepted holds for the session."""

    def __init__(self) -> None:
        self._pins: dict[tuple[str, str], Pin] = {}

    def load(self) -> tuple[Pin, ...]:
        return tuple(self._pins.values())

    def first(self, pins: Sequence[Pin], /) -> tuple[Pin, ...]:
        return tuple(self._pins.setdefault((pin.server, pin.tool), pin) for pin in pins)

    def accept(self, server: str, pins: Sequence[Pin], /, *, all_others_go: bool) -> None:
        if all_others_go:
            self._pins = {key: pin for key, pin in self._pins.items() if pin.server != server}
        self._pins.update({(pin.server, pin.tool): pin for pin in pins})


def _unheard(_progress: Progress) -> None:
    return None
