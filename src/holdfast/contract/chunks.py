"""The rows of a flow session, the table they stand in, and where a session came from.

Values only: nothing here knows models, sandboxes or files.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue


class AskedCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A call as a model asked for it."""

    id: str
    name: str
    arguments: str
    """The text the model wrote: JSON, if it did well."""

    def to_wire(self) -> JsonObject:
        """As a chat completion has it."""
        function: JsonObject = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}


class _Row(msgspec.Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True, gc=False):
    """What the four kinds have in common: they are told apart by `kind`."""


class SystemChunk(_Row, frozen=True, tag="system"):
    """What an agent is told to be."""

    content: str


class UserChunk(_Row, frozen=True, tag="user"):
    """What a person said."""

    content: str


class AssistantChunk(_Row, frozen=True, tag="assistant"):
    """What a model answered: words, calls, or both."""

    content: str | None = None
    tool_calls: tuple[AskedCall, ...] | None = None
    opaque: JsonObject | msgspec.UnsetType = msgspec.UNSET
    """What its provider wants to see again with it; nobody else reads it."""


class ToolResultChunk(_Row, frozen=True, tag="tool_result"):
    """What came of one call, as text."""

    tool_call_id: str
    name: str
    content: str


Chunk: TypeAlias = SystemChunk | UserChunk | AssistantChunk | ToolResultChunk


class ChunkTable(msgspec.Struct, frozen=True):
    """Rows in their order. It never changes; extending it gives another one."""

    rows: tuple[Chunk, ...] = ()

    def extend(self, chunks: Iterable[Chunk]) -> "ChunkTable":
        """A table with these rows behind its own."""
        return ChunkTable((*self.rows, *chunks))

    def to_messages(self) -> list[JsonObject]:
        """As a chat completion takes them; the name of a result's tool is not among it."""
        return [message_of(row) for row in self.rows]

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> Chunk:
        return self.rows[place]


def message_of(row: Chunk) -> JsonObject:
    """A row as a chat completion takes it."""
    match row:
        case SystemChunk():
            return {"role": "system", "content": row.content}
        case UserChunk():
            return {"role": "user", "content": row.content}
        case ToolResultChunk():
            return {"role": "tool", "tool_call_id": row.tool_call_id, "content": row.content}
        case _:
            return _answer(row)


def _answer(row: AssistantChunk) -> JsonObject:
    message: JsonObject = {"role": "assistant", "content": row.content}
    if row.tool_calls:
        calls: list[JsonValue] = [call.to_wire() for call in row.tool_calls]
        message["tool_calls"] = calls
    return message


LineageKind = Literal[
    "unknown",
    "leaf_user",
    "leaf_system",
    "op_create",
    "op_session_loop",
    "op_fork",
    "op_detach",
    "op_merge",
    "op_session_compress",
]

Scalar: TypeAlias = str | int | float | bool | None


class Lineage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a session came from."""

    parent_session_ids: tuple[str, ...] = ()
    operator: str | None = None
    """What made it."""
    kind: LineageKind = "unknown"
    extras: tuple[tuple[str, Scalar], ...] = ()
    """What else is worth knowing, as names and plain values."""

    def noting(self, name: str, value: Scalar) -> "Lineage":
        """The same with one more thing worth knowing."""
        return msgspec.structs.replace(self, extras=(*self.extras, (name, value)))
