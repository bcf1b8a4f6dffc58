"""How a turn ends: the protocol's reason to stop, what a person is told, or an error to act on."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from acp.schema import StopReason

from holdfast.agent.cut_replies import NOTHING_SAID, TOO_LONG, WITHHELD
from holdfast.contract.wakes import RunEnd, WakeEnd

_REASONS: Mapping[RunEnd, StopReason] = MappingProxyType(
    {
        "final_response": "end_turn",
        "ended_by_surface": "end_turn",
        "tool_rejected": "end_turn",
        "requires_action": "end_turn",
        "iteration_cap": "max_turn_requests",
        "over_budget": "max_turn_requests",
        "cancelled": "cancelled",
    }
)
_CUT = TOO_LONG.partition("{")[0]
_TOKENS = "limits.tokens"
_AT_A_LIMIT = "The run ended at a limit: {0}. Say what is next to go on."
_WAITS = "This session waits for somebody: {0}. Answer there, then say anything here to go on."
_REFUSED = "The call was refused, so the agent stopped here. Say what to do instead."
_NOTHING = (
    "The model answered with nothing, three times in a row. Say it in other words, or start"
    " `holdfast acp` with another --model."
)


class TurnEnd(NamedTuple):
    """The end of a turn."""

    reason: StopReason
    says: str | None = None
    """What else a person has to know."""


class TurnFailed(Exception):
    """There is no answer; says why, and what to do."""


def end_of(end: WakeEnd, questions: Sequence[str] = ()) -> TurnEnd:
    """How a run ended; TurnFailed. ``questions``: how those that are open are answered."""
    if not end.executed or end.ended is None:
        return TurnEnd("end_turn", _WAITS.format(" and ".join(questions)) if questions else None)
    problem = " ".join((end.problem or "no reason is known").split())
    match end.ended:
        case "failed" if problem == WITHHELD:
            return TurnEnd("refusal", f"The run ended: {problem}.")
        case "failed":
            raise TurnFailed(
                f"The run failed: {problem}. Nothing is lost: say anything to go on, once that is"
                " put right."
            )
        case "over_budget" if problem.startswith(_CUT) or _TOKENS in problem:
            return TurnEnd("max_tokens", _AT_A_LIMIT.format(problem))
        case "over_budget" | "iteration_cap":
            return TurnEnd("max_turn_requests", _AT_A_LIMIT.format(problem))
        case "tool_rejected":
            return TurnEnd("end_turn", _REFUSED)
        case "requires_action" if questions:
            return TurnEnd("end_turn", _WAITS.format(" and ".join(questions)))
        case "final_response" if end.response == NOTHING_SAID:
            return TurnEnd("end_turn", _NOTHING)
        case _:
            return TurnEnd(_REASONS[end.ended])
