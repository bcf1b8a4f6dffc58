"""The end of a run: its exit status, and what a person is told to do next."""

from collections.abc import Sequence

from holdfast.agent.cut_replies import NOTHING_SAID
from holdfast.contract.person import Inquiry
from holdfast.contract.question import Question
from holdfast.contract.wakes import RunEnd, WakeEnd
from holdfast.surfaces.cli.screen import one_line

FAILED = 1
WAITS = 4
_STATUS: dict[RunEnd, int] = {
    "final_response": 0,
    "ended_by_surface": 0,
    "tool_rejected": 3,
    "requires_action": WAITS,
    "cancelled": 130,
}
"""Whatever is not here failed."""
_AT_A_LIMIT = (
    "the run ended at a limit: {1}; a person should review what was done: holdfast sessions show"
    " {0}; go on with: holdfast resume {0}"
)
_WORDS: dict[RunEnd, str] = {
    "requires_action": (
        "it waits for a person; see: holdfast sessions questions {0}; answer with: {2}; then:"
        " holdfast resume {0}"
    ),
    "cancelled": "interrupted, and nothing is lost; go on with: holdfast resume {0}",
    "tool_rejected": (
        "the run ended with a refusal; say what to do instead with: holdfast resume {0} WORDS"
    ),
    "iteration_cap": _AT_A_LIMIT,
    "over_budget": _AT_A_LIMIT,
    "failed": "the run failed: {1}; go on with: holdfast resume {0}",
}
_FAILED_AS_TOLD = "the run failed; go on with: holdfast resume {0}"
_OPEN = (
    "questions of session {0} are open, and nobody is asked here; see: holdfast sessions questions"
    " {0}; answer with: {2}; then: holdfast resume {0}"
)
NOTHING = "nothing is left to do in session {0}; say what is next with: holdfast resume {0} WORDS"
_NO_ANSWER = (
    "the model answered with nothing, three times in a row; say it in other words with: holdfast"
    " resume {0} WORDS, or ask another model with --model; a small one does better without tools:"
    " --profile bare"
)


def status_of_run(end: WakeEnd, *, waits: bool) -> int:
    """The exit status; ``waits``: questions are open."""
    if not end.executed:
        return WAITS if waits else 0
    if end.ended is None or _said_nothing(end):
        return FAILED
    return _STATUS.get(end.ended, FAILED)


def words_at_the_end(
    end: WakeEnd, answers: Sequence[str], *, problem_is_known: bool = False
) -> str | None:
    """How it ended and what comes next, where a person has to know.

    ``answers``: command lines that answer the questions that are open. ``problem_is_known``: they
    were told what went wrong.
    """
    session = end.session_id
    lines = " and ".join(answers) or f"holdfast sessions answer {session}"
    if not end.executed:
        return (_OPEN if answers else NOTHING).format(session, "", lines)
    if _said_nothing(end):
        return _NO_ANSWER.format(session)
    words = None if end.ended is None else _WORDS.get(end.ended)
    if end.ended == "failed" and problem_is_known:
        words = _FAILED_AS_TOLD
    return None if words is None else words.format(session, _problem(end), lines)


def answer_line(one: Question | Inquiry) -> str:
    """The command line that answers a question, whole."""
    begin = f"holdfast sessions answer {one.session_id}"
    if isinstance(one, Question):
        return f"{begin} {one.approval_id} --allow (or --deny)"
    return " ".join([begin, one.call_id, *["--reply TEXT"] * len(one.questions)])


def _problem(end: WakeEnd) -> str:
    problem = one_line(end.problem or "no reason is known")
    if problem == "1 rounds":
        return "1 round"
    return problem.replace("this run has ", "it has ", 1)


def _said_nothing(end: WakeEnd) -> bool:
    return end.ended == "final_response" and end.response == NOTHING_SAID
