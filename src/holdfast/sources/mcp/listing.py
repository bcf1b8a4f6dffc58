"""The tools a server lists, page by page, within bounds."""

import mcp_types as types
import msgspec
from anyio import fail_after
from mcp import ClientSession

from holdfast.contract.json_value import JsonObject, encode_json
from holdfast.sources.mcp.definitions import (
    SHOWN_CHARACTERS,
    Definition,
    definition_in,
    hides_words,
)
from holdfast.sources.mcp.pattern_costs import MOST_COST, pattern_cost
from holdfast.sources.mcp.setup import ServerSetup

MOST_PAGES = 100
MOST_TOOLS = 1000
MOST_BYTES = 16 * 1024 * 1024
"""Of all definitions together."""
MOST_DEFINITION_BYTES = 256 * 1024
MOST_REMARKS = 50
LONGEST_NAME = 128
"""Of a tool, as the protocol has it."""


_HIDDEN = "names or values in its schemas hold characters that nobody sees"
_TOO_COSTLY = "with its patterns, those in the server's schemas take too long to compile"
_NO_NAME = f"a name has 1 to {LONGEST_NAME} characters that can be printed"


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
    listed_bytes = 0
    for _ in range(MOST_PAGES):
        with fail_after(setup.seconds):
            page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
        for one in page.tools:
            entry = one.model_dump(by_alias=True, mode="json", exclude_unset=True)
            size = len(encode_json(entry))
            listed_bytes += size
            if size <= MOST_DEFINITION_BYTES:
                entries.append(entry)
            else:
                remarks.append(f"the tool {one.name[:LONGEST_NAME]!r} is left out: {size:,} bytes")
        ttl = page.ttl_ms / 1000 if page.ttl_ms else ttl
        cursor = page.next_cursor
        if cursor is None:
            break
        if cursor in seen or len(entries) > MOST_TOOLS or listed_bytes > MOST_BYTES:
            break
        seen.add(cursor)
    if cursor is not None:
        remarks.append(
            "its list of tools does not end; what came after the first pages is left out"
        )
    found = _taken(entries, setup, remarks)
    return Listing(definitions=found, remarks=tuple(remarks[:MOST_REMARKS]), ttl_seconds=ttl)


def _is_name(name: str) -> bool:
    return 0 < len(name) <= LONGEST_NAME and name.isprintable()


def _taken(
    entries: list[JsonObject], setup: ServerSetup, remarks: list[str]
) -> tuple[Definition, ...]:
    """Those that are wanted, each name once."""
    found: dict[str, Definition] = {}
    cost = 0
    for entry in entries[:MOST_TOOLS]:
        definition = definition_in(entry)
        if not _is_name(definition.name):
            remarks.append(f"the tool {definition.name[:LONGEST_NAME]!r} is left out: {_NO_NAME}")
        elif definition.name in found:
            remarks.append(f"it lists {definition.name!r} twice; the second one is left out")
        elif hides_words([definition.input_schema, definition.output_schema]):
            remarks.append(f"the tool {definition.name!r} is left out: {_HIDDEN}")
        elif setup.takes(definition.name):
            own = pattern_cost([definition.input_schema, definition.output_schema])
            if cost + own > MOST_COST:
                remarks.append(f"the tool {definition.name!r} is left out: {_TOO_COSTLY}")
            else:
                found[definition.name] = definition
                cost += own
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
