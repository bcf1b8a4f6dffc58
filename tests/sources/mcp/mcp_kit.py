"""What tests of the MCP client share: servers started in a real sandbox, and calls settled."""

import os
import shutil
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Unpack

import anyio
import msgspec
from support import Given, make_call, make_judge
from tool_kit import opened

from holdfast import Runtime, tool
from holdfast.app.pins import PinFile
from holdfast.contract.envelope import Envelope
from holdfast.contract.person import Person
from holdfast.contract.programs import Conversation, Listener
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.tool import Tool, ToolDefinitionError
from holdfast.envelope.redact import Redactor
from holdfast.execution.drive import LoopCaller
from holdfast.execution.processes.call_shell import CallShell
from holdfast.runtime.abort import Abort
from holdfast.runtime.catalog import Catalog, compiled
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.pipeline import Parts, Pipeline
from holdfast.sources.mcp.ports import Ports
from holdfast.sources.mcp.servers import McpServers
from holdfast.sources.mcp.setup import ServerSetup
from holdfast.testing.fakes import FakeApprover, FakeProgress, FakeSidecars

RAW = Path(__file__).with_name("raw_server.py")

Start = Callable[[ServerSetup, Listener], Coroutine[object, object, Conversation]]


def begin(work: Coroutine[object, object, object]) -> Callable[[], object]:
    return LoopCaller().begin(work)[1]


def enforceable(candidate: Tool) -> str | None:
    try:
        compiled(candidate)
    except ToolDefinitionError as problem:
        return str(problem)
    return None


def raw(workspace: Path, mode: str = "plain", **fields: Any) -> ServerSetup:
    """A raw server; its words are the old ones, as it would not know the new."""
    shutil.copy(RAW, workspace / "raw_server.py")
    fields.setdefault("era", "2025-11-25")
    fields.setdefault("name", "raw")
    args = (str(workspace / "raw_server.py"), mode)
    return ServerSetup(command=sys.executable, args=args, **fields)


@asynccontextmanager
async def sandbox(workspace: Path) -> AsyncGenerator[Start]:
    """How programs are started: in the sandbox of a session, by the shell of one of its calls."""
    held: list[CallShell] = []

    @tool(requires={"shell": [{"cmd": "*"}], "fs": {"read": ["**"], "write": ["**"]}})
    async def hold(runtime: Runtime) -> str:
        """Keep the shell of this call."""
        assert isinstance(runtime.shell, CallShell)
        held.append(runtime.shell)
        return "held"

    async with opened(workspace, "code", tools=[hold]) as hf:
        assert (await hf.settle("hold", {})).ok

        async def start(setup: ServerSetup, listener: Listener) -> Conversation:
            return await held[0].converse(setup.argv, listener)

        yield start


async def nowhere(_setup: ServerSetup, _listener: Listener) -> Conversation:
    raise AssertionError("nothing is to be started")


def ports(state: Path, start: Start = nowhere, **more: Any) -> Ports:
    real = Ports(
        start=start,
        begin=begin,
        pins=PinFile(state),
        clock=SystemClock(),
        sidecars=FakeSidecars(),
        check=enforceable,
        environment=os.environ,
    )
    return msgspec.structs.replace(real, **more)


@asynccontextmanager
async def connected(given: Ports, *setups: ServerSetup) -> AsyncGenerator[McpServers]:
    """Servers from their opening to their end."""
    servers = McpServers(setups, given)
    await servers.open()
    try:
        yield servers
    finally:
        await servers.close()


@asynccontextmanager
async def served(workspace: Path, *setups: ServerSetup, **more: Any) -> AsyncGenerator[McpServers]:
    """Servers that are started in a sandbox."""
    async with sandbox(workspace) as start:
        given = ports(workspace.parent / f"{workspace.name}-state", start, **more)
        async with connected(given, *setups) as servers:
            yield servers


class Answering:
    """The person behind every call, who says what they were told to say."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self.ask = ask


async def settled(
    servers: McpServers,
    tool_name: str,
    arguments: Mapping[str, object] | None = None,
    *,
    abort: Abort | None = None,
    person: object = None,
    **given: Unpack[Given],
) -> Envelope:
    """One call, through everything a call goes through."""
    tools = servers.tools()
    pipeline = Pipeline(
        Parts(
            catalog=Catalog(tools),
            judge=given.get("judge") or make_judge(standing={one.name: "" for one in tools}),
            approver=FakeApprover(),
            clock=SystemClock(),
            ids=TimeIds(SystemClock()),
            sidecars=given.get("sidecars") or FakeSidecars(),
            redactor=Redactor(),
            session=SessionFacts(id="ses_test"),
            progress=given.get("progress") or FakeProgress(),
            ports={} if person is None else {Person: lambda _runtime: person},
        )
    )
    sent = msgspec.json.encode(arguments or {})
    return await pipeline.settle(make_call(tool_name, sent), abort or Abort())


async def until(true: Callable[[], object], seconds: float = 15.0) -> None:
    """Wait for what other processes bring about."""
    with anyio.fail_after(seconds):
        while not true():  # noqa: ASYNC110 - processes tell nobody
            await anyio.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not reaped does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
