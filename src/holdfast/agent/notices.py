"""Advice that goes along with one step of a run, and with no other: what is worth saying now.

It is told behind everything else and never becomes part of the conversation, so what was said
before stays as it was. Facts in, texts out; who counts them is not known here.
"""

import msgspec

_LAST_STEPS = 3
_STALE_AFTER = 4


class StepFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run stands as a step begins."""

    steps_left: int | None = None
    """This step and those that may come after it; None: there is no bound."""
    nudge: str | None = None
    """Of the state of the run: `TaskState.notice()`."""
    open_todos: int = 0
    """How many items of the to-do list are not done."""
    steps_since_todos: int = 0
    """How many steps were taken since that list was changed."""
    pressure: str | None = None
    """How full the context is, where it is worth a word: see `context.pressure`."""


def step_notices(facts: StepFacts) -> tuple[str, ...]:
    """What to tell the model with this step; of an old to-do list every fourth step."""
    said = (_steps(facts.steps_left), facts.nudge, _todos(facts), facts.pressure)
    return tuple(text for text in said if text)


def _steps(left: int | None) -> str | None:
    if left is None or left > _LAST_STEPS:
        return None
    if left <= 1:
        return (
            "This is the last step of this run. Call no tool: answer with what you have, and say"
            " what is not done."
        )
    return f"{left} steps remain in this run, this one included. Finish what matters most."


def _todos(facts: StepFacts) -> str | None:
    since = facts.steps_since_todos
    if facts.open_todos < 1 or since < _STALE_AFTER or since % _STALE_AFTER:
        return None
    items = "1 item" if facts.open_todos == 1 else f"{facts.open_todos} items"
    return (
        f"The to-do list has {items} open and has not changed for {since} steps. Mark what is done,"
        " or change the list if the plan has changed."
    )
