"""A call of a tool for somebody who watches: what it is in a line, and what came of it in a few.

Text in, text out; where it is shown is not known here.
"""

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.contract.json_value import JsonObject, JsonValue, decode_json
from holdfast.contract.truncate import cut_text
from holdfast.surfaces.cli.amounts import counted, size_shown
from holdfast.surfaces.cli.changes import change_lines, unknown
from holdfast.surfaces.cli.layout import on_a_line
from holdfast.surfaces.cli.paint import Tone

_MAIN = (
    *("command", "path", "file_path", "pattern", "query", "url", "question", "description"),
    *("prompt", "name", "symbol"),
)
"""Arguments that tell the most of a call, the most telling first."""
_TITLE = 100
_LINE = 160
_FEW = 5
_CHANGES = 20
_MARKS = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}
_COUNTED = (("matches", "match"), ("entries", "entry"), ("hits", "hit"), ("files", "file"))


class CardLine(NamedTuple):
    """A line of a card."""

    text: str
    tone: Tone = "plain"


class Card(NamedTuple):
    """A call that runs."""

    tool: str
    arguments: JsonObject

    @property
    def title(self) -> str:
        """The tool and its main argument."""
        told = _main(self.arguments)
        return cut_text(" ".join(f"{self.tool} {told}".split()), _TITLE)


def card_of(tool: str, arguments: str) -> Card:
    """A call as the model wrote it; what cannot be read is shown as it is."""
    try:
        sent = decode_json(arguments)
    except ValueError:
        sent = None
    return Card(tool, sent if isinstance(sent, dict) else {"": arguments})


def result_lines(card: Card, envelope: JsonObject) -> Iterator[CardLine]:
    """What came of it: how it ended and how long it took, then the first of what it brought."""
    metadata = _object(envelope.get("metadata"))
    took = metadata.get("duration_ms")
    seconds = f" in {took / 1000:.1f} s" if isinstance(took, int) else ""
    if envelope.get("ok") is not True:
        kind, message = envelope.get("kind"), str(envelope.get("message", ""))
        yield CardLine(cut_text(f"{kind}{seconds}: {' '.join(message.split())}", _LINE), "bad")
        return
    result = envelope.get("result")
    ended, tone = _ended(result)
    yield CardLine(f"{ended}{seconds}", tone)
    if card.tool != "todo":
        yield from _brought(card, result)
    if metadata.get("truncated") is True:
        size = metadata.get("output_bytes")
        whole = f"{size_shown(size)} in all" if isinstance(size, int) else "cut"
        where = metadata.get("output_path")
        kept = f", kept in {where}" if where else ", and not kept as a whole"
        yield CardLine(f"({whole}{kept})", "warn")
    for warning in _list(envelope.get("warnings")):
        yield CardLine(cut_text(f"warning: {warning}", _LINE), "warn")


def todo_lines(todos: JsonValue) -> Iterator[CardLine]:
    """The list of what is to be done."""
    for one in map(_object, _list(todos)):
        status = str(one.get("status"))
        tone: Tone = "dim" if status == "completed" else "plain"
        mark = _MARKS.get(status, "[ ]")
        yield CardLine(cut_text(f"{mark} {one.get('content', '')}", _LINE), tone)


def change_tones(lines: list[str]) -> Iterator[CardLine]:
    """Lines with + and -, in their colours."""
    tones: dict[str, Tone] = {"+": "good", "-": "bad"}
    return (CardLine(line, tones.get(line[:1], "dim")) for line in lines)


def _main(arguments: JsonObject) -> str:
    texts = {name: value for name, value in arguments.items() if isinstance(value, str)}
    for name in _MAIN:
        if name in texts:
            return texts[name]
    if texts:
        return next(iter(texts.values()))
    plain: JsonObject = {
        name: value for name, value in arguments.items() if not isinstance(value, list | dict)
    }
    return on_a_line(plain, 10_000) if plain else ""


def _ended(result: JsonValue) -> tuple[str, Tone]:
    match result:
        case {"timed_out": True}:
            return "timed out", "bad"
        case {"exit_code": int(code)}:
            return f"exit code {code}", "good" if code == 0 else "bad"
        case dict():
            for key, what in _COUNTED:
                if isinstance(found := result.get(key), list):
                    return counted(len(found), what, zero="no").replace("matchs", "matches"), "good"
        case _:
            pass
    return "done", "good"


def _brought(card: Card, result: JsonValue) -> Iterator[CardLine]:
    if changes := change_lines(card.tool, card.arguments, unknown, _CHANGES):
        yield from change_tones(changes)
        return
    lines = [line.rstrip() for line in _text(result).splitlines() if line.strip()]
    yield from (CardLine(cut_text(line, _LINE), "dim") for line in lines[:_FEW])
    if len(lines) > _FEW:
        yield CardLine(f"… {counted(len(lines) - _FEW, 'more line')}", "dim")


def _text(result: JsonValue) -> str:
    match result:
        case str():
            return result
        case {"matches": [*matches]}:
            found = map(_object, matches)
            return "\n".join(
                f"{one.get('path')}:{one.get('line')}: {one.get('text')}" for one in found
            )
        case {"entries": [*entries]}:
            return "\n".join(str(_object(one).get("path", one)) for one in entries)
        case {"stdout": str(out), "stderr": str(err)}:
            return f"{out}\n{err}"
        case {"head": str(text)} | {"text": str(text)} | {"output": str(text)}:
            return text
        case None:
            return ""
        case _:
            return on_a_line(result, _LINE)


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
