"""What a tool asks a person, as a form of the protocol, and what comes back from it.

Anything that is not quite an answer is none. Who waits for it is not known here.
"""

from collections.abc import Mapping
from typing import cast

from acp.schema import (
    ElicitationMultiSelectPropertySchema,
    ElicitationSchema,
    ElicitationStringPropertySchema,
    EnumOption,
    TitledMultiSelectItems,
)

from holdfast.contract.person import Choice, Inquiry, PersonQuestion, Replies

_Field = ElicitationStringPropertySchema | ElicitationMultiSelectPropertySchema


def form_of(inquiry: Inquiry) -> ElicitationSchema:
    """A field for each question; where answers are offered, one more for other words."""
    fields: dict[str, _Field] = {}
    required: list[str] = []
    for number, question in enumerate(inquiry.questions, 1):
        fields |= _fields(number, question)
        if not question.options:
            required.append(_answer(number))
    return ElicitationSchema.model_validate(
        {"type": "object", "properties": fields, "required": required or None}
    )


def message_of(inquiry: Inquiry) -> str:
    """What is asked, as text."""
    return "\n".join(map(_asked, inquiry.questions))


def replies_in(inquiry: Inquiry, content: Mapping[str, object], by: str) -> Replies | None:
    """What they replied; None: not all of it."""
    answers: list[tuple[str, ...]] = []
    for number, question in enumerate(inquiry.questions, 1):
        chosen = _texts(content.get(_answer(number)))
        words = _texts(content.get(_words(number)))
        given = (*chosen, *words) if question.multi_select else (words or chosen)
        if len(given) != 1 and not question.multi_select:
            return None
        answers.append(tuple(dict.fromkeys(given)))
    return Replies(answers=tuple(answers), by=by)


def _fields(number: int, question: PersonQuestion) -> dict[str, _Field]:
    title = _line(question.header or f"Question {number}")
    said = _line(question.question)
    if not question.options:
        plain = ElicitationStringPropertySchema(type="string", title=title, description=said)
        return {_answer(number): plain}
    options = list(map(_option, question.options))
    choice: _Field = ElicitationStringPropertySchema(
        type="string", title=title, description=said, one_of=options
    )
    if question.multi_select:
        choice = ElicitationMultiSelectPropertySchema(
            type="array",
            title=title,
            description=said,
            items=TitledMultiSelectItems(any_of=options),
        )
    other = ElicitationStringPropertySchema(
        type="string", title=f"{title}: other", description="Words of your own instead."
    )
    return {_answer(number): choice, _words(number): other}


def _option(choice: Choice) -> EnumOption:
    meaning = None if choice.description is None else _line(choice.description)
    return EnumOption(const=choice.label, title=_line(choice.label), description=meaning)


def _asked(question: PersonQuestion) -> str:
    header = "" if question.header is None else f"{question.header}: "
    return _line(f"{header}{question.question}")


def _texts(value: object) -> tuple[str, ...]:
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    return tuple(one.strip() for one in values if isinstance(one, str) and one.strip())


def _answer(number: int) -> str:
    return f"answer_{number}"


def _words(number: int) -> str:
    return f"words_{number}"


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in flat)
