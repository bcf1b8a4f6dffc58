"""What somebody said or a tool told, as an attribute may hold it: bounded, and secrets are out of
events already."""

from collections.abc import Iterator
from typing import cast

import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue

LONGEST = 4096
"""Characters of one text; a collector drops what is much larger."""
LONGEST_NAME = 200
MOST_CALLS = 32
_CUT = "…"


def bounded(text: str, most: int = LONGEST) -> str:
    """The text, or its beginning with a sign that there is more; valid as UTF-8."""
    whole = text if len(text) <= most else text[: most - 1] + _CUT
    return whole.encode("utf-8", "replace").decode()


def said_by_model(reply: JsonValue) -> str | None:
    """A reply as the conventions write messages; None: it says nothing."""
    told = cast("JsonObject", reply) if isinstance(reply, dict) else {}
    parts = list(_parts(told))
    if not parts:
        return None
    return _message(parts, str(told.get("finish", "stop")))


def said_by_agent(message: str) -> str:
    """An agent's last words, in the same form."""
    return _message([_text(message)], "stop")


def _parts(reply: JsonObject) -> Iterator[JsonObject]:
    text, calls = reply.get("text"), reply.get("calls")
    if isinstance(text, str) and text:
        yield _text(text)
    for call in calls[:MOST_CALLS] if isinstance(calls, list) else []:
        if isinstance(call, dict):
            yield {
                "type": "tool_call",
                "id": bounded(str(call.get("model_call_id", "")), LONGEST_NAME),
                "name": bounded(str(call.get("name", "")), LONGEST_NAME),
                "arguments": bounded(str(call.get("arguments", ""))),
            }


def _text(text: str) -> JsonObject:
    return {"type": "text", "content": bounded(text)}


def _message(parts: list[JsonObject], finish: str) -> str:
    message = {"role": "assistant", "parts": parts, "finish_reason": finish}
    return msgspec.json.encode([message]).decode()
