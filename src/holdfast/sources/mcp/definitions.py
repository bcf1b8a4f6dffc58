"""A tool as its server defines it: what is hashed, compared and shown to a person.

Values and text. A definition is foreign text: in a comparison everything outside of plain ASCII is
written as an escape, so that nothing in it can hide.
"""

import difflib
import hashlib
import json

import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue, encode_json, plain
from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.truncate import cut_text

SHOWN_CHARACTERS = 200
"""How much of a description a model is offered."""

_UNSEEN = late_pattern(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U000e0000-\U000e0fff]"
)
"""What people do not see and models read all the same."""
_PROSE = ("description", "title")


class Definition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What a server says of one tool, whole."""

    name: str
    title: str | None = None
    description: str | None = None
    input_schema: JsonObject = {}
    output_schema: JsonObject | None = None
    annotations: JsonObject | None = None


def definition_in(wire: JsonObject) -> Definition:
    """Read an entry of a list of tools; what a definition has no place for is left out."""
    return msgspec.convert(
        {key: plain(wire[key]) for key in Definition.__struct_encode_fields__ if key in wire},
        Definition,
    )


def digest(definition: Definition) -> str:
    """Stands for exactly this definition."""
    return hashlib.sha256(encode_json(definition)).hexdigest()


def offered(description: str | None) -> str | None:
    """What a model is told: without characters that nobody sees, and cut."""
    if description is None:
        return None
    text = _UNSEEN.sub(" ", description)
    return cut_text(text, SHOWN_CHARACTERS)


def offered_schema(schema: JsonObject) -> JsonObject:
    """A schema whose words for models hold no characters that nobody sees."""
    return {
        key: _UNSEEN.sub(" ", value)
        if key in _PROSE and isinstance(value, str)
        else _offered_value(value)
        for key, value in schema.items()
    }


def _offered_value(value: JsonValue) -> JsonValue:
    match value:
        case dict():
            return offered_schema(value)
        case list():
            return [_offered_value(one) for one in value]
        case _:
            return value


def hides_words(schema: JsonValue) -> bool:
    """Whether names or values in a schema hold what nobody sees. Words for models are cleaned."""
    waiting: list[JsonValue] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str) and _UNSEEN.search(node):
            return True
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            if any(map(_UNSEEN.search, node)):
                return True
            waiting.extend(
                value
                for key, value in node.items()
                if not (key in _PROSE and isinstance(value, str))
            )
    return False


def changed_fields(old: Definition, new: Definition) -> list[str]:
    """Which parts of a definition are others."""
    before, after = _fields(old), _fields(new)
    names = Definition.__struct_encode_fields__
    # Compared as they are written: to Python, 1 and true are equal.
    return [n for n in names if encode_json(before.get(n)) != encode_json(after.get(n))]


def difference(old: object, new: object, label: str) -> str:
    """Two values as a unified diff of their sorted, indented JSON."""
    lines = difflib.unified_diff(
        readable(old).splitlines(),
        readable(new).splitlines(),
        f"{_one_line(label)} (pinned)",
        f"{_one_line(label)} (now)",
        lineterm="",
    )
    return "\n".join(lines)


def readable(value: object) -> str:
    """JSON that a person can read line by line."""
    return json.dumps(plain(value), indent=2, sort_keys=True, ensure_ascii=True)


def _fields(definition: Definition) -> dict[str, JsonValue]:
    found = plain(definition)
    return found if isinstance(found, dict) else {}


def _one_line(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode().replace("\n", "\\n")
