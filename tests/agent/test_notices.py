"""What a step is told along the way, and when nothing is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent.notices import StepFacts, step_notices


def test_a_step_of_a_run_that_goes_well_is_told_nothing() -> None:
    assert step_notices(StepFacts()) == ()
    assert step_notices(StepFacts(steps_left=4, open_todos=3, steps_since_todos=3)) == ()


@pytest.mark.parametrize(("left", "said"), [(3, "3 steps remain"), (2, "2 steps remain")])
def test_the_last_three_steps_are_counted(left: int, said: str) -> None:
    (notice,) = step_notices(StepFacts(steps_left=left))
    assert said in notice


@pytest.mark.parametrize("left", [1, 0, -1])
def test_the_last_step_is_for_the_answer(left: int) -> None:
    (notice,) = step_notices(StepFacts(steps_left=left))
    assert "Call no tool" in notice


def test_a_list_that_did_not_change_is_remembered_every_fourth_step_while_it_has_open_items() -> (
    None
):
    def told(since: int) -> bool:
        return step_notices(StepFacts(open_todos=2, steps_since_todos=since)) != ()

    assert [since for since in range(14) if told(since)] == [4, 8, 12]
    assert step_notices(StepFacts(open_todos=0, steps_since_todos=4)) == ()
    (notice,) = step_notices(StepFacts(open_todos=1, steps_since_todos=4))
    assert "1 item open" in notice


def test_all_that_is_worth_saying_is_said_in_one_order() -> None:
    facts = StepFacts(
        steps_left=2, nudge="Turn round.", open_todos=2, steps_since_todos=4, pressure="[full]"
    )
    budget, nudge, todos, pressure = step_notices(facts)
    assert "2 steps" in budget
    assert nudge == "Turn round."
    assert "2 items" in todos
    assert pressure == "[full]"


@given(
    st.none() | st.integers(-2, 9),
    st.none() | st.text(max_size=5),
    st.integers(-1, 5),
    st.integers(-1, 20),
)
def test_notices_are_never_empty_and_the_same_for_the_same_facts(
    left: int | None, nudge: str | None, items: int, since: int
) -> None:
    facts = StepFacts(steps_left=left, nudge=nudge, open_todos=items, steps_since_todos=since)
    assert step_notices(facts) == step_notices(facts)
    assert all(step_notices(facts))
