"""`plan_exit`: ask the person whether planning is over. Who switches the mode is the host."""

from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.person import Choice, Person, PersonQuestion
from holdfast.contract.tool import Limits

YES = "Yes, carry it out"
NO = "No, keep planning"


class Decided(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the person decided."""

    approved: bool
    note: str | None = None
    """What they said instead of yes or no."""


@builtin(
    acp_kind="switch_mode",
    interrupt_behavior="cancel",
    limits=Limits(wall_seconds=None),
    effects=("session_read",),
)
async def plan_exit(
    summary: Annotated[str, msgspec.Meta(min_length=1, max_length=2000)], person: Person
) -> Decided:
    """Ask the user whether the plan may be carried out; planning goes on until they say so.

    An approval does not change what you may do in this turn: the mode changes with the user's next
    message. Example: {"summary": "Three steps: reproduce, fix, add a test."}

    Args:
        summary: The plan in a few sentences, for somebody who decides over it.
    """
    asked = PersonQuestion(
        question=f"{summary}\n\nLeave planning and carry it out?",
        header="Plan",
        options=(Choice(label=YES), Choice(label=NO)),
    )
    replies = await person.ask([asked], lasting=True)
    if replies.skipped:
        return Decided(approved=False)
    said = replies.answers[0][0]
    if said in {YES, NO}:
        return Decided(approved=said == YES)
    return Decided(approved=False, note=said)
