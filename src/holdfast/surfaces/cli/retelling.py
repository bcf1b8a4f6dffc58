"""A stream of chunks shown to people: what was said, and a card for every call.

It knows the chunks, as any reader of the stream does, and why calls were refused: chunks have no
room for that.
"""

from collections.abc import Mapping
from types import MappingProxyType

from holdfast.contract.json_value import JsonObject, JsonValue, decode_json
from holdfast.record.stream import AnyChunk, text_of
from holdfast.surfaces.cli.call_states import state_shown
from holdfast.surfaces.cli.layout import on_a_line
from holdfast.surfaces.cli.looks import Card, Look, Status, printable

NO_REFUSALS: Mapping[str, str] = MappingProxyType({})
_WIDTH = 90
_MOST_LINES = 12
_SPEAKERS = {"user": "You", "assistant": "Agent"}
_STATUS: dict[str, Status] = {"output-available": "OK", "output-error": "FAIL"}


class Retelling:
    """Shows chunks as they come; what has no end yet is shown when its message ends."""

    def __init__(self, look: Look, refusals: Mapping[str, str] = NO_REFUSALS) -> None:
        """``refusals``: why a call was refused, by its id."""
        self._look = look
        self._refusals = refusals
        self._texts: dict[str, str] = {}
        self._calls: dict[str, JsonObject] = {}

    def show(self, chunk: AnyChunk) -> None:
        """One more."""
        said: JsonObject = {}
        said.update(_object(decode_json(text_of(chunk))))
        kind = str(said["type"])
        if kind == "start":
            metadata = _object(said.get("messageMetadata"))
            self._look.heading(_SPEAKERS[str(metadata.get("role", "assistant"))])
        elif kind in ("finish", "abort"):
            self._end_of_message(aborted=kind == "abort")
        elif kind.startswith("tool-"):
            self._call(kind.removeprefix("tool-"), said)
        elif kind.startswith(("text-", "reasoning-")):
            self._text(kind, said)
        else:
            self._look.text(printable(f"({text_of(chunk)})"))

    def _text(self, kind: str, said: JsonObject) -> None:
        name, step = kind.split("-")
        key = f"{name} {said['id']}"
        if step == "start":
            self._texts[key] = ""
        elif step == "delta":
            self._texts[key] += str(said["delta"])
        else:
            self._show_text(name, self._texts.pop(key))

    def _show_text(self, name: str, text: str) -> None:
        if text:
            self._look.text(printable(text if name == "text" else f"({text})"))

    def _call(self, step: str, said: JsonObject) -> None:
        call_id = str(said["toolCallId"])
        call = self._calls.setdefault(call_id, {"state": "input-streaming", "sent": ""})
        call["toolName"] = said.get("toolName", call.get("toolName", call_id))
        match step:
            case "input-delta":
                call["sent"] = f"{call['sent']}{said['inputTextDelta']}"
            case "input-available":
                call |= {"state": step, "input": said["input"]}
            case "approval-request":
                call["state"] = "approval-requested"
            case "output-available" | "output-error" | "output-denied":
                why = self._refusals.get(call_id) if step == "output-denied" else None
                told = said if why is None else {**said, "errorText": why}
                self._show_call(self._calls.pop(call_id), step, told)
            case _:
                call["sent"] = ""

    def _show_call(self, call: JsonObject, state: str, said: JsonObject) -> None:
        answer = said.get("output", said.get("errorText"))
        given = call["input"] if "input" in call else call["sent"]
        self._look.card(
            Card(
                title=printable(str(call["toolName"])),
                state=state_shown(state),
                status=_STATUS.get(state, "WARN"),
                sent=_head(given),
                answer=() if answer is None else _head(_result(answer)),
            )
        )

    def _end_of_message(self, *, aborted: bool) -> None:
        for key, text in self._texts.items():
            self._show_text(key.partition(" ")[0], f"{text} …")
        for call in self._calls.values():
            self._show_call(call, str(call["state"]), {})
        self._texts.clear()
        self._calls.clear()
        self._look.text("(broken off)\n" if aborted else "")


def _result(answer: JsonValue) -> JsonValue:
    """Of an envelope that succeeded, what it brought."""
    return answer.get("result") if isinstance(answer, dict) and "result" in answer else answer


def _head(value: JsonValue) -> list[str]:
    """The first lines of a value."""
    text = value if isinstance(value, str) else on_a_line(value, _WIDTH)
    lines = [printable(line) for line in text.splitlines()]
    more = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], f"… {more} more lines"] if more > 1 else lines


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}
