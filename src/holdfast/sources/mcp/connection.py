"""One connection to a server, held by one task from its first word to its end.

Only this task and its children speak through the SDK. Whoever calls hands a call over and waits for
its end; a caller that goes away cancels what is done for it, and never what receives. Who connects
again, and when, is not known here.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import httpx2
import mcp_types as types
from anyio import (
    CancelScope,
    ClosedResourceError,
    Event,
    WouldBlock,
    create_memory_object_stream,
    create_task_group,
    current_time,
)
from anyio.abc import TaskGroup
from mcp import Client, MCPError
from pydantic import ValidationError

from holdfast._version import __version__
from holdfast.contract.errors import OperationFailed, ToolError
from holdfast.contract.json_value import plain
from holdfast.contract.truncate import cut_text
from holdfast.sources.mcp.asking import CURRENT_CALL, Asking
from holdfast.sources.mcp.calling import call_tool
from holdfast.sources.mcp.calls import OpenCall
from holdfast.sources.mcp.http import Credentials, Unreachable, http_transport
from holdfast.sources.mcp.listing import Listing, list_tools
from holdfast.sources.mcp.ports import Ports
from holdfast.sources.mcp.setup import Era, ServerSetup
from holdfast.sources.mcp.stdio import ProgramTransport, ServerProgram
from holdfast.sources.mcp.troubles import of_error, unavailable
from holdfast.sources.mcp.upkeep import Upkeep

MOST_CALLS = 1000
"""So many calls may be under way at one server."""
LEAVING_SECONDS = 3.0
"""How long it may take to take leave of a server."""

_MODES: dict[Era, str] = {
    "auto": "auto",
    "2025-11-25": "legacy",
    "2026-07-28": "2026-07-28",
}
_QUERY = re.compile(r"(https?://[^\s?]*)\?\S*")
_WITHOUT_A_WORD = ("Server returned an error response", "Not Found")
"""What the SDK says of an error that is no message of the protocol."""
_NOT_THERE = (404, 405, 410, 501)
_SESSION_GONE = "Session terminated"


class Peer(NamedTuple):
    """Who answered."""

    protocol: str
    name: str | None
    version: str | None
    listing: Listing


class Heard(NamedTuple):
    """Who hears of a connection."""

    connected: Callable[[Peer], None]
    listed: Callable[[Listing], None]
    """The server's tools have changed."""
    remark: Callable[[str], None]
    lost: Callable[[str], None]
    """It is not connected any more, and why; it is being left."""


