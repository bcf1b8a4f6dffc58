"""What of an answer tells the outcome again, and what tells more than that."""

import pytest
from grades_at_work import OUTCOME, standing

from holdfast.contract.events import WantedOutcome
from holdfast.contract.outcomes import Evidence
from holdfast.runtime.managed.echoes import without_echo, without_record
from holdfast.runtime.managed.grading import grade

CRITERION = "every customer ledger test passes"
QUOTED = f"12 done: {CRITERION} in 3 s"


def met(title: str, text: str, *criteria: str) -> int:
    outcome = WantedOutcome(title=title, success_criteria=criteria or (CRITERION,))
    shown = Evidence(kind="output", text=text, event_id="evt_1")
    return grade(standing(outcome=outcome, evidence=(shown,))).matched_criteria


@pytest.mark.parametrize("title", ["Ledger", "Customer ledger", CRITERION, "Done", "The books"])
def test_a_criterion_inside_of_a_line_that_tells_more_is_met(title: str) -> None:
    """Whether or not the title is a part of the criterion."""
    assert met(title, QUOTED) == 1
    assert met(title, f"{CRITERION}\n{QUOTED}") == 1


@pytest.mark.parametrize("told", [CRITERION, f"> - [x] {CRITERION.upper()}.", f'"{CRITERION}"'])
def test_a_line_that_only_repeats_a_criterion_shows_nothing(told: str) -> None:
    assert met("Ledger", told) == 0


def test_other_lines_of_an_answer_that_repeats_a_criterion_still_count() -> None:
    text = f"Customer ledger\n{CRITERION}\nreport.md"
    assert met("Customer ledger", text, CRITERION, "report.md is written") == 1


RECORDS = (
    '{{"a": "{title}", "b": ["{told} for ses_1"]}}',
    "title: {title}\ncriteria:\n  - {told} (see the plan)\n",
    "# {title}\n\nAccepted once {told}.",
    "Outcome of ses_1: {title}; wanted is that {told}",
)


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_that_tells_title_and_criterion_shows_nothing(record: str) -> None:
    title, told = OUTCOME.title, OUTCOME.success_criteria[0]
    wrapped = told.replace(" ", "\n", 1)
    for one in (told, wrapped):
        text = record.format(title=title, told=one)
        assert met(title, text, told) == 0
        left = without_record(f"{text}\nIt is so.", OUTCOME).splitlines()
        assert left[-1] == "It is so."


def test_a_criterion_that_was_wrapped_is_an_echo_as_well() -> None:
    told = OUTCOME.success_criteria[0].replace(" ", "\n  ", 1)
    assert without_echo(f"{told}\nIt is so.", OUTCOME) == "It is so."
