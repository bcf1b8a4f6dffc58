"""A run on the whole screen of a real terminal: seen, scrolled, answered, spoken to, stopped."""

import signal
import time
from pathlib import Path

import pytest
from agent_scripts import asks, says
from command import start
from person_at_screen import (
    BACK_TAB,
    DOWN,
    EDIT,
    END,
    HOME,
    LONG,
    PAGE_UP,
    UP,
    at_work,
)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\nthree\n", "utf-8")
    return folder


@pytest.mark.measured
def test_a_run_is_seen_on_another_screen_and_its_last_words_on_the_ordinary_one(
    home: Path, work: Path
) -> None:
    todos = [
        {"content": "Look at it", "active_form": "Looking", "status": "completed"},
        {"content": "Change it", "active_form": "Changing", "status": "in_progress"},
    ]
    first = {**asks("todo", todos=todos), "text": "I will *look*.\n\n- at one\n- at two\n"}
    run = asks("bash", command="echo begun; until test -e more; do sleep 0.05; done; echo over")
    with at_work(home, work, first, run, says("# Done\n\nIt is `good`.")) as person:
        seen = person.until("  begun", "bash runs")
        assert person.seen.is_other
        assert "7" not in person.seen.modes  # a row that is too long is cut
        for part in (
            *("ses_", "turns.json", "profile code", "/work", "> Please do it."),
            *("I will look.", " • at one", "● todo", "│ To do", "│ [x] Look at it"),
            *("│ [>] Change it", "runs", "? help", "2 rounds", "i: say something"),
        ):
            assert part in seen, part
        (work / "more").touch()
        status, ordinary = person.end()
        assert (status, person.seen.is_other) == (0, False)
        assert {"7", "25"} <= person.seen.modes
        assert person.settings == person.before
    for part in ("session ses_", "Done", "It is good.", "3 rounds"):
        assert part in ordinary
    assert "begun" not in ordinary


@pytest.mark.measured
def test_a_call_is_shown_with_its_rule_and_its_change_and_allowed(home: Path, work: Path) -> None:
    with at_work(home, work, EDIT, says("Done.")) as person:
        seen = person.until("may this run?", "yes, once")
        for part in ("* edit a.txt", "asks: Tool 'edit': the manifest rule", "-two", "+2", "three"):
            assert part in seen
        assert "waits for you" in seen
        person.type(DOWN + DOWN + UP + "\r")  # down to the session, and back up to once
        status, _ = person.end()
    assert status == 0
    assert (work / "a.txt").read_text("utf-8") == "one\n2\nthree\n"


@pytest.mark.measured
def test_a_refusal_with_a_note_goes_on_and_a_plain_one_ends_the_run(home: Path, work: Path) -> None:
    with at_work(home, work, EDIT, says("Then not.")) as person:
        person.until("yes, once")
        person.type("r")
        person.until("no:", "Enter sends it")
        person.type("leave it, pleas\x1b[D\x1b[De\x7f\x1b[F")
        person.type("e\r")
        status, ordinary = person.end()
    assert (status, "Then not." in ordinary) == (0, True)
    told = start("sessions", "events", "last", "--json", "--workspace", str(work), home=home).out
    assert "leave it, please" in told
    with at_work(home, work, EDIT, says("No.")) as person:
        person.until("yes, once")
        person.type("n")
        status, ordinary = person.end()
    assert status == 3
    assert "say what to do instead with: holdfast resume" in ordinary
    assert "two" in (work / "a.txt").read_text("utf-8")


@pytest.mark.measured
def test_questions_are_a_form(home: Path, work: Path) -> None:
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue"}]
    questions = [
        {"question": "Which colour?", "header": "Paint", "options": options},
        {"question": "Which ones?", "options": options, "multi_select": True},
        {"question": "Your name?"},
    ]
    with at_work(home, work, asks("question", questions=questions), says("Thanks.")) as person:
        seen = person.until("question 1 of 3", "Paint: Which colour?")
        assert "Red - warm" in seen
        person.type("2")
        person.until("Which ones?", "[ ] Red")
        person.type(" " + DOWN + " \r")
        person.until("Your name?")
        person.type("Ada\r")
        status, _ = person.end()
    assert status == 0
    told = start("sessions", "events", "last", "--json", "--workspace", str(work), home=home).out
    assert '"answers":[["Blue"],["Red","Blue"],["Ada"]]' in told


