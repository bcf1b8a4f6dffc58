"""What the client of MCP is handed: who starts programs, keeps pins and bytes, tells the time."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping

import msgspec
from anyio import sleep

from holdfast.contract.ports import Clock, SidecarStore
from holdfast.contract.programs import Conversation, Listener
from holdfast.contract.tool import Tool
from holdfast.sources.mcp.pins import PinStore
from holdfast.sources.mcp.setup import ServerSetup


def no_file(path: str) -> str:
    """There are no files to be read here."""
    raise FileNotFoundError(path)


def nothing_wrong(_tool: Tool) -> str | None:
    """Every tool will do."""
    return None


class Ports(msgspec.Struct, frozen=True, kw_only=True):
    """The world, as far as MCP servers need it."""

    start: Callable[[ServerSetup, Listener], Awaitable[Conversation]]
    """Starts a server's program, confined; its setup has no variables left to replace. OSError or
    Unavailable where it cannot be started."""
    begin: Callable[[Coroutine[object, object, object]], Callable[[], object]]
    """Runs a coroutine in a task of its own; gives what cancels it."""
    pins: PinStore
    clock: Clock
    sidecars: SidecarStore
    """Where bytes of answers with several parts go; the host's takes secrets out of them."""
    configured: tuple[str, ...] = ()
    """The names of all servers there are, also of those that are not wanted here: what a tool is
    called depends on them. None: those that are wanted are all."""
    check: Callable[[Tool], str | None] = nothing_wrong
    """Why a tool cannot be offered, such as a schema that cannot be enforced; None: it can."""
    environment: Mapping[str, str] = {}
    """Variables that the texts of setups may name; read whenever a server is connected."""
    read_text: Callable[[str], str] = no_file
    """Reads a token file. Blocking; OSError or ValueError."""
    sleep: Callable[[float], Awaitable[object]] = sleep
    """Waits between two tries to connect."""
