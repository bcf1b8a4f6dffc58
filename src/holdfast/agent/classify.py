"""What kind of thing came back: the loop decides its next move from this, not from prose."""

from typing import Literal

from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject

ResultClass = Literal[
    "empty_listing",
    "partial_listing",
    "populated_listing",
    "file_content",
    "not_found",
    "error",
    "other",
]


def classify(envelope: Envelope) -> ResultClass:
    """Sort an answer into one of seven classes."""
    if envelope.failure is not None:
        return "not_found" if envelope.failure.kind is FailureKind.NOT_FOUND else "error"
    result = envelope.result
    if not isinstance(result, dict):
        return "other"
    if result.get("kind") == "listing":
        return _listing(result)
    return "file_content" if result.get("kind") == "file" else "other"


def _listing(result: JsonObject) -> ResultClass:
    entries = result.get("entries")
    count = result.get("entry_count", len(entries) if isinstance(entries, list) else 0)
    if count == 0:
        return "empty_listing"
    return "partial_listing" if result.get("truncated") is True else "populated_listing"
