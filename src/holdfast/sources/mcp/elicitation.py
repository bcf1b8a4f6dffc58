"""What a server asks a person during a call: a form as questions, and their answers as its content.

Values alone: who is asked is not known here. What a server says is foreign text; every question
names the server, and an address is shown and never opened.
"""

import re
from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.person import Choice, PersonQuestion

MOST_FIELDS = 20
MOST_CHOICES = 100
LONGEST_CHOICE = 200
LEAVE_OUT = "(leave it out)"
YES, NO = "Yes", "No"
_LONGEST = 2000
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\U000e0000-\U000e007f]"
)
_INTEGER = re.compile(r"[+-]?\d{1,300}")

Kind = Literal["text", "number", "integer", "yes_no", "one_of", "some_of"]


class UnknownForm(ValueError):
    """The form asks for something that no question can stand for."""


class Unfit(ValueError):
    """An answer does not fit its field; the message is for the person."""


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a form."""

    name: str
    kind: Kind
    required: bool
    question: PersonQuestion
    values: tuple[tuple[str, str], ...] = ()
    """What is chosen from: a label and what it stands for."""
    schema: JsonObject


def form_fields(server: str, message: str, schema: JsonValue) -> tuple[Field, ...]:
    """A form's fields; UnknownForm."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict):
        raise UnknownForm("the form has no fields")
    if len(properties) > MOST_FIELDS:
        raise UnknownForm(f"the form has more than {MOST_FIELDS} fields")
    required = schema.get("required")
    needed = {str(name) for name in required} if isinstance(required, list) else set[str]()
    asked = _asked(server, message)
    return tuple(
        _field(name, one, asked, required=name in needed) for name, one in properties.items()
    )


def consent(server: str, message: str) -> PersonQuestion:
    """A form without fields: whether to go on."""
    return PersonQuestion(_asked(server, message), None, (Choice(YES), Choice(NO)))


