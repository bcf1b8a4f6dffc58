"""The tools a server lists, page by page, within bounds."""

import mcp_types as types
import msgspec
from anyio import fail_after
from mcp import ClientSession

from holdfast.contract.json_value import JsonObject
from holdfast.sources.mcp.definitions import SHOWN_CHARACTERS, Definition, definition_in
from holdfast.sources.mcp.setup import ServerSetup

MOST_PAGES = 100
MOST_TOOLS = 1000


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """What a server listed."""

    definitions: tuple[Definition, ...] = ()
    remarks: tuple[str, ...] = ()
    """What was left out or cut."""
    ttl_seconds: float | None = None
    """For how long it counts, where the server says so."""


async def list_tools(session: ClientSession, setup: ServerSetup) -> Listing:
    """Ask for all pages, each within the time of one request; TimeoutError."""
    entries: list[JsonObject] = []
    remarks: list[str] = []
    cursor: str | None = None
    seen: set[str] = set()
    ttl: float | None = None
    for _ in range(MOST_PAGES):
        with fail_after(setup.seconds):
            page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
        entries += [
            one.model_dump(by_alias=True, mode="json", exclude_unset=True) for one in page.tools
        ]
        ttl = page.ttl_ms / 1000 if page.ttl_ms else ttl
        cursor = page.next_cursor
        if cursor is None:
            break
        if cursor in seen or len(entries) > MOST_TOOLS:
            break
        seen.add(cursor)
    if cursor is not None:
        remarks.append(
            "its list of tools does not end; what came after the first pages is left out"
        )
    found = _taken(entries, setup, remarks)
    return Listing(definitions=found, remarks=tuple(remarks), ttl_seconds=ttl)


def _taken(
    entries: list[JsonObject], setup: ServerSetup, remarks: list[str]
) -> tuple[Definition, ...]:
    """Those that are wanted, each name once."""
    found: dict[str, Definition] = {}
    for entry in entries[:MOST_TOOLS]:
        definition = definition_in(entry)
        if definition.name in found:
            remarks.append(f"it lists {definition.name!r} twice; the second one is left out")
        elif setup.takes(definition.name):
            found[definition.name] = definition
    if len(entries) > MOST_TOOLS:
        remarks.append(f"it lists more than {MOST_TOOLS} tools; the others are left out")
    for definition in found.values():
        length = len(definition.description or "")
        if length > SHOWN_CHARACTERS:
            remarks.append(
                f"the description of {definition.name!r} has {length:,} characters; models are"
                f" shown the first {SHOWN_CHARACTERS}"
            )
    return tuple(found.values())
