"""`clarify`: one question to the person behind the session; a thin form of `question`."""

from collections.abc import Iterable
from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.person import Choice, Person, PersonQuestion, Replies
from holdfast.contract.text_form import TextForm
from holdfast.contract.tool import Limits

MOST_OPTIONS = 6
LONGEST_OPTION = 80
_SKIPPED = "The user did not answer. Proceed on your best assumption and say what it was."

Option = Annotated[str, msgspec.Meta(max_length=LONGEST_OPTION)]


@builtin(
    acp_kind="other",
    interrupt_behavior="cancel",
    limits=Limits(wall_seconds=None),
    effects=("session_read",),
)
async def clarify(
    question: Annotated[str, msgspec.Meta(min_length=1)],
    person: Person,
    options: Annotated[list[Option], msgspec.Meta(description="Answers to choose from.")] = [],  # noqa: B006 - a schema's default; nothing changes it
    allowMultiple: bool = False,  # noqa: FBT001, FBT002 - the name and form of the contract
) -> TextForm:
    """Ask the user one question when their wish cannot be known otherwise, and wait for the answer.

    Example: {"question": "Which format?", "options": ["PDF", "HTML"]}

    Args:
        question: The question, whole.
        options: At most 6 answers to choose from, of at most 80 characters each; other words are
            always accepted.
        allowMultiple: Whether several answers may be chosen.
    """
    labels = distinct(options)
    if len(labels) > MOST_OPTIONS:
        raise InvalidArguments(
            f"{len(labels)} options are too many; offer the {MOST_OPTIONS} most likely ones, the"
            " user may answer in other words",
            field="options",
            expected=f"at most {MOST_OPTIONS} options",
        )
    asked = PersonQuestion(
        question=question,
        options=tuple(Choice(label=label) for label in labels),
        multi_select=allowMultiple,
    )
    return TextForm(_told(await person.ask([asked], lasting=True)))


def distinct(options: Iterable[str]) -> list[str]:
    """Each option once, whatever its case, as it was written first; blank ones are none."""
    found: dict[str, str] = {}
    for option in options:
        label = " ".join(option.split())
        if label:
            found.setdefault(label.casefold(), label)
    return list(found.values())


def _told(replies: Replies) -> str:
    if replies.skipped:
        return _SKIPPED
    answers = replies.answers[0]
    if not answers:
        return "The user chose none of the options."
    if len(answers) == 1:
        return f"The user answered: {answers[0]}"
    return "The user answered:\n" + "\n".join(f"- {answer}" for answer in answers)
