"""What clients ask for beside calls, each method a function: a result, a fault, or work for one."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import msgspec

from holdfast.surfaces.mcp.messages import INVALID_PARAMS, Fault
from holdfast.surfaces.mcp.served import Served, completed, discovered
from holdfast.surfaces.mcp.tickets import Ticket

Answered = bytes | Fault
Method = Callable[[Served, Ticket], Answered | Awaitable[Answered]]

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_T = TypeVar("_T")
_LEVELS = frozenset(
    {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
)
_TEMPLATES_FRESH_MS = 60_000


class _Address(msgspec.Struct, frozen=True):
    uri: str


class _Level(msgspec.Struct, frozen=True):
    level: str


class _Page(msgspec.Struct, frozen=True):
    cursor: str | None = None


_addresses = msgspec.json.Decoder(_Address)
_levels = msgspec.json.Decoder(_Level)
_pages = msgspec.json.Decoder(_Page)


def decoded(decoder: msgspec.json.Decoder[_T], params: bytes) -> _T | Fault:
    """What the parameters of a method say."""
    try:
        return decoder.decode(params)
    except UNREADABLE as problem:
        return Fault(INVALID_PARAMS, f"Invalid params: {problem}")


def _ping(_served: Served, _ticket: Ticket) -> Answered:
    return b"{}"


def _level(_served: Served, ticket: Ticket) -> Answered:
    """Nothing is logged to clients, from whichever level on."""
    said = decoded(_levels, ticket.request.params)
    if isinstance(said, Fault):
        return said
    return b"{}" if said.level in _LEVELS else Fault(INVALID_PARAMS, "Invalid params: level")


def _discover(_served: Served, ticket: Ticket) -> Answered:
    return discovered(ticket.caller)


def _tools(served: Served, ticket: Ticket) -> Answered | Awaitable[Answered]:
    if (fault := _no_page(ticket)) is not None:
        return fault
    listed = served.whole_tool_list if served.awaits_servers else served.tool_list
    return listed(ticket.caller)


def _templates(_served: Served, ticket: Ticket) -> Answered:
    """There are none: every resource is listed."""
    none = completed({"resourceTemplates": []}, ticket.caller, fresh_ms=_TEMPLATES_FRESH_MS)
    return _no_page(ticket) or none


def _resources(served: Served, ticket: Ticket) -> Answered | Awaitable[Answered]:
    return _no_page(ticket) or served.resource_list(ticket.caller)


def _resource(served: Served, ticket: Ticket) -> Answered | Awaitable[Answered]:
    said = decoded(_addresses, ticket.request.params)
    return said if isinstance(said, Fault) else served.resource(said.uri, ticket.caller)


def _no_page(ticket: Ticket) -> Fault | None:
    """Why there is no such page of a list: there is one."""
    said = decoded(_pages, ticket.request.params)
    if isinstance(said, Fault):
        return said
    return None if said.cursor is None else Fault(INVALID_PARAMS, "Invalid params: cursor")


_BOTH: Mapping[str, Method] = {
    "tools/list": _tools,
    "resources/list": _resources,
    "resources/templates/list": _templates,
    "resources/read": _resource,
}
WORKING_METHODS = frozenset({"tools/list", "resources/list", "resources/read"})
"""Those that may take work."""
LEGACY_METHODS: Mapping[str, Method] = {**_BOTH, "ping": _ping, "logging/setLevel": _level}
MODERN_METHODS: Mapping[str, Method] = {**_BOTH, "server/discover": _discover}
