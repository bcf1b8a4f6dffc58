"""What a person is asked through a client: flat forms, and what comes back from them.

A form shows what is in question as text and takes a choice. Anything that is not quite a yes is a
no. Who waits for an answer is not known here.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.contract.call import Ask
from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.contract.person import Inquiry, PersonQuestion, Replies
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Remember

ONCE = "allow once"
SESSION = "allow for this session"
DENY = "deny"
_DISMISSED = "the question was closed without an answer"
_MOST_SHOWN = 20_000
"""Characters of what a call was given."""
_MOST_OF_A_NAME = 60
_REMEMBERED: dict[str, Remember] = {ONCE: "once", SESSION: "session"}


class Elicited(NamedTuple):
    """What came back from a form."""

    action: str
    content: JsonObject


def elicited(result: JsonValue) -> Elicited | None:
    """Read the result of an elicitation; None: it is none."""
    match result:
        case {"action": "accept" | "decline" | "cancel" as action, **rest}:
            content = rest.get("content")
            return Elicited(action, content if isinstance(content, dict) else {})
        case _:
            return None


def approval_form(ask: Ask) -> JsonObject:
    """Whether a call may run."""
    prepared = ask.prepared
    given = encode_json(prepared.arguments).decode()
    # A tool that names nothing it uses is in question itself, and was named above.
    uses = filter(None, (_line(_use(one.capability, one.target)) for one in ask.uses))
    lines = [
        f"May {prepared.tool.name} run? {_line(ask.reason)}",
        f"It was called with: {_cut(given)}",
        *(f"In question: {one}" for one in uses),
    ]
    choices: list[JsonValue] = [ONCE]
    if "session" in ask.offers:
        choices.append(SESSION)
    return _form(
        "\n".join(map(_printable, lines)),
        {
            "decision": {"type": "string", "title": "Decision", "enum": [*choices, DENY]},
            "note": {
                "type": "string",
                "title": "Note",
                "description": "Of a refusal: what the model is told.",
            },
        },
        ["decision"],
    )


def approval_answer(ask: Ask, said: Elicited, by: str) -> Answer:
    """What they decided."""
    if said.action == "cancel":
        return Answer(allowed=False, by=by, note=_DISMISSED)
    decision, note = said.content.get("decision"), said.content.get("note")
    remember = _REMEMBERED.get(decision) if isinstance(decision, str) else None
    if said.action == "accept" and remember is not None and remember in ask.offers:
        return Answer(allowed=True, by=by, remember=remember)
    told = note.strip() or None if isinstance(note, str) else None
    return Answer(allowed=False, by=by, note=told)


def form_name(inquiry: Inquiry) -> str:
    """What the form of an inquiry is called: after what its first question is about."""
    header = inquiry.questions[0].header or "" if inquiry.questions else ""
    return "_".join(re.findall("[a-z0-9]+", header.lower()))[:_MOST_OF_A_NAME] or "question"


def inquiry_form(inquiry: Inquiry) -> JsonObject:
    """What a tool asks a person."""
    properties: JsonObject = {}
    required: list[JsonValue] = []
    for number, question in enumerate(inquiry.questions, 1):
        properties.update(_fields(number, question))
        if not question.options:
            required.append(f"answer_{number}")
    return _form("\n".join(map(_asked, inquiry.questions)), properties, required)


def inquiry_replies(inquiry: Inquiry, said: Elicited, by: str) -> Replies | None:
    """What they replied; None: they would not answer, or not all of it."""
    if said.action != "accept":
        return None
    answers: list[tuple[str, ...]] = []
    for number, question in enumerate(inquiry.questions, 1):
        chosen = _chosen(said.content.get(f"answer_{number}"))
        words = _chosen(said.content.get(f"words_{number}"))
        given = (words or chosen) if not question.multi_select else (*chosen, *words)
        if len(given) != 1 and not question.multi_select:
            return None
        answers.append(tuple(dict.fromkeys(given)))
    return Replies(answers=tuple(answers), by=by)


def _fields(number: int, question: PersonQuestion) -> JsonObject:
    title = _printable(_line(question.header or f"Question {number}"))
    told = {"title": title, "description": _printable(_line(question.question))}
    labels: list[JsonValue] = [one.label for one in question.options]
    if not labels:
        return {f"answer_{number}": {"type": "string", **told}}
    choice: JsonObject = {"type": "string", "enum": labels}
    if question.multi_select:
        choice = {"type": "array", "items": choice}
    words = {"title": f"{title}: other", "description": "Words of your own instead."}
    return {f"answer_{number}": {**choice, **told}, f"words_{number}": {"type": "string", **words}}


def _asked(question: PersonQuestion) -> str:
    header = "" if question.header is None else f"{_line(question.header)}: "
    lines = [f"{header}{_line(question.question)}"]
    for one in question.options:
        meaning = "" if one.description is None else f" - {_line(one.description)}"
        lines.append(f"  {_line(one.label)}{meaning}")
    return "\n".join(map(_printable, lines))


def _chosen(value: JsonValue) -> tuple[str, ...]:
    values: Sequence[JsonValue] = value if isinstance(value, list) else [value]
    return tuple(one.strip() for one in values if isinstance(one, str) and one.strip())


def _form(message: str, properties: JsonObject, required: list[JsonValue]) -> JsonObject:
    schema: JsonObject = {"type": "object", "properties": properties}
    return {"message": message, "requestedSchema": {**schema, "required": required}}


def _use(capability: str | None, target: str) -> str:
    return target if capability is None else f"{capability} {target}"


def _cut(text: str) -> str:
    left = len(text) - _MOST_SHOWN
    return text if left <= 0 else f"{text[:_MOST_SHOWN]} ... and {left:,} characters more"


def _line(text: str) -> str:
    return " ".join(text.split())


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)
