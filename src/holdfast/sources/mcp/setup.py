"""An MCP server as it is configured. A value: nothing is started and no variable is read here.

Texts may hold ``${NAME}``; what stands in its place is read when a server is connected.
"""

from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.requirements import NOTHING_REQUIRED, NetRequirement, RequirementSet

Era = Literal["auto", "2025-11-25", "2026-07-28"]

CALL_SECONDS = 30.0
STARTUP_SECONDS = 30.0

_NAME = late_pattern(r"[^\s:\x00-\x1f\x7f][^:\x00-\x1f\x7f]{0,63}")
_SCHEMES = ("http", "https")


class BadSetup(ValueError):
    """A server cannot be used as it is configured; the message says what to change."""


class ServerSetup(msgspec.Struct, frozen=True, kw_only=True):
    """One server: a program that is started, or an address that is reached over HTTP."""

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = {}
    token_file: str | None = None
    """A file that holds a bearer token, read whenever the server is connected or refuses."""
    era: Era = "auto"
    seconds: float = CALL_SECONDS
    """How long one request may take."""
    startup_seconds: float = STARTUP_SECONDS
    """How long it may take from its start to its list of tools."""
    trust: bool = False
    """Whether what its tools say of themselves, such as that they only read, is believed."""
    disabled: bool = False
    allow: tuple[str, ...] | None = None
    """Names of tools that are taken; None: all."""
    deny: tuple[str, ...] = ()
    """Names of tools that are left out."""
    requires: RequirementSet = NOTHING_REQUIRED
    """What it needs from the world."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise BadSetup(
                f"{self.name[:64]!r} is no name of an MCP server: take 1 to 64 characters without"
                " a colon"
            )
        if (self.command is None) == (self.url is None):
            raise BadSetup(
                f"mcp server {self.name}: give either the command that starts it or its url"
            )
        if self.command is not None and not self.command.strip():
            raise BadSetup(f"mcp server {self.name}: its command is empty")
        if not (self.seconds > 0 and self.startup_seconds > 0):
            raise BadSetup(f"mcp server {self.name}: its seconds must be positive")

    def __repr__(self) -> str:
        """Without what may be secret: variables, headers, arguments and the address."""
        kind = "url" if self.command is None else "command"
        return f"ServerSetup(name={self.name!r}, {kind}=..., era={self.era!r})"

    @property
    def argv(self) -> tuple[str, ...]:
        """The program and its arguments; empty for an address."""
        return () if self.command is None else (self.command, *self.args)

    def takes(self, tool: str) -> bool:
        """Whether a tool of that name is wanted."""
        return tool not in self.deny and (self.allow is None or tool in self.allow)


def host_of(url: str, name: str) -> str:
    """The host that an address leads to; BadSetup when it is none."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, None
    if parts is None or not host or parts.scheme not in _SCHEMES:
        raise BadSetup(
            f"mcp server {name}: its url is no address; write it like https://example.com/mcp"
        )
    return host


def requirements_of(setup: ServerSetup) -> RequirementSet:
    """What calls of its tools require: what is declared, and for an address its host."""
    if setup.url is None:
        return setup.requires
    declared = setup.requires.net.hosts
    try:
        host = host_of(setup.url, setup.name)
    except BadSetup:
        return setup.requires
    hosts = declared if host in declared else (*declared, host)
    return msgspec.structs.replace(setup.requires, net=NetRequirement(hosts=hosts))
