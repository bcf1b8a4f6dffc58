"""`complete`: say that the work is done, with a summary that says what was done."""

import re

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.text_form import TextForm

LEAST_CHARACTERS = 30
_WORD = re.compile(r"\w+")
_FILLER = frozenset(
    re.findall(
        r"\w+",
        """
        a add added all am amet and any as at be been below complete completed completely completion
        details dolor done everything final finally fill finish finished for go goes good has have
        here i in insert ipsum is it its job later lorem my n na no none nothing now of ok okay
        placeholder please provide ready request requested see sit so some success successful
        successfully summary task tasks tba tbd text that the this to todo user was we were what
        will with work write xxx you your
        """,
    )
)
"""Words that say nothing of the work: a summary of these alone is a placeholder."""


@builtin(acp_kind="think", interrupt_behavior="block", inline=True)
def complete(summary: str) -> TextForm:
    """Say that the task is done, and what was done; it ends the work on the task.

    Example: {"summary": "Moved the parser into its own module and added tests for empty input."}

    Args:
        summary: What was done, what was found and what is left, in at least 30 characters.
    """
    text = summary.strip()
    if len(text) < LEAST_CHARACTERS:
        raise _refused(f"it has {len(text)} characters, and {LEAST_CHARACTERS} are the least")
    if is_placeholder(text):
        raise _refused("it is a placeholder and says nothing of what was done")
    return TextForm(text)


def is_placeholder(text: str) -> bool:
    """Whether no word of it says what was done."""
    words = [word.casefold() for word in _WORD.findall(text)]
    return len({*words} - _FILLER) == 0 or len({*words}) == 1 or len({*text.casefold()}) < 5


def _refused(reason: str) -> InvalidArguments:
    return InvalidArguments(
        f"The summary is not accepted: {reason}. Say what you changed or found, and what is left.",
        field="summary",
        expected=f"at least {LEAST_CHARACTERS} characters that say what was done",
    )
