"""Success or failure, told from text alone. Only the top level decides.

For envelope text; never for a flow session's tool_result text, where ``{"ok": false}`` is data.
"""

from holdfast.contract.envelope_text import read_envelope_text
from holdfast.contract.json_value import JsonValue


def is_error(text: str) -> bool:
    """Whether the text is a failure envelope, or one of the legacy forms of one."""
    return read_envelope_text(text).reading == "failure"


def is_success(text: str) -> bool:
    """Whether the text is a success envelope."""
    return read_envelope_text(text).reading == "success"


def success_payload(text: str) -> JsonValue:
    """The result of a readable success, None otherwise."""
    reading, top = read_envelope_text(text)
    return top.get("result") if reading == "success" and top is not None else None


def failure_message(text: str) -> str:
    """The message of a failure; anything else comes back as it was given."""
    reading, top = read_envelope_text(text)
    if reading == "failure" and top is not None:
        for key in ("message", "reason"):
            found = top.get(key)
            if isinstance(found, str):
                return found
    return text


def failure_kind(text: str) -> str | None:
    """The kind a failure names, whether or not it is one of ours."""
    reading, top = read_envelope_text(text)
    kind = top.get("kind") if reading == "failure" and top is not None else None
    return kind if isinstance(kind, str) else None
