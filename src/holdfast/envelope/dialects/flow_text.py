"""The text of a flow session's tool_result: one function, by the type of the value.

The limits and markers are the published ones and exact. ``{"ok": false}`` here is data.
"""

import json
import math
from typing import cast

from holdfast.contract.backend import (
    CodeResult,
    CommandResult,
    FileContent,
    FileEntries,
    FileWriteResult,
    ToolExecutionFailure,
    ToolResult,
    text_in,
)
from holdfast.contract.builders import failure_of
from holdfast.contract.envelope import Envelope, envelope_of
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json, dumped, plain, text_of

PLAIN_CHARACTERS = 48_000
FILE_CHARACTERS = 12_000
MAX_ENTRIES = 500
MARKER = "...(truncated)"


def serialize(value: object) -> str:
    """A tool's return value as the text of its tool_result chunk."""
    if isinstance(value, bool):
        return json.dumps({"ok": value})
    if isinstance(value, ToolResult):
        return json.dumps(plain(_typed(value)))
    return cut(_plain(dumped(value)), PLAIN_CHARACTERS)


def is_cut(value: object, text: str) -> bool:
    """Whether the text that `serialize` made of a value leaves something of it out."""
    match value:
        case CommandResult():
            return _exceeds(PLAIN_CHARACTERS, value.stdout, value.stderr)
        case CodeResult():
            return _exceeds(PLAIN_CHARACTERS, value.stdout, value.stderr)
        case FileContent():
            return _exceeds(FILE_CHARACTERS, value.data)
        case FileEntries():
            return len(value.entries) > MAX_ENTRIES
        case _:
            return not isinstance(value, ToolResult) and len(text) > PLAIN_CHARACTERS


def _exceeds(limit: int, *contents: bytes | str) -> bool:
    return any(len(text_in(content)) > limit for content in contents)


def cut(text: str, limit: int) -> str:
    """Cut a text and mark it."""
    return text if len(text) <= limit else text[:limit] + MARKER


def _plain(value: object) -> str:
    try:
        text = json.dumps(_finite(value), ensure_ascii=False, default=text_of)
    except Exception:  # noqa: BLE001 - a foreign object may raise anything at all while it is read
        text = json.dumps({"repr": _repr(value), "type": type(value).__name__}, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()


def _repr(value: object) -> str:
    try:
        return repr(value)
    except Exception as problem:  # noqa: BLE001 - a foreign __repr__ may raise anything at all
        return f"<{type(value).__name__}: repr() raised {type(problem).__name__}>"


def _finite(value: object) -> object:
    """NaN and infinity become null; everything else stays for the encoder."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        entries = cast("dict[object, object]", value)
        return {key: _finite(item) for key, item in entries.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in cast("list[object]", value)]
    return value


def _typed(value: ToolResult) -> JsonObject:
    match value:
        case ToolExecutionFailure():
            return failure_body(value.kind, value.message, value.detail)
        case CommandResult():
            return {
                "exit_code": value.exit_code,
                "stdout": cut(text_in(value.stdout), PLAIN_CHARACTERS),
                "stderr": cut(text_in(value.stderr), PLAIN_CHARACTERS),
                "elapsed_ms": value.elapsed_ms,
            }
        case FileContent():
            return {"data": cut(text_in(value.data), FILE_CHARACTERS)}
        case FileEntries():
            return _entries(value)
        case FileWriteResult():
            return {"bytes_written": value.bytes_written}
        case CodeResult():
            return {
                "text": value.text,
                "stdout": cut(value.stdout, PLAIN_CHARACTERS),
                "stderr": cut(value.stderr, PLAIN_CHARACTERS),
                "error": value.error,
            }
        case _:
            return {"type": type(value).__name__, "note": "unserialised result"}


def _entries(value: FileEntries) -> JsonObject:
    shown: list[JsonValue] = [
        {"name": entry.name, "path": entry.path, "is_dir": entry.is_dir}
        for entry in value.entries[:MAX_ENTRIES]
    ]
    body: JsonObject = {"entries": shown}
    if len(value.entries) > MAX_ENTRIES:
        body["total"] = len(value.entries)
    return body


def failure_body(kind: str, message: str, detail: str | None = None) -> JsonObject:
    """A failure as the flow loop writes it."""
    body: JsonObject = {"ok": False, "error_kind": kind, "message": message}
    if detail:
        body["detail"] = detail
    return body


def render(envelope: Envelope) -> str:
    """Write an envelope where only the envelope is at hand."""
    failure = envelope.failure
    if failure is None:
        return serialize(envelope.result)
    own = failure.extras.get("error_kind")
    detail = failure.extras.get("detail")
    return json.dumps(
        failure_body(
            own if isinstance(own, str) else failure.kind.value,
            failure.message,
            detail if isinstance(detail, str) else None,
        )
    )


def parse(text: str) -> Envelope:
    """Read a tool_result text back."""
    try:
        value = decode_json(text)
    except (ValueError, RecursionError):
        return envelope_of({"text": text})
    if isinstance(value, dict) and value.get("ok") is False and "error_kind" in value:
        kind, message = value["error_kind"], value.get("message")
        extras = {key: value[key] for key in ("error_kind", "detail") if key in value}
        return Envelope(
            failure=failure_of(
                kind if isinstance(kind, str) and kind in _KINDS else FailureKind.EXECUTION_ERROR,
                message if isinstance(message, str) else text,
                extras=extras,
            )
        )
    if isinstance(value, dict) and value.keys() == {"ok"} and isinstance(value["ok"], bool):
        return envelope_of(value["ok"])
    return envelope_of(value)


_KINDS = frozenset(kind.value for kind in FailureKind)
