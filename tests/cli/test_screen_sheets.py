"""What lies over the timeline while a person is wanted: an answer by keys, and by no accident."""

import msgspec
import pytest
from cli.board_stories import ASKED, PEACE, RED, ask_of

from holdfast.contract.person import PersonQuestion
from holdfast.surfaces.cli.asking import answer_in
from holdfast.surfaces.cli.full_screen.approval_sheet import ApprovalSheet, choices_of
from holdfast.surfaces.cli.full_screen.board import Board
from holdfast.surfaces.cli.full_screen.form_sheet import FormSheet
from holdfast.surfaces.cli.full_screen.keys import Key
from holdfast.surfaces.cli.full_screen.layout import Facts
from holdfast.surfaces.cli.full_screen.sheets import PAUSE_SECONDS, Pause, Seen


def _rows(seen: Seen) -> list[str]:
    return ["".join(one.text for one in row) for row in seen.rows]


def test_every_answer_that_is_offered_means_what_it_says() -> None:
    ask = ask_of(offers=("once", "session", "project"), wider=("git *",))
    meant = {one.key: answer_in(one.line) for one in choices_of(ask)}
    told = {
        key: (one.allowed, one.remember, one.wider) for key, one in meant.items() if one is not None
    }
    assert told == {
        "y": (True, "once", False),
        "s": (True, "session", False),
        "p": (True, "project", False),
        "S": (True, "session", True),
        "P": (True, "project", True),
        "n": (False, "once", False),
        "r": (False, "once", False),
        "x": (False, "session", False),
    }
    assert [one.key for one in choices_of(ask_of())] == ["y", "n", "r"]


def test_a_long_change_is_gone_through_and_answered() -> None:
    sheet = ApprovalSheet(ask_of(), ASKED, PEACE)
    first = _rows(sheet.seen(80, 30, 1.0))
    assert first[1:4] == ["coder asks", "* write a.txt", "asks: R"]
    assert "+line 0" in "\n".join(first)
    assert "of 63 · PageUp and PageDown" in "\n".join(first)
    for _ in range(9):
        sheet.press(Key("page-down"), 1.0)
        sheet.seen(80, 30, 1.0)
    assert "+line 59" in "\n".join(_rows(sheet.seen(80, 30, 1.0)))
    sheet.press(Key("page-up"), 1.0)
    assert "+line 59" not in "\n".join(_rows(sheet.seen(80, 30, 1.0)))
    sheet.press(Key("enter"), 1.0)  # at none of them yet
    sheet.press(Key("text", "z"), 1.0)
    assert not sheet.is_done
    for name in ("up", "up", "enter"):
        sheet.press(Key(name), 1.0)
    assert sheet.line == "n"


def test_words_for_the_model_are_typed_and_left() -> None:
    sheet = ApprovalSheet(ask_of(), ASKED, PEACE)
    sheet.press(Key("text", "r"), 1.0)
    sheet.press(Key("enter"), 1.0)
    assert not sheet.is_done
    sheet.press(Key("text", "y"), 1.0)
    seen = sheet.seen(60, 20, 1.0)
    assert seen.cursor == (len(seen.rows) - 2, 5)
    sheet.press(Key("escape"), 1.0)
    assert not sheet.is_done
    sheet.press(Key("text", "r"), 1.0)
    sheet.press(Key("paste", "not\nthat one"), 1.0)
    sheet.press(Key("enter"), 1.0)
    assert sheet.line == "n: not that one"


def test_nobody_says_yes_to_what_has_no_room_to_be_seen() -> None:
    sheet = ApprovalSheet(ask_of(), ASKED, PEACE)
    assert _rows(sheet.seen(80, 1, 1.0)) == ["enlarge the window to see the call"]
    for key in (Key("text", "y"), Key("down"), Key("enter")):
        sheet.press(key, 1.0)
    assert not sheet.is_done
    sheet.seen(80, 20, 1.0)
    sheet.press(Key("text", "y"), 1.0)
    assert sheet.line == "y"
    refused = ApprovalSheet(ask_of(), ASKED, PEACE)
    refused.seen(80, 1, 1.0)
    refused.press(Key("text", "n"), 1.0)
    assert refused.line == "n"


def test_nobody_answers_by_what_they_type_for_something_else() -> None:
    board = Board(Facts(), 0.0)
    board.press(Key("text", "i"), 10.0)
    sheet = ApprovalSheet(ask_of(), ASKED, board.pause(10.2))
    sheet.press(Key("text", "y"), 10.3)
    assert "pause, then answer" in "\n".join(_rows(sheet.seen(80, 40, 10.3)))
    sheet.press(Key("text", "y"), 10.3 + PAUSE_SECONDS - 0.1)
    assert not sheet.is_done
    sheet.press(Key("text", "y"), 10.2 + 2 * PAUSE_SECONDS + 0.1)
    assert sheet.line == "y"


@pytest.mark.parametrize(
    ("question", "keys", "answer"),
    [
        (RED, ["enter"], ("Red",)),
        (RED, ["2"], ("Blue",)),
        (RED, ["up", "up", "enter"], ("Blue",)),
        (RED, ["G", "r", "y", "backspace", "enter"], ("Gr",)),
        (msgspec.structs.replace(RED, multi_select=True), ["1", "2", "enter"], ("Red", "Blue")),
        (msgspec.structs.replace(RED, multi_select=True), ["2", " ", "enter"], ("Blue",)),
        (
            msgspec.structs.replace(RED, multi_select=True),
            [" ", "up", "x", "enter"],
            ("Red", "x"),
        ),
        (PersonQuestion(question="Name?"), ["enter", "A", "2", "enter"], ("A2",)),
    ],
)
def test_a_question_is_answered(
    question: PersonQuestion, keys: list[str], answer: tuple[str, ...]
) -> None:
    form = FormSheet((question,), PEACE)
    for key in keys:
        assert not form.is_done
        form.press(Key("text", key) if len(key) == 1 else Key(key), 1.0)
    assert form.answers == (answer,)
    assert form.is_done


def test_questions_can_be_skipped_and_are_shown_by_their_number() -> None:
    form = FormSheet((RED, PersonQuestion(question="Name?")), PEACE)
    assert "question 1 of 2" in _rows(form.seen(60, 20, 1.0))[0]
    form.press(Key("text", "1"), 1.0)
    form.press(Key("paste", "Ada"), 1.0)
    assert form.seen(60, 20, 1.0).cursor is not None
    form.press(Key("ctrl-d"), 1.0)  # a line that is not empty loses a character, or none
    assert not form.is_done
    form.press(Key("ctrl-u"), 1.0)
    form.press(Key("ctrl-d"), 1.0)
    assert (form.is_done, form.answers) == (True, None)
    assert "pause" in "\n".join(_rows(FormSheet((RED,), Pause(9.0, 9.0)).seen(60, 9, 9.1)))
