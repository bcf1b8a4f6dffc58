"""How the configured servers stand, for people and surfaces. Values alone."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from holdfast.sources.mcp.definitions import Definition
from holdfast.sources.mcp.pins import Quarantined

Status = Literal["connecting", "connected", "failed", "disabled", "closed"]


class ToolState(msgspec.Struct, frozen=True, kw_only=True):
    """One tool of a server."""

    name: str
    """What the server calls it."""
    id: str
    """What it is called here."""
    pinned: bool
    definition: Definition


class ServerState(msgspec.Struct, frozen=True, kw_only=True):
    """One server."""

    name: str
    status: Status
    where: str = ""
    """The command that starts it or its address, without what is secret."""
    problem: str | None = None
    """Why it is not connected."""
    retry_seconds: float | None = None
    """How long a session waits before it connects a lost one again."""
    lasting: bool = False
    """Whether it will not be tried again."""
    protocol_version: str | None = None
    server_name: str | None = None
    """What it calls itself; nothing vouches for that."""
    server_version: str | None = None
    tools: tuple[ToolState, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    fingerprints: Mapping[str, str] = {}
    """By tool, as the server calls it, what stands for its newest definition and its server. Who
    accepts what they were shown hands these back."""
    remarks: tuple[str, ...] = ()
    """What was cut, left out or refused."""
    changed: bool = False
    """Whether its list of tools is another one from the next turn on."""
