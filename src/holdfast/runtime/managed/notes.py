"""What a model is told when a run begins: where the session stands, a line for each thing.

Each line ends in a call that can be made as it stands; one whose tool is not there, or that would
be too long, is left out. Where the facts come from is not known here.
"""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from holdfast.contract.events import WantedOutcome
from holdfast.contract.json_value import JsonValue
from holdfast.contract.managed.recalling import (
    MOST_CANDIDATES,
    MOST_SESSIONS,
    MOST_SKILLS,
    Recalled,
    Reminder,
)
from holdfast.contract.managed.shell_views import ShellPosture
from holdfast.contract.outcomes import Evaluation, Grade
from holdfast.contract.steps import Step
from holdfast.contract.truncate import cut_text
from holdfast.runtime.managed.evaluating import WAIT_MS, gate_step
from holdfast.runtime.managed.harness_note import NoteKind, harness_note

LONGEST_NOTE = 600
"""Characters; a call cannot be cut, so a longer note is none."""
MOST_NOTES = 7 + MOST_CANDIDATES + MOST_SKILLS
"""Of one run."""
_LONGEST_FACT = 100
_LONGEST_REASON = 120
_REPAIRED = frozenset({"missing_outcome", "blocked", "sleeping", "done_candidate"})
_GOES_ROUND = frozenset({"stable", "regressing"})
_MOST_TO_REREAD = 6
_LOOK_AGAIN = Step(
    tool="outcome_evaluate", rationale="what it waited for has come: see what is missing now"
)


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session stands as a run begins."""

    outcome: WantedOutcome | None = None
    grade: Grade | None = None
    evaluation: Evaluation | None = None
    is_released: bool = False
    """What it waited for, or slept until, has come: that is why it runs."""
    has_drifted: bool = False
    """What it stands on changed since its last run."""
    shell: ShellPosture | None = None
    reads: Step | None = None
    """The call that reads what a person asks for."""
    recalled: Recalled = Recalled()


def notes_of(survey: Survey, is_there: Callable[[str], bool]) -> tuple[str, ...]:
    """The lines, in their order. ``is_there``: whether a tool can be called."""
    made = (
        harness_note(kind, _short(facts), _reasoned(step))
        for kind, facts, step in _found(survey)
        if is_there(step.tool)
    )
    return tuple(note for note in made if len(note) <= LONGEST_NOTE)


_Note = tuple[NoteKind, Mapping[str, JsonValue], Step]


def _found(survey: Survey) -> Iterator[_Note]:
    yield from _of_outcome(survey)
    if survey.has_drifted:
        why = "what this session stands on changed since its last run"
        yield "setup-drift", {"changed": True}, Step(tool="agent_describe_setup", rationale=why)
    yield from _of_shell(survey.shell)
    if survey.reads is not None:
        yield "read-first", {"tool": survey.reads.tool}, survey.reads
    yield from _of_recall(survey.recalled)


def _of_outcome(survey: Survey) -> Iterator[_Note]:
    grade, found = survey.grade, survey.evaluation
    if grade is None or found is None:
        return
    is_over = survey.is_released and grade.status in {"blocked", "sleeping"}
    if grade.status in _REPAIRED and grade.next_suggested_tool is not None and not is_over:
        facts: dict[str, JsonValue] = {
            "status": grade.status,
            "confidence": grade.confidence,
            "criteria": f"{grade.matched_criteria}/{grade.total_criteria}",
        }
        yield "outcome-repair", facts, grade.next_suggested_tool
    if survey.outcome is None or found.promotion_ready:
        return
    yield "promotion-gate", {"status": found.status}, _LOOK_AGAIN if is_over else gate_step(found)
    if found.trend in _GOES_ROUND:
        step = Step(
            tool="outcome_history",
            args={"limit": _MOST_TO_REREAD},
            rationale="see what earlier runs came to before doing the same again",
        )
        yield "outcome-trend", {"trend": found.trend, "status": found.status}, step


def _of_shell(posture: ShellPosture | None) -> Iterator[_Note]:
    if posture is None or not posture.busy:
        return
    shell = posture.persistent_shell
    running = None if shell is None else shell.current_command
    wait = Step(
        tool="shell_wait",
        args={"timeout_ms": WAIT_MS},
        rationale="a command still runs there: wait before the next one",
    )
    step = (None if posture.busy_plan is None else posture.busy_plan.step) or wait
    facts: dict[str, JsonValue] = {} if shell is None else {"shell": shell.shell_id}
    yield "shell-busy", {**facts, "command": running or ""}, step


def _of_recall(recalled: Recalled) -> Iterator[_Note]:
    skills = recalled.skills[:MOST_SKILLS]
    candidates = recalled.candidates[:MOST_CANDIDATES]
    for one in skills:
        yield "skill-candidate", {"skill": one.title, "score": one.score}, one.step
    if not (skills or candidates):
        for one in recalled.sessions[:MOST_SESSIONS]:
            yield "session-candidate", {"session": one.title}, one.step
    if candidates and recalled.plan:
        yield "retrieval-plan", {"steps": len(recalled.plan)}, recalled.plan[0]
    for one in candidates:
        yield "retrieval-candidate", _candidate(one), one.step


def _candidate(one: Reminder) -> dict[str, JsonValue]:
    return {
        "source": one.source,
        "title": one.title,
        "score": one.score,
        "confidence": one.confidence,
    }


def _short(facts: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: _cut(value, _LONGEST_FACT) for name, value in facts.items()}


def _reasoned(step: Step) -> Step:
    flat = " ".join(step.rationale.split())
    return msgspec.structs.replace(step, rationale=cut_text(flat, _LONGEST_REASON))


def _cut(value: JsonValue, most: int) -> JsonValue:
    return cut_text(" ".join(value.split()), most) if isinstance(value, str) else value
