"""Grades of a session: from what it did, never from what it was to do."""

import msgspec
import pytest
from grades_at_work import DONE, OUTCOME, standing
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.events import WantedOutcome
from holdfast.contract.outcomes import (
    Evidence,
    Pending,
)
from holdfast.contract.steps import Step
from holdfast.runtime.managed.echoes import without_echo
from holdfast.runtime.managed.grading import grade


@pytest.mark.req("BOA-GRADE-03")
def test_without_an_outcome_the_next_step_defines_one() -> None:
    found = grade(standing(outcome=None, title="Mend the till"))
    assert (found.status, found.confidence) == ("missing_outcome", "high")
    step = found.next_suggested_tool
    assert step is not None
    assert (step.tool, step.args) == ("outcome_define", {"title": "Mend the till"})


@pytest.mark.req("BOA-GRADE-04")
@pytest.mark.parametrize(
    ("pending", "tool", "args"),
    [
        (None, "permissions_describe", {}),
        (
            Pending(kind="tool_confirmation", tool_name="shell_run"),
            "permissions_check",
            {"tool_name": "shell_run"},
        ),
        (Pending(kind="custom_tool", tool_name="order"), "session_get_snapshot", {}),
        (
            Pending(
                kind="tool_confirmation",
                tool_name="shell_run",
                instead=Step(tool="bash", args={"command": "pwd"}, rationale="It only reads."),
            ),
            "bash",
            {"command": "pwd"},
        ),
    ],
)
def test_what_waits_comes_before_everything_that_was_done(
    pending: Pending | None, tool: str, args: dict[str, str]
) -> None:
    found = grade(standing(pending=pending, stop_reason="requires_action", sleeps=True))
    assert (found.status, found.confidence) == ("blocked", "high")
    assert found.next_suggested_tool is not None
    assert (found.next_suggested_tool.tool, found.next_suggested_tool.args) == (tool, args)


def test_a_session_that_goes_on_later_sleeps_although_all_is_met() -> None:
    found = grade(standing(sleeps=True))
    assert (found.status, found.confidence, found.matched_criteria) == ("sleeping", "medium", 2)


def test_all_criteria_shown_by_what_was_done_make_a_candidate() -> None:
    found = grade(standing())
    assert (found.status, found.confidence) == ("done_candidate", "medium")
    assert (found.matched_criteria, found.total_criteria) == (2, 2)
    assert [one.event_id for one in found.evidence] == ["evt_1", "evt_2"]
    assert found.next_suggested_tool is not None
    assert found.next_suggested_tool.args == {"wake_id": "wak_1"}


@pytest.mark.parametrize(
    "more",
    [
        {"evidence": DONE[:1]},
        {"evidence": ()},
        {"stop_reason": "rescheduling"},
        {"outcome": msgspec.structs.replace(OUTCOME, success_criteria=())},
        {"evidence": [msgspec.structs.replace(one, kind="message") for one in DONE]},
    ],
    ids=["one unmet", "nothing done", "not at rest", "no criteria", "only words"],
)
def test_whatever_is_less_is_under_way(more: dict[str, object]) -> None:
    assert grade(standing(**more)).status == "in_progress"


@pytest.mark.req("BOA-GRADE-08")
def test_what_is_under_way_is_read_again_and_is_surer_with_something_met() -> None:
    nothing, something = grade(standing(evidence=())), grade(standing(evidence=DONE[:1]))
    assert (nothing.status, something.status) == ("in_progress", "in_progress")
    assert (nothing.confidence, something.confidence) == ("low", "medium")
    for found in (nothing, something):
        step = found.next_suggested_tool
        assert step is not None
        assert (step.tool, step.args) == ("session_get_trace", {"wake_id": "wak_1"})


@pytest.mark.req("BOA-GRADE-02")
def test_a_grade_says_how_much_of_it_is_met_and_by_what() -> None:
    found = msgspec.to_builtins(grade(standing()))
    assert set(found) == {
        *("status", "confidence", "summary", "matched_criteria", "total_criteria", "evidence"),
        "next_suggested_tool",
    }
    assert set(found["next_suggested_tool"]) == {"tool", "args", "rationale"}
    assert found["summary"] == "It rests; 2 of 2 criteria are met."


