"""A small reader of the AI SDK's message stream, written from its published chunks alone.

It refuses what the SDK's own reader would: unknown fields, deltas of nothing, outputs of no call.
"""

from collections.abc import Iterable, Mapping
from typing import Any

FIELDS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    kind: (frozenset(required.split()), frozenset(optional.split()))
    for kind, required, optional in (
        ("start", "", "messageId messageMetadata"),
        ("finish", "", "messageMetadata"),
        ("abort", "", ""),
        ("text-start", "id", ""),
        ("text-delta", "id delta", ""),
        ("text-end", "id", ""),
        ("reasoning-start", "id", ""),
        ("reasoning-delta", "id delta", ""),
        ("reasoning-end", "id", ""),
        ("tool-input-start", "toolCallId toolName", "dynamic"),
        ("tool-input-delta", "toolCallId inputTextDelta", ""),
        ("tool-input-available", "toolCallId toolName input", "dynamic"),
        ("tool-approval-request", "approvalId toolCallId", ""),
        ("tool-output-available", "toolCallId output", "preliminary"),
        ("tool-output-error", "toolCallId errorText", ""),
        ("tool-output-denied", "toolCallId", ""),
        ("file", "url mediaType", ""),
        ("source-url", "sourceId url", "title"),
        ("source-document", "sourceId mediaType title", "filename"),
        ("data-*", "data", "id transient"),
    )
}

Json = dict[str, Any]


class BadStream(AssertionError):
    """The SDK would not understand it."""


class ReadMessage:
    """A message as a client would have it in the end."""

    def __init__(self, message_id: str, metadata: Json | None) -> None:
        self.id = message_id
        self.role = (metadata or {}).get("role", "assistant")
        self.parts: list[Json] = []
        self.ends: list[str] = []


def read_stream(chunks: Iterable[Json]) -> list[ReadMessage]:
    """The messages, in the order they began."""
    messages: dict[str, ReadMessage] = {}
    here: ReadMessage | None = None
    active: dict[str, Json] = {}
    for chunk in chunks:
        _check_fields(chunk)
        if chunk["type"] == "start":
            _expect(here is None, "a message begins inside of another one")
            message_id = chunk["messageId"]
            fresh = ReadMessage(message_id, chunk.get("messageMetadata"))
            here, active = messages.setdefault(message_id, fresh), {}
        elif here is None:
            raise BadStream(f"{chunk} belongs to no message")
        elif chunk["type"] in ("finish", "abort"):
            here.ends.append(chunk["type"])
            here = None
        else:
            _part(here, active, chunk)
    _expect(here is None, "the last message has no end")
    return list(messages.values())


def _check_fields(chunk: Json) -> None:
    kind = "data-*" if chunk["type"].startswith("data-") else chunk["type"]
    _expect(kind in FIELDS, f"there is no chunk {chunk['type']}")
    required, optional = FIELDS[kind]
    given = chunk.keys() - {"type"}
    _expect(required <= given <= required | optional, f"the fields of {chunk}")


def _part(message: ReadMessage, active: dict[str, Json], chunk: Json) -> None:
    kind, _, step = chunk["type"].partition("-")
    if kind in ("text", "reasoning"):
        _text(message, active, chunk, kind, step)
    elif kind == "tool":
        _tool(message, chunk, step)
    else:
        message.parts.append(chunk)


def _text(message: ReadMessage, active: dict[str, Json], chunk: Json, kind: str, step: str) -> None:
    name = f"{kind} {chunk['id']}"
    if step == "start":
        active[name] = {"type": kind, "text": "", "state": "streaming"}
        message.parts.append(active[name])
        return
    _expect(name in active, f"{chunk} belongs to nothing")
    if step == "delta":
        active[name]["text"] += chunk["delta"]
    else:
        active.pop(name)["state"] = "done"


def _tool(message: ReadMessage, chunk: Json, step: str) -> None:
    call_id = chunk["toolCallId"]
    known = [part for part in message.parts if part.get("toolCallId") == call_id]
    if not known and step in ("input-start", "input-available"):
        known = [{"type": f"tool-{chunk['toolName']}", "toolCallId": call_id}]
        message.parts += known
    _expect(len(known) == 1, f"{chunk} belongs to no call")
    part = known[0]
    match step:
        case "input-start":
            part |= {"state": "input-streaming", "rawInput": ""}
        case "input-delta":
            _expect("rawInput" in part, f"{chunk} comes without a beginning")
            part["rawInput"] += chunk["inputTextDelta"]
        case "input-available":
            part.pop("rawInput", None)
            part |= {"state": "input-available", "input": chunk["input"]}
        case "approval-request":
            part |= {"state": "approval-requested", "approval": chunk["approvalId"]}
        case "output-available":
            part |= {"state": "output-available", "output": chunk["output"]}
        case "output-error":
            part |= {"state": "output-error", "errorText": chunk["errorText"]}
        case _:
            part |= {"state": "output-denied"}


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise BadStream(otherwise)
