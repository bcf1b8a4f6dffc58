"""The text by which a surface finds an artifact or a chart in an answer.

A short header, a start marker, one line of JSON, what else there is, an end marker: each on lines
of its own. Whoever writes one makes sure that nothing inside looks like a marker.
"""

from collections.abc import Mapping

from holdfast.contract.artifacts import MARKERS, KeptArtifact
from holdfast.contract.json_value import JsonObject, JsonValue, encode_json


def marker_block(header: str, start: str, facts: JsonObject, lines: str | None, end: str) -> str:
    """The whole text."""
    body = [header, start, encode_json(facts).decode()]
    body += [] if lines is None else [lines.removesuffix("\n")]
    return "\n".join([*body, end])


def holds_marker(text: str) -> bool:
    """Whether a surface could take a part of it for a marker."""
    return any(marker in text for marker in MARKERS)


def kept_facts(kept: KeptArtifact, context_id: str, context_type: str) -> dict[str, JsonValue]:
    """What keeping an artifact adds to what is said of it."""
    return {
        "host_path": kept.host_path,
        "context_id": context_id,
        "context_type": context_type,
        "file_size": kept.byte_count,
        "is_directory": kept.is_directory,
    }


def given(facts: Mapping[str, JsonValue | None]) -> JsonObject:
    """Only what there is."""
    return {name: value for name, value in facts.items() if value is not None}
