"""MCP servers that an editor offers for a session, as tables of the configuration.

They are held to what every configured server is held to: a sandbox, pins, rules. One that cannot be
had is named with the reason. Nothing is started here.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from acp.schema import AcpMcpServer, HttpMcpServer, McpServerStdio, SseMcpServer

from holdfast.app.problems import ConfigurationError
from holdfast.app.servers import setups_of
from holdfast.app.source_settings import McpSettings

Offer: TypeAlias = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio

_REFUSED = "The MCP server {0!r} of your editor is not connected: {1}."
_TAKEN = "holdfast's own configuration has one of this name, and that one counts"
_TRANSPORT = (
    "holdfast speaks with servers over their standard streams or over streamable HTTP, and not"
    " over {0}"
)
_VARIABLE = (
    "its settings hold ${{, which stands for a variable of holdfast's own environment; write the"
    " value out, or configure the server with: holdfast mcp add"
)


class Offered(NamedTuple):
    """What becomes of the servers."""

    tables: dict[str, McpSettings]
    refused: tuple[str, ...]
    """A sentence for each that is not connected."""


def offered(offers: Sequence[Offer], configured: Mapping[str, McpSettings]) -> Offered:
    """Take those that can be had."""
    tables: dict[str, McpSettings] = {}
    refused: list[str] = []
    for offer in offers:
        table = _table(offer)
        reason = table if isinstance(table, str) else _objection(offer.name, table, configured)
        if isinstance(table, McpSettings) and reason is None and offer.name not in tables:
            tables[offer.name] = table
        else:
            refused.append(_REFUSED.format(offer.name[:64], reason or "two have this name"))
    return Offered(tables, tuple(refused))


def _table(offer: Offer) -> McpSettings | str:
    match offer:
        case McpServerStdio():
            variables = {one.name: one.value for one in offer.env}
            return McpSettings(command=(offer.command, *offer.args), env=variables)
        case HttpMcpServer():
            return McpSettings(
                url=offer.url, headers={one.name: one.value for one in offer.headers}
            )
        case SseMcpServer():
            return _TRANSPORT.format("the older SSE")
        case AcpMcpServer():
            return _TRANSPORT.format("the editor's own connection")


def _objection(name: str, table: McpSettings, configured: Mapping[str, McpSettings]) -> str | None:
    if name in configured:
        return _TAKEN
    if any("${" in text for text in _texts(table)):
        return _VARIABLE.replace("{{", "{")
    try:
        setups_of({name: table})
    except ConfigurationError as problem:
        return str(problem).partition("; ")[0]
    return None


def _texts(table: McpSettings) -> Iterator[str]:
    yield from table.command
    yield from table.env.values()
    yield from table.headers.values()
    if table.url is not None:
        yield table.url
