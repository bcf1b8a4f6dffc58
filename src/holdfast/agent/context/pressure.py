"""How crowded a context is, why, and with which tools to look for what is not in it."""

from holdfast.agent.context.budget import ContextBudget
from holdfast.contract.json_value import JsonValue
from holdfast.contract.managed.crowding import Pressure, PressureLevel
from holdfast.contract.steps import Step
from holdfast.runtime.managed.harness_note import harness_note

_LOW, _NARROW = 400, 1200
_CROWDED = 256
_SEARCH, _SEARCH_CONTEXT = "retrieval_search", "session_search_context"
DESCRIBES = "session_describe_context"
"""The tool that shows a budget."""


def pressure_of(budget: ContextBudget | None) -> Pressure | None:
    """Read it from the budget; None: there is none.

    The window counts as the budget for text does once it runs short itself, tool schemas and all.
    """
    if budget is None:
        return None
    history = budget.history
    found = [
        *_headroom("", budget.selection_headroom_tokens),
        *_headroom("window_", budget.window_headroom_tokens),
    ]
    if history.dropped_conversation:
        tools = (_SEARCH_CONTEXT, "session_get_snapshot")
        found.append((f"dropped_conversation:{history.dropped_conversation}", tools))
    if history.dropped_runtime_notes:
        tools = ("session_get_trace", "shell_describe")
        found.append((f"dropped_runtime_notes:{history.dropped_runtime_notes}", tools))
    return Pressure(
        level=_level(budget) if found else "low",
        reasons=tuple(reason for reason, _ in found),
        recommended_tools=tuple(dict.fromkeys(tool for _, tools in found for tool in tools)),
    )


def _headroom(what: str, left: int) -> list[tuple[str, tuple[str, ...]]]:
    if left < _LOW:
        return [(f"low_{what}headroom:{left}", (_SEARCH, _SEARCH_CONTEXT))]
    return [(f"narrow_{what}headroom:{left}", (_SEARCH,))] if left < _NARROW else []


def _left(budget: ContextBudget) -> int:
    return min(budget.selection_headroom_tokens, budget.window_headroom_tokens)


def _level(budget: ContextBudget) -> PressureLevel:
    return "high" if _left(budget) < _LOW or budget.history.dropped_conversation else "moderate"


def is_roomy(window_headroom: int) -> bool:
    """Whether a loop that tells all of its conversation is in no need to count further."""
    return window_headroom >= _NARROW


def pressure_words(budget: ContextBudget) -> str | None:
    """What a model is told of it that has no tool to look with; None: there is room."""
    left = _left(budget)
    pressure = pressure_of(budget)
    if pressure is None or pressure.level == "low":
        return None
    return (
        f"The context is nearly full: about {left} tokens are left of it. What comes next makes old"
        " answers of tools give way to a line, or a summary stand for what was said first. Say now"
        " what must not get lost, and read only what you need."
    )


def pressure_note(budget: ContextBudget | None) -> str | None:
    """The line that leads a model to the tool that shows its budget; None while there is room and
    nothing was dropped."""
    pressure = pressure_of(budget)
    if budget is None or pressure is None:
        return None
    left = _left(budget)
    if left > _CROWDED and not budget.history.dropped:
        return None
    facts: dict[str, JsonValue] = {
        "level": pressure.level,
        "headroom": left,
        "dropped": budget.history.dropped,
    }
    why = "see what was left out before relying on memory"
    return harness_note("context-pressure", facts, Step(tool=DESCRIBES, rationale=why))
