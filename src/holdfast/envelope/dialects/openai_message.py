"""The tool message of an OpenAI-style chat: the ok dialect as content, under the call's id."""

import msgspec

from holdfast.contract.builders import failure_of
from holdfast.contract.envelope import Envelope, envelope_of
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject
from holdfast.envelope.detect import failure_message, is_error
from holdfast.envelope.dialects import ok


def render(envelope: Envelope, *, tool_call_id: str) -> JsonObject:
    """Write the message that answers the model's own call id."""
    return {"role": "tool", "tool_call_id": tool_call_id, "content": ok.render(envelope)}


def parse(message: JsonObject) -> Envelope:
    """Read a tool message; content that is no envelope counts as text."""
    content = message.get("content")
    text = content if isinstance(content, str) else ""
    call_id = message.get("tool_call_id")
    return msgspec.structs.replace(
        _read(text), call_id=call_id if isinstance(call_id, str) else None
    )


def _read(text: str) -> Envelope:
    try:
        return ok.parse(text)
    except ok.NotAnEnvelope:
        if is_error(text):
            return Envelope(failure=failure_of(FailureKind.EXECUTION_ERROR, failure_message(text)))
        return envelope_of({"text": text})
