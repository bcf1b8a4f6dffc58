"""The question that a run begins with, made of what is known of the moment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.events import WantedOutcome
from holdfast.contract.outcomes import Evaluation, Grade
from holdfast.contract.skills import Skill
from holdfast.runtime.managed.recall import (
    LONGEST_PART,
    MOST_PARTS,
    Cues,
    fitting_skills,
    recall_query,
)

GRADE = Grade(status="in_progress", confidence="low", summary="One criterion is open.")
EVALUATION = Evaluation(status="not_ready", confidence="low", summary="The till is off.")


@pytest.mark.req("BOA-RETR-07")
def test_the_question_has_cues_of_the_grade_and_the_verdict_of_the_moment() -> None:
    cues = Cues(
        message="Go on.",
        outcome=WantedOutcome(title="Fix the till", success_criteria=("it adds up",)),
        open_loop="the tests",
        blocked_tool="deploy",
        grade=GRADE,
        evaluation=EVALUATION,
        summary="left out: six are told",
    )
    assert recall_query(cues).split("\n") == [
        "Go on.",
        "Fix the till it adds up",
        "the tests",
        "deploy",
        "in_progress One criterion is open.",
        "not_ready The till is off.",
    ]
    assert recall_query(Cues(grade=GRADE, summary="it rests")).split("\n") == [
        "in_progress One criterion is open.",
        "it rests",
    ]
    assert recall_query(Cues(message=" \n ")) == ""


@given(*[st.none() | st.text(max_size=600)] * 4)
def test_a_question_is_bounded_whatever_was_said(
    message: str | None, loop: str | None, blocked: str | None, summary: str | None
) -> None:
    cues = Cues(
        message=message,
        open_loop=loop,
        blocked_tool=blocked,
        summary=summary,
        grade=GRADE,
        evaluation=EVALUATION,
    )
    parts = recall_query(cues).split("\n")
    assert len(parts) <= MOST_PARTS
    assert all(0 < len(part) <= LONGEST_PART for part in parts)
    assert any(part.startswith("in_progress") for part in parts)
    assert any(part.startswith("not_ready") for part in parts)


def test_the_two_skills_that_fit_best_are_told_with_how_to_read_them() -> None:
    skills = [
        Skill(name=name, description=f"About {what}.", origin="f")
        for name, what in (("a", "tills"), ("b", "nothing"), ("c", "tills, sums"), ("d", "sums"))
    ]
    found = fitting_skills("tills sums", skills)
    assert [one.name for one in found] == ["c", "a"]
    assert (found[0].next_step.tool, found[0].next_step.args) == ("skills_read", {"name": "c"})
    assert fitting_skills("cats", skills) == ()
