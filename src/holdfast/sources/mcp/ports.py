"""What the client of MCP is handed: who starts programs, keeps pins and bytes, tells the time."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Protocol

import msgspec
from anyio import sleep

from holdfast.contract.gates import HostGate, HostLeave
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


def anywhere(host: str, /) -> HostLeave:
    """Every host may be reached."""
    return HostLeave(host, None, lambda _address: True)


def not_found(setup: ServerSetup) -> str:
    """All that can be said where nobody looks at the disk."""
    return f"its program {setup.command!r} was not found; install it, or correct its command"


def no_objections(_setup: ServerSetup) -> tuple[str, ...]:
    """Nothing speaks against a server as it is."""
    return ()


class Redaction(Protocol):
    """Takes known secrets out of what servers say."""

    def learn(self, secrets: Iterable[str], /) -> None:
        """Know more of them from here on."""
        ...

    def text(self, text: str, /) -> str:
        """The text without them."""
        ...

    def json(self, encoded: bytes, /) -> bytes:
        """The JSON text without them, still JSON."""
        ...

    def content(self, content: bytes, /) -> bytes:
        """The bytes without them."""
        ...


class NothingSecret:
    """There are no secrets."""

    def learn(self, _secrets: Iterable[str], /) -> None:
        """Nobody asks for them."""

    def text(self, text: str, /) -> str:
        """As it is."""
        return text

    def json(self, encoded: bytes, /) -> bytes:
        """As it is."""
        return encoded

    def content(self, content: bytes, /) -> bytes:
        """As it is."""
        return content


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
    """Where bytes of answers with several parts go."""
    redaction: Redaction = NothingSecret()
    """Everything that servers say passes it before anybody hears of it."""
    gate: Callable[[ServerSetup], HostGate] = lambda _setup: anywhere
    """Who is asked, with every request, whether a server at an address may be reached."""
    objections: Callable[[ServerSetup], Iterable[str]] = no_objections
    """What speaks against a server as it is about to be started; it is said, and it is tried."""
    no_program: Callable[[ServerSetup], str] = not_found
    """Why a program that was to be started was not found, and what to do."""
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
