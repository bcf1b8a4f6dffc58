"""A call of a tool for somebody who watches: what it is in a line, and what came of it in a few.

Text in, text out; where it is shown is not known here.
"""

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.app.changes import change_lines, files_in, unknown
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json
from holdfast.contract.truncate import cut_text
from holdfast.surfaces.cli.amounts import counted, size_shown
from holdfast.surfaces.cli.layout import on_a_line
from holdfast.surfaces.cli.managed_results import is_failed_action, shown_result
from holdfast.surfaces.cli.paint import Tone

_MAIN = (
    *("command", "path", "file_path", "pattern", "query", "url", "question", "description"),
    *("prompt", "name", "symbol"),
)
"""Arguments that tell the most of a call, the most telling first."""
_TITLE = 100
_LINE = 160
_MARKS = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}
_COUNTED = (("matches", "match"), ("entries", "entry"), ("hits", "hit"), ("files", "file"))


class CardLine(NamedTuple):
    """A line of a card."""

    text: str
    tone: Tone = "plain"


class Most(NamedTuple):
    """How much of what a call brought is shown."""

    lines: int = 5
    changes: int = 20
    width: int = _LINE


FEW = Most()
WHOLE = Most(lines=500, changes=500, width=2000)
"""More of it than anybody reads line by line; the journal has the rest."""


class Card(NamedTuple):
    """A call that runs."""

    tool: str
    arguments: JsonObject

    @property
    def title(self) -> str:
        """The tool and its main argument; of work that is handed over, who gets it."""
        name = _main_name(self.arguments)
        told = _plain_arguments(self.arguments) if name is None else str(self.arguments[name])
        if name == "patch":
            told = ", ".join(files_in(told)) or told
        who = self.arguments.get("subagent_type")
        to_whom = f" {who}:" if self.tool == "task" and isinstance(who, str) else ""
        return cut_text(" ".join(f"{self.tool}{to_whom} {told}".split()), _TITLE)

    def untold(self) -> JsonObject:
        """The arguments that the title does not tell, or not as they are."""
        name = _main_name(self.arguments)
        if name is None and self.title == f"{self.tool} {_plain_arguments(self.arguments)}":
            return {key: one for key, one in self.arguments.items() if isinstance(one, list | dict)}
        told: set[str] = {"subagent_type"} if self.tool == "task" else set()
        if name is not None and self.title.endswith(str(self.arguments[name])):
            told.add(name)
        return {key: one for key, one in self.arguments.items() if key not in told}


def card_of(tool: str, arguments: str) -> Card:
    """A call as the model wrote it; what cannot be read is shown as it is."""
    try:
        sent = decode_json(arguments)
    except ValueError:
        sent = None
    return Card(tool, sent if isinstance(sent, dict) else {"": arguments})


def result_lines(
    card: Card,
    envelope: JsonObject,
    took: float | None = None,
    *,
    change_is_known: bool = False,
    most: Most = FEW,
) -> Iterator[CardLine]:
    """What came of it: how it ended and how long it took, then the first of what it brought.

    ``took``: how many seconds it ran at most; None: it did not, as far as is known.
    """
    metadata = _object(envelope.get("metadata"))
    measured = metadata.get("duration_ms")
    if took is not None and isinstance(measured, int):
        took = min(took, measured / 1000)  # either may hold some waiting
    time = "" if took is None else f" in {took:.1f} s"
    if envelope.get("ok") is not True:
        kind, message = envelope.get("kind"), str(envelope.get("message", ""))
        yield CardLine(cut_text(f"{kind}{time}: {' '.join(message.split())}", most.width), "bad")
        return
    result = envelope.get("result")
    ended, tone = how_ended(result)
    yield CardLine(f"{ended}{time}", tone)
    if card.tool != "todo":
        yield from _brought(card, result, most, change_is_known=change_is_known)
    if metadata.get("truncated") is True:
        size = metadata.get("output_bytes")
        whole = f"{size_shown(size)} in all" if isinstance(size, int) else "cut"
        where = metadata.get("output_path")
        kept = f", kept in {where}" if where else ", and not kept as a whole"
        yield CardLine(f"({whole}{kept})", "warn")
    for warning in _list(envelope.get("warnings")):
        yield CardLine(cut_text(f"warning: {warning}", _LINE), "warn")


def argument_lines(arguments: JsonObject) -> Iterator[CardLine]:
    """Arguments, whole: each by its name, a text of several lines below it."""
    for name, value in arguments.items():
        text = value if isinstance(value, str) else on_a_line(value, _LINE)
        lines = text.splitlines() or [""]
        if len(lines) == 1:
            yield CardLine(f"{name}: {lines[0]}")
            continue
        yield CardLine(f"{name}:")
        yield from (CardLine(f"  {line}") for line in lines)


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


def _main_name(arguments: JsonObject) -> str | None:
    """Which argument tells the most; None: none of them is a text."""
    texts = [name for name, value in arguments.items() if isinstance(value, str)]
    return next((name for name in _MAIN if name in texts), texts[0] if texts else None)


def _plain_arguments(arguments: JsonObject) -> str:
    plain: JsonObject = {
        name: value for name, value in arguments.items() if not isinstance(value, list | dict)
    }
    return on_a_line(plain, 10_000) if plain else ""


def how_ended(result: JsonValue) -> tuple[str, Tone]:
    """In a few words, and whether that is good."""
    if is_failed_action(result):
        return "failed", "bad"
    match shown_result(result):
        case {"timed_out": True}:
            return "timed out", "bad"
        case {"exit_code": int(code)}:
            return f"exit code {code}", "good" if code == 0 else "bad"
        case dict() as told:
            for key, what in _COUNTED:
                if isinstance(found := told.get(key), list):
                    return counted(len(found), what, zero="no").replace("matchs", "matches"), "good"
        case _:
            pass
    return "done", "good"


def _brought(
    card: Card, result: JsonValue, most: Most, *, change_is_known: bool
) -> Iterator[CardLine]:
    if changes := change_lines(card.tool, card.arguments, unknown, most.changes):
        if not change_is_known:
            yield from change_tones(changes)
        return
    lines = [line.rstrip() for line in result_text(result).splitlines() if line.strip()]
    yield from (CardLine(cut_text(line, most.width), "dim") for line in lines[: most.lines])
    if len(lines) > most.lines:
        yield CardLine(f"… {counted(len(lines) - most.lines, 'more line')}", "dim")


def result_text(result: JsonValue) -> str:
    """What it brought, as a text of lines."""
    match shown_result(result):
        case str(text):
            return text
        case {"matches": [*matches]}:
            return "\n".join(map(_match, map(_object, matches)))
        case {"entries": [*entries]}:
            return "\n".join(str(_object(one).get("path", one)) for one in entries)
        case {"stdout": str(out), "stderr": str(err)}:
            return f"{out}\n{err}"
        case {"head": str(text)} | {"text": str(text)} | {"output": str(text)}:
            return text
        case None:
            return ""
        case told:
            return on_a_line(told, _LINE)


def _match(one: JsonObject) -> str:
    """A line that was found, or a tool."""
    if "id" in one:
        return f"{one['id']}: {one.get('description', '')}"
    return f"{one.get('path')}:{one.get('line')}: {one.get('text')}"


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
