"""What came of a call, for an editor: its raw answer, and what of it a person reads.

The answer is the envelope in the form that models are told. Who shows it is not known here.
"""

from typing import NamedTuple

from acp.schema import ContentToolCallContent, ToolCallStatus

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.truncate import cut_text
from holdfast.surfaces.acp.texts import MOST_CHARACTERS, content, fenced

_QUIET = frozenset({"todo", "write", "edit", "apply_patch"})
"""Tools of which something better tells what they did."""


class Settled(NamedTuple):
    """The end of a call."""

    status: ToolCallStatus
    raw_output: JsonValue
    content: list[ContentToolCallContent]


def settled(tool: str, envelope: JsonObject) -> Settled:
    """Read an envelope."""
    metadata = _object(envelope.get("metadata"))
    if envelope.get("ok") is not True:
        raw: JsonObject = {
            key: one for key, one in envelope.items() if key not in ("ok", "metadata")
        }
        said = f"{envelope.get('kind')}: {envelope.get('message', '')}"
        return Settled("failed", raw, [content(cut_text(said, MOST_CHARACTERS))])
    result = envelope.get("result")
    told = [] if tool in _QUIET else _told(result)
    told += [content(f"warning: {one}") for one in _list(envelope.get("warnings"))]
    if metadata.get("truncated") is True and (path := metadata.get("output_path")):
        told.append(content(f"(The whole output is kept in {path}.)"))
    return Settled("completed", result, told)


def _told(result: JsonValue) -> list[ContentToolCallContent]:
    match result:
        case {"stdout": str(out), "stderr": str(err)}:
            return _printed(f"{out}\n{err}".strip("\n"), _exit(_object(result)))
        case {"head": str(text)}:
            return _printed(text, _exit(_object(result)))
        case {"matches": [*matches]}:
            return _printed("\n".join(map(_match, map(_object, matches))))
        case {"entries": [*entries]}:
            return _printed("\n".join(str(_object(one).get("path", one)) for one in entries))
        case {"text": str(text), **rest} if not rest:  # a tool that answers in words
            return [content(cut_text(text, MOST_CHARACTERS))] if text else []
        case {"text": str(text)} | {"output": str(text)}:
            return _printed(text)
        case _:
            return []


def _printed(text: str, end: str | None = None) -> list[ContentToolCallContent]:
    shown = [content(fenced(text))] if text.strip() else []
    return shown if end is None else [*shown, content(end)]


def _exit(result: JsonObject) -> str | None:
    """How a command ended, where that was not well."""
    if result.get("timed_out") is True:
        return "timed out"
    code = result.get("exit_code")
    return f"exit code {code}" if isinstance(code, int) and code != 0 else None


def _match(one: JsonObject) -> str:
    """A line that was found, or a tool."""
    if "id" in one:
        return f"{one['id']}: {one.get('description', '')}"
    return f"{one.get('path')}:{one.get('line')}: {one.get('text')}"


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
