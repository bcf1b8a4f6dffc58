"""`question`: ask the person behind the session, and wait for what they say."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.person import Person, PersonQuestion
from holdfast.contract.tool import Limits

Questions = Annotated[list[PersonQuestion], msgspec.Meta(min_length=1)]


class Answered(msgspec.Struct, frozen=True, omit_defaults=True):
    """What they said."""

    answers: list[list[str]]
    """One list for each question, in the order asked."""
    skipped: bool = False
    """They would not answer."""


@builtin(
    acp_kind="other",
    interrupt_behavior="cancel",
    limits=Limits(wall_seconds=None),
    effects=("session_read",),
)
async def question(questions: Questions, person: Person) -> Answered:
    """Ask the user one or more questions, and wait for their answers.

    Use it where only they can decide; give options where the answers are known. They may always
    answer in other words. Example: {"questions": [{"question": "Which database?", "options":
    [{"label": "SQLite", "description": "One file"}, {"label": "PostgreSQL"}]}]}

    Args:
        questions: What to ask, in the order it is to be answered.
    """
    replies = await person.ask(questions, lasting=True)
    return Answered([list(one) for one in replies.answers], skipped=replies.skipped)
