"""Where a hit is read again, and in which order that is best done. Pure.

A hit is a hint: each leads to a call that shows the thing itself.
"""

from collections.abc import Iterable, Mapping, Sequence

from holdfast.contract.json_value import JsonObject, encode_json
from holdfast.contract.managed.retrieval import Candidate, PlannedStep, Source
from holdfast.contract.outcomes import Trend
from holdfast.contract.steps import Step
from holdfast.runtime.managed.retrieval.hits import Hit, Neighbour

AROUND = 2
"""Events before and after one that is read again."""
MOST_STEPS = 8
_ORDER = (
    *("outcome_history", "outcome_evaluate", "outcome_read", "agent_compare_setup"),
    *("session_get_snapshot", "session_get_trace", "shell_read_last_output", "shell_describe"),
    *("memory_read", "learning_list", "session_get_events"),
)
_URGENCY: Mapping[str, int] = {
    "outcome_history": 3,
    "outcome_evaluate": 2,
    "outcome_read": 1,
    "agent_compare_setup": 1,
    "session_get_snapshot": 1,
    "session_get_trace": 1,
}
_URGENCY_STUCK: Mapping[str, int] = {**_URGENCY, "outcome_history": 5, "outcome_evaluate": 1}
"""While it does not get better from run to run."""
_STUCK = frozenset[Trend]({"stable", "regressing"})

_PLAIN: Mapping[Source, tuple[str, JsonObject, str]] = {
    "learning": ("learning_list", {}, "Lessons are listed there word for word."),
    "workspace_memory": (
        "memory_read",
        {"target": "workspace_memory"},
        "MEMORY.md stands there as it is now.",
    ),
    "workspace_memory_notes": (
        "memory_read",
        {"target": "workspace_memory_notes"},
        "The shared notes stand there as they are now.",
    ),
    "session_checkpoint": ("session_get_snapshot", {}, "It shows where that session stands now."),
    "session_outcome": ("outcome_read", {}, "The outcome stands there with its criteria."),
    "session_state": (
        "memory_read",
        {"target": "session_state"},
        "The notes of that session stand there as they are now.",
    ),
    "working_buffer": (
        "memory_read",
        {"target": "working_buffer"},
        "The working buffer stands there as it is now.",
    ),
}


def expansion_of(hit: Hit, neighbour: Neighbour | None) -> Step:
    """What to call to see the thing itself; for another setup, what differs comes first."""
    if neighbour is not None and neighbour.setup_match is False:
        return Step(
            tool="agent_compare_setup",
            args={"session_id": neighbour.session_id},
            rationale="That session stood on another setup: see what differs first.",
        )
    session: JsonObject = {"session_id": neighbour.session_id} if neighbour is not None else {}
    if hit.source == "session_evaluation":
        return _of_evaluation(session, neighbour)
    if hit.source == "shell_state":
        return _of_shell(session, has_command=hit.has_command)
    if hit.source in {"session_event", "wake_trace"}:
        return _of_event(session, hit)
    tool, args, why = _PLAIN[hit.source]
    return Step(tool=tool, args={**args, **session}, rationale=why)


def _of_evaluation(session: JsonObject, neighbour: Neighbour | None) -> Step:
    if neighbour is not None and neighbour.evaluations > 1:
        why = "It shows how that session came to stand there, run by run."
        return Step(tool="outcome_history", args=session, rationale=why)
    why = "It shows how far that session came."
    return Step(tool="outcome_evaluate", args=session, rationale=why)


def _of_shell(session: JsonObject, *, has_command: bool) -> Step:
    if has_command:
        why = "What the last command printed stands there, whole."
        return Step(tool="shell_read_last_output", args=session, rationale=why)
    return Step(tool="shell_describe", args=session, rationale="It shows how that shell stands.")


def _of_event(session: JsonObject, hit: Hit) -> Step:
    if hit.wake_id is not None:
        why = "What that run did stands there, step by step."
        return Step(
            tool="session_get_trace", args={"wake_id": hit.wake_id, **session}, rationale=why
        )
    args: JsonObject = {
        "around_event_id": hit.event_id,
        "before_limit": AROUND,
        "after_limit": AROUND,
        **session,
    }
    why = "The event stands there with what was said around it."
    return Step(tool="session_get_events", args=args, rationale=why)


def urgency(tool: str, *, ready: bool, trend: Trend | None) -> int:
    """How much sooner a step is taken while what was done may not be shared yet."""
    if ready:
        return 0
    return (_URGENCY_STUCK if trend in _STUCK else _URGENCY).get(tool, 0)


def planned(
    found: Iterable[Candidate], *, ready: bool, trend: Trend | None
) -> tuple[PlannedStep, ...]:
    """The steps that hits lead to: the same call once, by how many lead there and how urgent it is.

    ``ready``: what the calling session did may be shared.
    """
    steps: dict[bytes, list[Step]] = {}
    for one in found:
        if (step := one.expansion) is not None:
            steps.setdefault(encode_json([step.tool, step.args]), []).append(step)
    plan = [_planned(same, ready=ready, trend=trend) for same in steps.values()]
    return tuple(sorted(plan, key=_rank)[:MOST_STEPS])


def _planned(same: Sequence[Step], *, ready: bool, trend: Trend | None) -> PlannedStep:
    step = same[0]
    return PlannedStep(
        tool=step.tool,
        args=step.args,
        rationale=step.rationale,
        support=len(same),
        urgency=urgency(step.tool, ready=ready, trend=trend),
    )


def _rank(step: PlannedStep) -> tuple[int, int, bytes]:
    return -(step.support + step.urgency), _ORDER.index(step.tool), encode_json(step.args)