class Connection:
    """A server that is spoken with. Used once, and on one event loop."""

    def __init__(self, setup: ServerSetup, ports: Ports, heard: Heard) -> None:
        """``setup``: without variables left to replace, but for those of credentials."""
        self._setup = setup
        self._heard = heard
        self._whole = CancelScope()
        self._leaving = Event()
        self._upkeep = Upkeep(setup, heard.listed, heard.remark)
        self._open: set[OpenCall] = set()
        self._connected = False
        self._program: ServerProgram | None = None
        self._credentials = Credentials(setup, ports)
        if setup.url is None:
            self._program = ServerProgram(setup, ports, heard.remark)
            self._transport: Any = ProgramTransport(self._program)
        else:
            self._transport = http_transport(setup, ports, self._credentials)
        # Last: what is refused above leaves nothing behind.
        self._queue, self._asked = create_memory_object_stream[OpenCall](MOST_CALLS)

    def hand(self, call: OpenCall) -> None:
        """Have a call done; it fails at once where that cannot be."""
        if len(self._open) >= MOST_CALLS:
            call.fail(unavailable(self._setup.name, f"{MOST_CALLS} calls are under way there"))
            return
        try:
            self._queue.send_nowait(call)
        except (WouldBlock, ClosedResourceError):
            call.fail(unavailable(self._setup.name, self._how()))

    def leave(self) -> None:
        """Have the connection end: at once where it is not there yet, otherwise with a farewell."""
        if not self._connected:
            self._whole.cancel()
        self._leaving.set()

    async def hold(self) -> str:
        """Connect, list the tools, do calls until it is over; says how it ended.

        Raises what keeps it from being connected.
        """
        try:
            with self._whole:
                self._whole.deadline = current_time() + self._setup.startup_seconds
                await self._spoken_with()
        except Exception as problem:
            self._close(self._said(problem))
            if not self._connected:
                raise
            return self._said(problem)
        finally:
            self._close(self._how())
        return self._how()

    def _how(self) -> str:
        if self._program is not None and self._program.how:
            return self._program.how
        if self._leaving.is_set():
            return "it was closed"
        if not self._connected:
            late = f"it was not ready within {self._setup.startup_seconds:g} s"
            return late if self._program is None else f"{late}{self._program.last_words()}"
        return "the connection was lost"

    def _said(self, problem: BaseException) -> str:
        """What went wrong, in words; an address or a header is never among them."""
        status = self._credentials.status
        if self._credentials.refused:
            name = self._setup.name
            where = f"look at its headers in mcp.json, or at headers and token_file of [mcp.{name}]"
            anew = f"holdfast mcp add {name} URL --replace --header 'NAME: VALUE' writes them anew"
            return f"it refused the credentials (HTTP {status}): {where}; {anew}"
        if self._program is not None and self._program.how:
            return self._program.how
        first = _first(problem)
        if isinstance(first, MCPError) and first.message in _WITHOUT_A_WORD and status is not None:
            return _answered_with(status)
        if isinstance(first, (MCPError, ToolError, OSError, Unreachable)):
            return cut_text(_QUERY.sub(r"\1?…", str(first)), 300) or type(first).__name__
        if isinstance(first, ValidationError):
            return "it answered with what the protocol does not allow"
        if isinstance(first, httpx2.ConnectError):
            return "nobody answers at its address: start it there, or correct url"
        return f"the connection failed ({type(first).__name__})"

    @property
    def is_refused(self) -> bool:
        """Whether the server does not take the credentials it is shown."""
        return self._credentials.refused

    def why_not(self, problem: BaseException) -> str:
        """Why it could not be connected."""
        return self._said(problem)

    def _close(self, how: str) -> None:
        self._queue.close()
        waiting = list(self._open)
        while True:
            try:
                waiting.append(self._asked.receive_nowait())
            except Exception:  # noqa: BLE001 - empty, ended or closed: there is nothing left
                break
        self._asked.close()
        for call in waiting:
            call.fail(unavailable(self._setup.name, how))

    async def _spoken_with(self) -> None:
        client = Client(
            self._transport,
            mode=_MODES[self._setup.era],
            cache=None,
            client_info=types.Implementation(name="holdfast", version=__version__),
            elicitation_callback=Asking(self._setup.name, lambda: self._open, self._heard.remark),
            message_handler=self._upkeep.notified,
        )
        async with client:
            await self._discovered(client)
            tools = client.server_capabilities.tools
            listing = Listing() if tools is None else await list_tools(client.session, self._setup)
            self._whole.deadline = float("inf")
            self._connected = True
            if self._program is not None:
                self._program.was_ready = True
            info = client.server_info
            self._heard.connected(
                Peer(
                    client.protocol_version,
                    info.name if info else None,
                    info.version if info else None,
                    listing,
                )
            )
            async with create_task_group() as tasks:
                tasks.start_soon(self._until_over, tasks.cancel_scope)
                tasks.start_soon(self._upkeep.keep, client, listing)
                if tools is not None and tools.list_changed:
                    tasks.start_soon(self._upkeep.subscribe, client)
                await self._serve(client, tasks)
            self._whole.deadline = current_time() + LEAVING_SECONDS

    async def _discovered(self, client: Client) -> None:
        """Hear who a server is that was not asked for it yet."""
        if self._setup.era == "2026-07-28":
            raw = await client.session.send_discover(self._setup.era)
            client.session.adopt(types.DiscoverResult.model_validate(raw))

    async def _serve(self, client: Client, tasks: TaskGroup) -> None:
        async with self._asked.clone() as asked:
            async for call in asked:
                self._open.add(call)
                tasks.start_soon(self._done, client, call)

    async def _done(self, client: Client, call: OpenCall) -> None:
        CURRENT_CALL.set(call)
        try:
            with call.work:
                call.answer(await call_tool(client.session, call, self._setup))
        except MCPError as problem:
            call.fail(self._failure(problem))
        except ValidationError:
            call.fail(
                OperationFailed(
                    f"mcp server {self._setup.name} answered with what the protocol does not allow"
                )
            )
        except (RuntimeError, ValueError, TimeoutError) as problem:
            call.fail(
                OperationFailed(
                    f"mcp server {self._setup.name}: the call failed"
                    f" ({type(problem).__name__}: {cut_text(str(problem), 300)})"
                )
            )
        finally:
            if call.done.is_set() or call.given_up:
                self._open.discard(call)

    def _failure(self, problem: MCPError) -> ToolError:
        if self._credentials.refused:
            return unavailable(self._setup.name, self._said(problem), lasting=True)
        if problem.message == _SESSION_GONE:
            self._leaving.set()
            return unavailable(self._setup.name, "it does not know this session any more")
        how = self._program.how if self._program is not None else ""
        data = plain(problem.error.data)
        return of_error(self._setup.name, problem.code, problem.message, data, how)

    async def _until_over(self, everything: CancelScope) -> None:
        """Wait for the end of the program or for leave to be taken; then all calls are over."""
        async with create_task_group() as first:

            async def wait_for(event: Event) -> None:
                await event.wait()
                first.cancel_scope.cancel()

            first.start_soon(wait_for, self._leaving)
            if self._program is not None:
                first.start_soon(wait_for, self._program.ended)
        self._heard.lost(self._how())
        for call in tuple(self._open):
            call.fail(unavailable(self._setup.name, self._how()))
        everything.cancel()


def _answered_with(status: int) -> str:
    if status in _NOT_THERE:
        return f"no MCP server answers at its address (HTTP {status}): correct url, path included"
    return f"it answers with HTTP {status}"


def _first(problem: BaseException) -> BaseException:
    """What a group of errors began with."""
    if isinstance(problem, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", problem)
        return _first(group.exceptions[0])
    return problem
