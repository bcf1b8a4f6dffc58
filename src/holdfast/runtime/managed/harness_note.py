"""A line of the harness to its model: what it noticed, and the call that leads on."""

from collections.abc import Mapping
from typing import Literal

from holdfast.contract.json_value import JsonValue, encode_json
from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.steps import Step

_PLAIN = late_pattern(r"[A-Za-z0-9_./:@+-]+")

NoteKind = Literal[
    "outcome-repair",
    "promotion-gate",
    "outcome-trend",
    "setup-drift",
    "shell-busy",
    "read-first",
    "skill-candidate",
    "session-candidate",
    "retrieval-plan",
    "retrieval-candidate",
    "context-pressure",
]


def harness_note(kind: NoteKind, facts: Mapping[str, JsonValue], step: Step) -> str:
    """``[kind] key=value ... next_tool=... next_args=... next_why=...``, in one line.

    A text with blanks in it, and whatever is no text, stands there as JSON.
    """
    said = {**facts, "next_tool": step.tool, "next_args": step.args, "next_why": step.rationale}
    return " ".join((f"[{kind}]", *(f"{key}={_value(value)}" for key, value in said.items())))


def _value(value: JsonValue) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    return "".join(map(_shown, encode_json(value).decode()))


def _shown(character: str) -> str:
    """As JSON writes it; what is not shown, by its number."""
    if character.isprintable():
        return character
    units = memoryview(character.encode("utf-16-be"))
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