@pytest.mark.measured
def test_a_command_is_ended_from_its_card_and_the_agent_goes_on(home: Path, work: Path) -> None:
    with at_work(home, work, LONG, says("On I go.")) as person:
        person.until("  begun", "runs")
        person.type("\t")
        person.until("t end command")
        person.type("t")
        status, ordinary = person.end()
    assert (status, "On I go." in ordinary) == (0, True)


@pytest.mark.measured
def test_ctrl_c_stops_the_call_and_the_second_one_the_run(home: Path, work: Path) -> None:
    with at_work(home, work, LONG, {"seconds": 30}) as person:
        person.until("  begun")
        person.type("\x03")
        person.until("stopping the call", "thinks")
        person.type("\x03")
        status, ordinary = person.end()
        assert person.settings == person.before
    assert status == 130
    assert "nothing is lost; go on with: holdfast resume" in ordinary


@pytest.mark.measured
def test_ctrl_c_takes_a_question_back(home: Path, work: Path) -> None:
    with at_work(home, work, EDIT, {"seconds": 30}) as person:
        person.until("yes, once")
        person.type("\x03")
        person.until_gone("may this run?")
        person.until("stopping the")
        person.process.send_signal(signal.SIGTERM)
        assert person.end()[0] == 130
    assert "two" in (work / "a.txt").read_text("utf-8")


@pytest.mark.measured
def test_a_card_is_unfolded_and_folded(home: Path, work: Path) -> None:
    printed = asks("bash", command="seq 1000 1019")
    with at_work(home, work, printed, {"seconds": 30}) as person:
        person.until("… 15 more lines")
        person.type("\t\r")
        person.until("1019")
        person.type("\r")
        person.until("… 15 more lines")
        person.type(BACK_TAB)
        person.until("? help")
        person.type("\x03")
        assert person.end()[0] == 130


@pytest.mark.measured
def test_the_timeline_is_scrolled_and_stays_where_it_is(home: Path, work: Path) -> None:
    words = "\n\n".join(f"paragraph {at} of it" for at in range(100))
    with at_work(home, work, {**LONG, "text": words}, says("Over.")) as person:
        person.until("paragraph 99 of it", "begun")
        assert "paragraph 3 " not in person.seen.text
        person.type(HOME)
        seen = person.until("> Please do it.", "paragraph 3 of it", "more below")
        assert "paragraph 99 of it" not in seen
        person.type(DOWN * 2)
        person.until_gone("> Please do it.")
        person.type(END)
        person.until("paragraph 99 of it")
        person.type(PAGE_UP)
        person.until_gone("paragraph 99 of it")
        person.type("?")
        person.until("Keys", "Ctrl-Z")
        person.type("?")
        person.until_gone("Ctrl-Z")
        person.type("\x1b")
        person.until("paragraph 99 of it")
        person.type("\x03")
        assert person.end()[0] == 0


@pytest.mark.measured
def test_what_is_said_while_it_works_is_heard(home: Path, work: Path) -> None:
    run = asks("bash", command="echo begun; until test -e more; do sleep 0.05; done")
    with at_work(home, work, run, says("I heard.")) as person:
        person.until("  begun")
        person.type("iand \x1b[200~the docs?\x1b[201~\r")
        person.until("> and the docs?")
        person.type("inot s")
        person.until("not s")
        (work / "more").touch()
        status, ordinary = person.end()
    assert status == 0
    assert "this was not sent: not s" in ordinary
    told = start("sessions", "events", "last", "--json", "--workspace", str(work), home=home).out
    assert '"message":"and the docs?"' in told


@pytest.mark.measured
def test_what_was_typed_for_something_else_is_no_answer(home: Path, work: Path) -> None:
    wait = asks("bash", command="echo begun; until test -e more; do sleep 0.05; done")
    with at_work(home, work, wait, EDIT, says("Done.")) as person:
        person.until("  begun")
        person.type("i")
        (work / "more").touch()
        until = time.monotonic() + 10
        while "may this run?" not in person.seen.text and time.monotonic() < until:
            person.type("y")  # somebody who types on
            person.look(0.05)
        person.type("yn")
        person.until("yes, once", "may this run?")  # still asked, once they paused
        person.type("n")
        assert person.end()[0] == 3
    assert "two" in (work / "a.txt").read_text("utf-8")
