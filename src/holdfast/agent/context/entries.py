"""Rows of a conversation with where they came from, and which of them belong together."""

from collections.abc import Iterable, Sequence

import msgspec

from holdfast.contract.chunks import AssistantChunk, Chunk, ToolResultChunk
from holdfast.contract.json_value import encode_json
from holdfast.contract.tokens import tokens_of

NO_EVENT = 0
"""The number of a row that no event has told: events are counted from 1."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A row, and the event it came from."""

    row: Chunk
    sequence: int
    """The event's number."""
    call_id: str | None = None
    """Of what came of a call: the runtime's id of that call."""
    tool: str | None = None
    """And which tool it was."""


Group = tuple[Entry, ...]
"""Rows that are told together or not at all."""


def row_tokens(row: Chunk) -> int:
    """How many tokens a row is, roughly: all of it that is sent."""
    if not isinstance(row, AssistantChunk):
        return tokens_of(row.content)
    said = [row.content or ""]
    for call in row.tool_calls or ():
        said += (call.name, call.arguments)
    opaque = b"" if row.opaque is msgspec.UNSET else encode_json(row.opaque)
    return tokens_of("".join(said)) + (tokens_of(opaque) if opaque else 0)


def entry_tokens(entries: Iterable[Entry]) -> int:
    """The same for many."""
    return sum(row_tokens(entry.row) for entry in entries)


def groups(entries: Sequence[Entry]) -> tuple[Group, ...]:
    """Rows that belong together, in the order they begin: an answer with calls stands with what
    came of these. What came of a call that nobody asked for is left out: no provider takes it."""
    found: list[list[Entry]] = []
    asked_in: dict[str, list[Entry]] = {}
    for entry in entries:
        if isinstance(entry.row, ToolResultChunk):
            if (group := asked_in.get(entry.row.tool_call_id)) is not None:
                group.append(entry)
            continue
        found.append([entry])
        if isinstance(entry.row, AssistantChunk):
            asked_in |= {call.id: found[-1] for call in entry.row.tool_calls or ()}
    return tuple(map(tuple, found))
