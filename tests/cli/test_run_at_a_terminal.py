"""A person at a terminal watches an agent: they are asked in place, and Ctrl-C has its steps."""

from pathlib import Path

import pytest
from agent_scripts import Typed, asks, at_a_terminal, says, script

ASKS_ABOUT_EDITS = (
    "--set",
    "profile.code.rules=[{permission='edit',pattern='*',action='ask',reason='Ask Ada'}]",
)
EDIT = asks("edit", path="a.txt", old_string="two", new_string="2")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\nthree\n", "utf-8")
    return folder


@pytest.mark.measured
def test_an_edit_is_shown_before_it_is_asked_for(home: Path, work: Path) -> None:
    model = script(work.parent, EDIT, says("# Done\n\nIt is `2`."))
    seen = at_a_terminal(
        *("run", "x", "--workspace", str(work), "--model", model, *ASKS_ABOUT_EDITS),
        home=home,
        typed=[Typed("[y/N]", "y\n")],
    )
    assert seen.status == 0
    before = seen.shown.partition("Run it? [y/N]")[0]
    for part in ("   one", "  -two", "  +2", "   three", "y = once"):
        assert part in before
    assert before.count("a.txt") == 1 + before.count("'a.txt'")  # the call, and why it is asked
    assert ": Ask Ada." in before
    assert "old_string" not in before  # the lines tell it
    after = seen.shown.partition("Run it? [y/N]")[2]
    assert "-two" not in after  # it was shown, and is not again
    assert (work / "a.txt").read_text("utf-8") == "one\n2\nthree\n"
    assert "Done" in seen.shown.rpartition("# Done")[2]  # as it was meant to look


@pytest.mark.parametrize("view", [(), ("--screen",)])
def test_no_secret_of_a_file_is_shown_beside_its_change(
    view: tuple[str, ...], home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "hunter2-hunter2"
    monkeypatch.setenv("PROBE_TOKEN", secret)
    (work / "a.txt").write_text(f"key = {secret}\ntwo\nthree\n", "utf-8")
    model = script(work.parent, EDIT, says("Done."))
    at_the_question = Typed("yes, once" if view else "[y/N]", "y" if view else "y\n")
    seen = at_a_terminal(
        *("run", "x", *view, "--workspace", str(work), "--model", model, *ASKS_ABOUT_EDITS),
        home=home,
        typed=[at_the_question],
    )
    assert "key = ***REDACTED***" in seen.shown
    assert "hunter2" not in seen.shown
    assert (work / "a.txt").read_text("utf-8") == f"key = {secret}\n2\nthree\n"


@pytest.mark.parametrize(
    "view", [pytest.param((), marks=pytest.mark.measured), ("--quiet",), ("--json",)]
)
def test_a_refusal_ends_the_run_and_words_go_on_with_it(
    view: tuple[str, ...], home: Path, work: Path
) -> None:
    model = script(work.parent, EDIT, says("Then not."))
    common = ("run", "x", *view, "--workspace", str(work), "--model", model, *ASKS_ABOUT_EDITS)
    seen = at_a_terminal(*common, home=home, typed=[Typed("[y/N]", "n\n")])
    assert seen.status == 3
    assert "  -two" in seen.shown
    assert "say what to do instead with: holdfast resume ses_" in seen.shown
    seen = at_a_terminal(*common, home=home, typed=[Typed("[y/N]", "n: leave it\n")])
    assert (seen.status, "Then not." in seen.shown) == (0, True)
    assert "two" in (work / "a.txt").read_text("utf-8")


@pytest.mark.measured
def test_what_a_tool_asks_is_asked_here(home: Path, work: Path) -> None:
    question = {"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]}
    model = script(work.parent, asks("question", questions=[question]), says("Thanks."))
    seen = at_a_terminal(
        *("run", "x", "--workspace", str(work), "--model", model),
        home=home,
        typed=[Typed("> ", "2\n")],
    )
    assert seen.status == 0
    assert "Which colour?" in seen.shown
    assert "Blue" in seen.shown.rpartition("words of your own")[2]


@pytest.mark.measured
def test_the_first_interrupt_stops_the_call_and_the_agent_goes_on(home: Path, work: Path) -> None:
    model = script(work.parent, asks("bash", command="echo begun; sleep 30"), says("On I go."))
    seen = at_a_terminal(
        *("run", "x", "--workspace", str(work), "--model", model),
        home=home,
        typed=[Typed("bash: begun", "\x03")],
    )
    assert seen.status == 0
    assert "stopping the call" in seen.shown
    assert "was cancelled" in seen.shown
    assert "On I go." in seen.shown


def test_a_second_interrupt_stops_the_run_and_says_how_to_go_on(home: Path, work: Path) -> None:
    model = script(work.parent, asks("bash", command="echo begun; sleep 30"), {"seconds": 30})
    seen = at_a_terminal(
        *("run", "x", "--workspace", str(work), "--model", model),
        home=home,
        typed=[Typed("bash: begun", "\x03"), Typed("stopping the call", "\x03")],
    )
    assert seen.status == 130
    assert "stopping the run" in seen.shown
    assert "nothing is lost; go on with: holdfast resume ses_" in seen.shown


def test_without_a_call_the_first_interrupt_stops_the_run(home: Path, work: Path) -> None:
    model = script(work.parent, {"seconds": 30, "text": "late"})
    seen = at_a_terminal(
        *("run", "x", "--workspace", str(work), "--model", model),
        home=home,
        typed=[Typed("thinks", "\x03")],
    )
    assert (seen.status, "stopping the run" in seen.shown) == (130, True)


def test_an_interrupt_while_asked_takes_the_question_back(home: Path, work: Path) -> None:
    model = script(work.parent, EDIT, says("On I go."))
    seen = at_a_terminal(
        *("run", "x", "--workspace", str(work), "--model", model, *ASKS_ABOUT_EDITS),
        home=home,
        typed=[Typed("[y/N]", "\x03")],
    )
    assert "On I go." in seen.shown or seen.status == 130
    assert "two" in (work / "a.txt").read_text("utf-8")
