"""What a tool asks a person, and what they reply. Values, and the port behind which they are.

An inquiry is asked by a tool that runs; whether a call may run is another matter (`question`). Who
is asked, and how the wait outlives the program, is not known here.
"""

from collections.abc import Awaitable, Sequence
from datetime import datetime
from typing import Annotated, Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.json_value import JsonObject


class Choice(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One answer that is offered."""

    label: Annotated[str, msgspec.Meta(min_length=1, description="The answer, in a few words.")]
    description: Annotated[
        str | None, msgspec.Meta(description="What choosing it means, in one sentence.")
    ] = None


class PersonQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One question to a person."""

    question: Annotated[str, msgspec.Meta(min_length=1, description="The question, whole.")]
    header: Annotated[
        str | None, msgspec.Meta(description="What it is about, in one or two words.")
    ] = None
    options: Annotated[
        tuple[Choice, ...],
        msgspec.Meta(description="Answers to choose from; other words are always accepted."),
    ] = ()
    multi_select: Annotated[
        bool, msgspec.Meta(description="Whether several answers may be given.")
    ] = False


Answers = tuple[tuple[str, ...], ...]
"""One list for each question, in the order asked; one element where one answer is wanted."""


class Replies(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person says to an inquiry."""

    answers: Answers
    skipped: bool = False
    """They would not answer: every list is empty."""
    by: str


class Inquiry(msgspec.Struct, frozen=True, kw_only=True):
    """Questions of a call that waits for a person."""

    session_id: str
    call_id: str
    """What a reply has to name."""
    tool: str
    questions: tuple[PersonQuestion, ...]
    asked_at: datetime
    model_call_id: str | None = None
    """The id that whoever called gave the call, where they wait for it still."""


class Postponed(msgspec.Struct, frozen=True):
    """Nobody answers now: the question stays open in the journal, and the call with it."""


POSTPONED = Postponed()


class Asker(Protocol):
    """Who puts an inquiry to a person. Handed in by the host."""

    def __call__(self, inquiry: Inquiry, /) -> Awaitable[Replies | Postponed | None]:
        """Wait for their replies; None: they would not answer. Postponed: it stays open."""
        ...


class Application(CallPort, Protocol):
    """Whoever fulfils the tools that only the application can."""

    async def fulfil(self, arguments: JsonObject, /) -> str:
        """What the application gives as the call's output.

        The wait outlives this program: the call is begun anew with the output, so nothing may have
        happened in it before.
        """
        ...


class Person(CallPort, Protocol):
    """The person behind the session, as a call meets them."""

    async def ask(
        self, questions: Sequence[PersonQuestion], /, *, lasting: bool = False
    ) -> Replies:
        """Ask, and wait. PolicyDenied where nobody is there.

        ``lasting``: the wait outlives this program. The call is then begun anew with the replies,
        so nothing may have happened in it before, and it may ask in this way once.
        """
        ...


def skipped(count: int, by: str) -> Replies:
    """They would not answer."""
    return Replies(answers=((),) * count, skipped=True, by=by)


def misfit(several: Sequence[bool], answers: Answers, *, was_skipped: bool) -> str | None:
    """Why answers are none to these questions; None: they are.

    ``several``: for each question, whether it may have more than one answer.
    """
    if len(answers) != len(several):
        return f"it takes one list of answers for each of {len(several)} questions, in their order"
    for number, (many, given) in enumerate(zip(several, answers, strict=True), 1):
        if was_skipped:
            if given:
                return "who skips the questions gives no answer to any of them"
        elif any(not answer.strip() for answer in given):
            return f"an answer to question {number} is empty"
        elif len(given) != 1 and not many:
            return f"question {number} takes exactly one answer, not {len(given)}"
    return None
