"""What is searched for when a run begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.events import WantedOutcome
from holdfast.contract.outcomes import Evaluation, Grade, Shown
from holdfast.runtime.managed.recall_query import (
    LONGEST_PART,
    MOST_PARTS,
    About,
    recall_query,
)

OUTCOME = WantedOutcome(title="A report", success_criteria=("it is written", "it is sent"))
GRADE = Grade(
    status="in_progress",
    confidence="medium",
    summary="One of two.",
    evidence=(Shown(criterion="it is written", score=5, kind="output", excerpt="written"),),
)
VERDICT = Evaluation(
    status="not_ready", confidence="low", summary="One of two is met.", trend="stable"
)


@pytest.mark.req("BOA-RETR-07")
def test_what_is_still_to_be_shown_and_the_verdict_are_searched_for() -> None:
    about = About(message="Go on.", outcome=OUTCOME, grade=GRADE, evaluation=VERDICT)
    assert recall_query(about) == (
        "Go on.",
        "A report; it is written; it is sent",
        "in_progress; it is sent",
        "not_ready stable: One of two is met.",
    )


def test_without_an_outcome_there_is_no_verdict_to_search_for() -> None:
    about = About(message="Go on.", grade=GRADE, evaluation=VERDICT, summary="Done so far.")
    assert recall_query(about) == ("Go on.", "Done so far.")
    assert recall_query(About()) == ()


def test_what_it_waits_for_counts_more_than_why_it_goes_on() -> None:
    assert recall_query(About(waits_for="deploy", goes_on_with="later")) == ("deploy",)
    assert recall_query(About(goes_on_with="later")) == ("later",)


_texts = st.none() | st.text(max_size=400)


@pytest.mark.req("BOA-RETR-30")
@given(
    st.builds(
        About,
        message=_texts,
        outcome=st.none()
        | st.builds(
            WantedOutcome,
            title=st.text(),
            success_criteria=st.lists(st.text(max_size=300), max_size=4).map(tuple),
        ),
        waits_for=_texts,
        goes_on_with=_texts,
        grade=st.none() | st.just(GRADE),
        evaluation=st.none() | st.just(VERDICT),
        summary=_texts,
    )
)
def test_there_are_at_most_six_parts_of_240_characters_each(about: About) -> None:
    parts = recall_query(about)
    assert len(parts) <= MOST_PARTS == 6
    assert all(0 < len(part) <= LONGEST_PART == 240 for part in parts)
    assert len(set(parts)) == len(parts)
    assert all(part == " ".join(part.split()) for part in parts)
