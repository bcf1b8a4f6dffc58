"""A session as text for others: its events on the wire, its conversation, where it stands.

One JSON object a line. Where the lines go is not known here; `importing` reads them back.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from holdfast.contract.archive import Message
from holdfast.contract.events import Event
from holdfast.contract.journal import Session
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.session_state import ConfirmationRequest, CustomRequest
from holdfast.record.codec import moment_of
from holdfast.record.wakes import Wake

FORM_VERSION = 1
"""Grows when a reader of before would misread what is written."""
HEAD_TYPE = "holdfast.session"
WAKE_TYPE = "wake.run"
CHAT_TYPES = ("session", "message", "part")

_encode = msgspec.json.Encoder().encode


def event_line(event: Event) -> bytes:
    """An event as everybody reads it, without the line feed."""
    return _line({**_told_of_all(event), **event.payload.fields()})


def head_line(session: Session) -> bytes:
    """What stands before the events: whose they are."""
    return _line({"type": HEAD_TYPE, "data": session_document(session)})


def session_document(session: Session) -> JsonObject:
    """Where a session stands, in the words of its stored state."""
    state = session.state
    usage: dict[str, JsonValue] = {**state.usage, "turns": state.turns}
    return {
        "version": FORM_VERSION,
        "id": session.id,
        "agent_id": state.agent_id,
        "environment_id": state.environment_id,
        "profile": state.profile,
        "workspace": state.workspace,
        "parent_id": state.parent_id,
        "title": state.title,
        "status": state.status,
        "stop_reason": state.stop_reason,
        "created_at": moment_text(session.created_at),
        "updated_at": moment_text(session.updated_at),
        "events": session.sequence,
        "usage": usage,
        "resources": state.metadata.get("resources", []),
        "pending_tool_confirmation_request": _request(state.confirmation),
        "pending_custom_tool_request": _request(state.custom),
        "metadata": state.metadata,
    }


def chat_head_line(session: Session) -> bytes:
    """What stands before the messages of a conversation."""
    return _line({"type": "session", "data": session_document(session)})


def message_lines(session_id: str, message: Message) -> Iterator[bytes]:
    """A message, then its parts."""
    times = _times(message.created_at, message.updated_at)
    told = {"id": message.id, "session_id": session_id, "index": message.number}
    yield _line({"type": "message", "data": {**told, "role": message.role, **times}})
    for part in message.parts:
        data: dict[str, object] = {
            "id": part.id,
            "message_id": message.id,
            "session_id": session_id,
            "index": part.number,
            "type": part.type,
            "tool_call_id": part.tool_call_id,
            "tool_state": part.tool_state,
            **_times(part.created_at, part.updated_at),
            "data": msgspec.Raw(part.text.encode()),
        }
        yield _line({"type": "part", "data": data})


def wake_line(session_id: str, wake: Wake) -> bytes:
    """A wake that was run, as its events tell it."""
    told = msgspec.structs.asdict(wake)
    ended = None if wake.completed_at is None else moment_text(wake.completed_at)
    times = {"started_at": moment_text(wake.started_at), "completed_at": ended}
    updated = {"updated_at": moment_text(wake.updated_at)}
    return _line(
        {"type": WAKE_TYPE, "data": {**told, "session_id": session_id, **times, **updated}}
    )


def moment_text(moment: datetime) -> str:
    """ISO 8601 in UTC, always with microseconds."""
    told = moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
    return f"{told}Z"


def _told_of_all(event: Event) -> dict[str, Any]:
    """What every event has, whatever its kind."""
    processed = event.processed_at
    return {
        "id": event.id,
        "type": event.type,
        "created_at": moment_text(event.at),
        "processed_at": None if processed is None else moment_text(processed),
        **({} if event.wake_id is None else {"wake_id": event.wake_id}),
        "sequence": event.sequence,
        "version": event.payload.VERSION,
    }


def _request(pending: ConfirmationRequest | CustomRequest | None) -> JsonValue:
    if pending is None:
        return None
    told: JsonObject = msgspec.structs.asdict(pending)
    return {**told, "requested_at": moment_text(moment_of(pending.requested_at))}


def _times(created: datetime, updated: datetime) -> dict[str, str]:
    return {"created_at": moment_text(created), "updated_at": moment_text(updated)}


def _line(value: dict[str, object] | dict[str, Any]) -> bytes:
    # An envelope is kept as it was given: JSON with line feeds between its values is possible.
    return _encode(value).replace(b"\n", b" ")