def address_question(server: str, message: str, url: str) -> PersonQuestion | None:
    """An address somebody is to open; None: it is none that a person should be shown."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host or not url.isprintable():
        return None
    text = (
        f"{_asked(server, message)}\n\nIt asks you to open this address yourself (host: {host}):"
        f"\n{url[:_LONGEST]}\nNothing here opens it. Go on?"
    )
    return PersonQuestion(text, None, (Choice(YES), Choice(NO)))


def agreed(answers: Sequence[Sequence[str]]) -> bool:
    """Whether the answer to `consent` or to `address_question` is yes."""
    return bool(answers) and [one.strip().casefold() for one in answers[0]] == [YES.casefold()]


def content_of(fields: Sequence[Field], answers: Sequence[Sequence[str]]) -> JsonObject:
    """What the form is answered with; Unfit names the field."""
    content: JsonObject = {}
    for field, given in zip(fields, answers, strict=True):
        if not given or tuple(given) == (LEAVE_OUT,):
            if field.required:
                raise Unfit(f"{field.name} has to be answered")
            continue
        content[field.name] = _value(field, given)
    return content


def _asked(server: str, message: str) -> str:
    return f"The MCP server {server} asks: {_clean(message)[:_LONGEST]}"


def _clean(text: str) -> str:
    return _CONTROL.sub(" ", text)


def _field(name: str, given: JsonValue, asked: str, *, required: bool) -> Field:
    if not isinstance(given, dict):
        raise UnknownForm(f"the field {name!r} is not described")
    kind = _kind(name, given)
    values = _values(given) if kind in ("one_of", "some_of") else ()
    if len(name) > LONGEST_CHOICE:
        raise UnknownForm("the name of a field is longer than anybody reads")
    title = given.get("title")
    called = _clean(title)[:LONGEST_CHOICE] if isinstance(title, str) and title else name
    text = f"{asked}\n{called}"
    about = given.get("description")
    if isinstance(about, str) and about:
        text += f": {_clean(about)[:_LONGEST]}"
    usual = _usual(given.get("default"))
    labels = [Choice(label) for label, _ in values]
    if 0 < len(usual) <= LONGEST_CHOICE and kind in ("text", "number", "integer"):
        labels.append(Choice(usual))
    if kind == "yes_no":
        labels = [Choice(YES), Choice(NO)]
    if not required and kind != "some_of":
        labels.append(Choice(LEAVE_OUT))
    if usual:
        text += f" (usually {usual[:100]})"
    question = PersonQuestion(text, called[:40], tuple(labels), kind == "some_of")
    return Field(
        name=name, kind=kind, required=required, question=question, values=values, schema=given
    )


def _usual(default: JsonValue) -> str:
    """What is answered where nothing speaks against it, as a person would write it."""
    if isinstance(default, bool):
        return YES if default else NO
    if isinstance(default, list):
        return ", ".join(_usual(one) for one in default)
    return "" if default is None else _clean(str(default)).strip()


def _kind(name: str, given: JsonObject) -> Kind:
    match given.get("type"):
        case "string":
            return "one_of" if "enum" in given or "oneOf" in given else "text"
        case "number":
            return "number"
        case "integer":
            return "integer"
        case "boolean":
            return "yes_no"
        case "array":
            return "some_of"
        case other:
            raise UnknownForm(f"the field {name!r} is of the type {other!r}")


def _values(given: JsonObject) -> tuple[tuple[str, str], ...]:
    items = given.get("items")
    source = items if isinstance(items, dict) else given
    titled = source.get("oneOf") or source.get("anyOf")
    found: list[tuple[str, str]] = []
    if isinstance(titled, list):
        found += [
            (_label(one.get("title"), value), value)
            for one in titled
            if isinstance(one, dict) and isinstance(value := one.get("const"), str)
        ]
    else:
        values, names = source.get("enum"), source.get("enumNames")
        labels = names if isinstance(names, list) else []
        for at, value in enumerate(values if isinstance(values, list) else []):
            label = labels[at] if at < len(labels) else None
            found.append((_label(label, str(value)), str(value)))
    if not found:
        raise UnknownForm("a field offers nothing to choose from")
    labels = {label for label, _ in found}
    if len(found) > MOST_CHOICES or max(map(len, labels)) > LONGEST_CHOICE:
        raise UnknownForm("a field offers more to choose from than anybody reads")
    if len(labels) < len(found):
        raise UnknownForm("two choices of a field look the same")
    return tuple(found)


def _label(title: JsonValue, value: str) -> str:
    shown = _clean(title) if isinstance(title, str) and title.strip() else _clean(value)
    return shown.strip() or "(empty)"


def _value(field: Field, given: Sequence[str]) -> JsonValue:
    if field.kind == "some_of":
        return _chosen_many(field, given)
    answer = given[0]
    match field.kind:
        case "one_of":
            return _chosen(field, answer)
        case "yes_no":
            return _truth(field, answer)
        case "number" | "integer":
            return _number(field, answer.strip())
        case _:
            return _text(field, answer)


def _chosen(field: Field, answer: str) -> str:
    wanted = answer.strip()
    for label, value in field.values:
        if wanted == label:
            return value
    for _label_of, value in field.values:
        if wanted == value:
            return value
    raise Unfit(f"{field.name} is one of: {', '.join(label for label, _ in field.values)}")


def _chosen_many(field: Field, given: Sequence[str]) -> JsonValue:
    chosen = list(dict.fromkeys(_chosen(field, one) for one in given))
    least, most = field.schema.get("minItems"), field.schema.get("maxItems")
    if isinstance(least, int) and len(chosen) < least:
        raise Unfit(f"{field.name} takes at least {least} answers")
    if isinstance(most, int) and len(chosen) > most:
        raise Unfit(f"{field.name} takes at most {most} answers")
    return [*chosen]


def _truth(field: Field, answer: str) -> bool:
    said = answer.strip().casefold()
    if said in ("yes", "y", "true"):
        return True
    if said in ("no", "n", "false"):
        return False
    raise Unfit(f"{field.name} is {YES} or {NO}")


def _number(field: Field, answer: str) -> int | float:
    whole = _INTEGER.fullmatch(answer) is not None
    if field.kind == "integer" and not whole:
        raise Unfit(f"{field.name} is a whole number")
    try:
        value = int(answer) if whole else float(answer)
    except ValueError:
        raise Unfit(f"{field.name} is a number") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise Unfit(f"{field.name} is a number")
    least, most = field.schema.get("minimum"), field.schema.get("maximum")
    if isinstance(least, (int, float)) and value < least:
        raise Unfit(f"{field.name} is at least {least}")
    if isinstance(most, (int, float)) and value > most:
        raise Unfit(f"{field.name} is at most {most}")
    return value


def _text(field: Field, answer: str) -> str:
    least, most = field.schema.get("minLength"), field.schema.get("maxLength")
    if isinstance(least, int) and len(answer) < least:
        raise Unfit(f"{field.name} has at least {least} characters")
    if isinstance(most, int) and len(answer) > most:
        raise Unfit(f"{field.name} has at most {most} characters")
    return answer