@pytest.mark.req("BOA-GRADE-09")
@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"outcome": None, "stop_reason": "requires_action", "sleeps": True}, "missing_outcome"),
        ({"stop_reason": "requires_action", "sleeps": True}, "blocked"),
        ({"sleeps": True}, "sleeping"),
        ({}, "done_candidate"),
        ({"stop_reason": "rescheduling"}, "in_progress"),
    ],
)
def test_the_first_status_that_fits_is_given(more: dict[str, object], status: str) -> None:
    assert grade(standing(**more)).status == status


@pytest.mark.req("BOA-GRADE-10")
@pytest.mark.parametrize(("said", "met"), [("mango kiwi plum", 0), ("mango kiwi plum fig", 1)])
def test_a_criterion_is_met_by_a_text_that_fits_it_with_four_points(said: str, met: int) -> None:
    outcome = WantedOutcome(title="Fruit", success_criteria=("mango plum kiwi fig pear",))
    shown = Evidence(kind="output", text=f"Bought: {said}.", event_id="evt_1")
    assert grade(standing(outcome=outcome, evidence=(shown,))).matched_criteria == met
    bare = WantedOutcome(title="Fruit")
    assert grade(standing(outcome=bare, evidence=(shown,))).status == "in_progress"


@given(st.lists(st.sampled_from([OUTCOME.title, *OUTCOME.success_criteria]), max_size=6))
def test_the_outcome_told_again_shows_nothing(lines: list[str]) -> None:
    """As a list, as a note, in any case and order: it is an echo."""
    text = "\n".join(f"  - {line.upper()}" for line in lines)
    echo = Evidence(kind="output", text=text, event_id="evt_9")
    found = grade(standing(evidence=(echo,)))
    assert (found.matched_criteria, found.status) == (0, "in_progress")


SETTINGS = (
    "{}",
    "- [ ] {}",
    "  12. {}.",
    '"success_criteria": ["{}"],',
    "Outcome wanted: {}",
    "criteria met: {}; {}",
    '{{"active_outcome":{{"detail":null,"title":"{}","success_criteria":["{}"]}}}}',
    "> **{}**",
)


@given(
    st.sampled_from(SETTINGS),
    st.sampled_from([OUTCOME.title, *OUTCOME.success_criteria]),
    st.sampled_from([OUTCOME.title, OUTCOME.detail or "", *OUTCOME.success_criteria]),
)
def test_however_it_is_set_an_echo_shows_nothing(setting: str, one: str, other: str) -> None:
    text = f"{setting.format(one, other)}\n\n"
    echo = Evidence(kind="output", text=text, event_id="evt_9")
    assert grade(standing(evidence=(echo,))).matched_criteria == 0
    assert without_echo(f"It is so.\n{text}", OUTCOME).strip() == "It is so."


def test_what_tells_more_than_the_outcome_is_no_echo() -> None:
    for text in ("$ pytest tests/till.py passes here", "it adds cents now", "nothing of it"):
        assert without_echo(text, OUTCOME) == text


def test_an_output_that_is_only_an_echo_is_no_output() -> None:
    words = [msgspec.structs.replace(one, kind="message") for one in DONE]
    echo = Evidence(kind="output", text=OUTCOME.success_criteria[0], event_id="evt_9")
    assert grade(standing(evidence=(*words, echo))).status == "in_progress"


@pytest.mark.parametrize(
    ("said", "status"),
    [("Files that are shared.", "in_progress"), ("sh: all well", "done_candidate")],
    ids=["inside of a word", "a word"],
)
def test_a_word_of_two_letters_speaks_of_a_criterion_where_it_stands_alone(
    said: str, status: str
) -> None:
    outcome = WantedOutcome(title="The till", success_criteria=("sh tests/till.sh passes",))
    claim = Evidence(kind="message", text="I ran it: sh tests/till.sh passes.", event_id="evt_1")
    output = Evidence(kind="output", text=said, event_id="evt_2")
    assert grade(standing(outcome=outcome, evidence=(claim, output))).status == status


def test_another_session_is_named_in_the_step() -> None:
    found = grade(standing(session_id="ses_2"))
    assert found.next_suggested_tool is not None
    assert found.next_suggested_tool.args == {"wake_id": "wak_1", "session_id": "ses_2"}
