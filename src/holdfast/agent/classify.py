"""What kind of thing came back: the loop decides its next move from this, not from prose.

An answer is an envelope, or its text as a model is shown it. It does not know which tool gave it.
"""

from typing import Literal, TypeAlias

import msgspec

from holdfast.contract.envelope import Envelope
from holdfast.contract.envelope_text import read_envelope_text
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue

ResultClass = Literal[
    "empty_listing",
    "partial_listing",
    "populated_listing",
    "file_content",
    "not_found",
    "error",
    "other",
]

LISTINGS: frozenset[ResultClass] = frozenset(
    {"empty_listing", "partial_listing", "populated_listing"}
)

Answer: TypeAlias = Envelope | str
"""What came of a call."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer says, as far as a loop cares."""

    result_class: ResultClass
    succeeded: bool = False
    failure_kind: str | None = None
    """Why it failed, where it says so."""
    listed: str | None = None
    """Of a listing: which directory, where it says so."""


def classify(answer: Answer) -> ResultClass:
    """Sort an answer into one of seven classes."""
    return look_at(answer).result_class


def look_at(answer: Answer) -> Seen:
    """Read an answer. Text that is no envelope is neither a success nor a failure."""
    if isinstance(answer, Envelope):
        failure = answer.failure
        return _success(answer.result) if failure is None else _failure(failure.kind.value)
    reading, top = read_envelope_text(answer)
    if reading == "neither":
        return Seen(result_class="other")
    if reading == "success":
        return _success(None if top is None else top.get("result"))
    return _failure(None if top is None else top.get("kind"))


def _failure(kind: JsonValue) -> Seen:
    missing = kind == FailureKind.NOT_FOUND.value
    return Seen(
        result_class="not_found" if missing else "error",
        failure_kind=kind if isinstance(kind, str) else None,
    )


def _success(result: JsonValue) -> Seen:
    if not isinstance(result, dict):
        return Seen(result_class="other", succeeded=True)
    if result.get("kind") == "listing":
        path = result.get("path")
        listed = path if isinstance(path, str) else None
        return Seen(result_class=_listing(result), succeeded=True, listed=listed)
    is_file = result.get("kind") == "file"
    return Seen(result_class="file_content" if is_file else "other", succeeded=True)


def _listing(result: JsonObject) -> ResultClass:
    if entries_in(result) == 0:
        return "empty_listing"
    return "partial_listing" if result.get("truncated") is True else "populated_listing"


def entries_in(listing: JsonObject) -> JsonValue:
    """How many entries a listing has, as it says itself, or as it shows."""
    entries = listing.get("entries")
    return listing.get("entry_count", len(entries) if isinstance(entries, list) else 0)
