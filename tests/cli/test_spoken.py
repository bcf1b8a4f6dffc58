"""What an agent says at a terminal: Markdown as it was meant, whatever its length."""

import random

import pytest
from command import Terminal
from terminal_screen import TerminalScreen

from holdfast.surfaces.cli.paint import Paint
from holdfast.surfaces.cli.spoken import Spoken

LONG = "\n\n".join(
    [
        "# A plan",
        "It **reads** a file " + "word " * 200 + "at `last`.",
        "\n".join(f"{number}. Step **{number}**" for number in range(1, 40)),
        "```python\n" + "".join(f"line_{number} = {number}\n" for number in range(60)) + "```",
        "That is **all** of it. ✅",
    ]
)


def _pieces(text: str) -> list[str]:
    dice = random.Random(7)
    pieces: list[str] = []
    while text:
        size = dice.randint(1, 9)
        pieces.append(text[:size])
        text = text[size:]
    return pieces


@pytest.mark.parametrize(("columns", "height"), [(80, 24), (40, 20)])
@pytest.mark.parametrize("colour", ["", "1"])
def test_an_answer_of_many_screens_is_rendered_as_a_whole(
    columns: int, height: int, colour: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("LINES", str(height))
    monkeypatch.setenv("TERM", "xterm")
    out = Terminal()
    paint = Paint(out, {"NO_COLOR": colour})
    paint.line("before")
    spoken = Spoken(paint)
    for piece in _pieces(LONG):
        spoken.says(piece)
        rows = TerminalScreen(columns, height).write(out.getvalue()).lines
        assert rows[0] == "before"
    spoken.end()
    paint.line("behind")
    screen = TerminalScreen(columns, height).write(out.getvalue())
    told = "\n".join(screen.lines)
    assert not any(mark in told for mark in ("**", "```", "# A", "`last`"))
    assert "A plan" in told
    assert told.count("word") == 200
    assert [row.split() for row in screen.lines if "Step" in row] == [
        [str(number), "Step", str(number)] for number in range(1, 40)
    ]
    assert [row.strip() for row in screen.lines if "line_" in row] == [
        f"line_{number} = {number}" for number in range(60)
    ]
    assert screen.lines[-4:] == ["", "That is all of it. ✅", "behind", ""]


def test_thoughts_and_other_text_are_broken_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out = Terminal()
    spoken = Spoken(Paint(out, {}))
    thought = "considering " * 40
    for piece in _pieces(thought):
        spoken.says(piece, thinks=True)
    spoken.says("So be it.")
    spoken.end()
    rows = TerminalScreen(40, 20).write(out.getvalue()).lines
    assert {word for row in rows for word in row.split()} == {"considering", "So", "be", "it."}
    assert rows[-2:] == ["So be it.", ""]


def test_tags_are_text() -> None:
    out = Terminal()
    spoken = Spoken(Paint(out, {}))
    spoken.says("<div>\nkept\n</div>\n\nA <b>tag</b>.")
    spoken.end()
    told = "\n".join(TerminalScreen(80, 24).write(out.getvalue()).lines)
    assert "<div>" in told
    assert "A <b>tag</b>." in told


def test_without_a_terminal_it_is_told_as_it_was_written() -> None:
    out = Terminal()
    spoken = Spoken(Paint(out, {"TERM": "dumb"}))
    for piece in _pieces("**So** be it."):
        spoken.says(piece)
    spoken.end()
    spoken.end()
    assert out.getvalue() == "**So** be it.\n"
