"""Tables on a narrow screen: a row is a line."""

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cli.stored_sessions import TALK, appended, made
from command import Cli, Terminal
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract import events
from holdfast.surfaces.cli.narrow import end_cut, middle_cut, narrowed, short_time

STYLES = re.compile("\x1b\\[[0-9;]*m")
NAME = "ses_d0f168158a80fwKLTDqFuZ0m6"
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def on_a_terminal(cli: Cli, columns: int, *words: str) -> list[str]:
    out = Terminal()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("COLUMNS", str(columns))
        patched.setattr(sys, "stdout", out)
        assert cli(*words).status == 0
    plain = STYLES.sub("", out.getvalue())
    return [line.rstrip() for line in plain.splitlines() if line.strip()]


@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("words", [("sessions",), ("sessions", "events", "last")])
def test_a_row_is_a_line(
    cli: Cli,
    home: Path,
    columns: int,
    words: tuple[str, ...],
) -> None:
    for number in range(5):
        made(home, f"{NAME}{number}", TALK)
    appended(home, f"{NAME}4", events.UserMessage(message="long " * 40))
    lines = on_a_terminal(cli, columns, *words)
    rows = 5 if words == ("sessions",) else 6
    assert len(lines) == rows + 2  # the headings, and the line below them
    assert all(len(line) <= columns for line in lines)


def test_at_80_columns_the_id_the_status_and_the_title_are_there(cli: Cli, home: Path) -> None:
    made(home, f"{NAME}1")
    heading, _, row = on_a_terminal(cli, 80, "sessions")
    assert [heading.split()[0], *heading.split()[-3:]] == ["SESSION", "STATUS", "ACTIVE", "TITLE"]
    assert row.split()[0] == f"{NAME}1"
    assert "retrying" in row
    assert "Fix the" in row


@pytest.mark.parametrize("columns", [60, 80, 100, 120, 160, 300])
def test_a_decision_is_a_line_that_says_when_what_and_who(
    cli: Cli, home: Path, columns: int
) -> None:
    tools = ("add", "a_tool_with_a_very_long_name_indeed")
    for number, tool in enumerate(tools):
        call_id = f"cal_{NAME}{number}"
        asked = events.CallAsked(
            call_id=call_id, tool=tool, arguments='{"path": "%s"}' % ("x" * 90)
        )
        said = f"allowed by the project rule {tool} '*' (~/.config/holdfast/policy.toml:12)"
        ran = events.CallIntended(
            call_id=call_id, tool=tool, arguments_hash="ab" * 32, grounds=said
        )
        made(home, f"{NAME}{number}", [events.SessionCreated(), asked, ran])
    lines = on_a_terminal(cli, columns, "audit", "decisions")
    assert len(lines) == 2 + len(tools)
    assert all(len(line) <= columns for line in lines)
    heading, _, row, _ = lines
    assert [word for word in heading.split() if word in {"TIME", "TOOL", "DECISION", "BY"}] == [
        *("TIME", "TOOL", "DECISION", "BY"),
    ]
    assert heading.endswith("ARGUMENTS")
    assert re.search(r"\d\d:\d\d:\d\d +.*add +allowed +project.+\{\"path\"", row)
    assert (f"{NAME}0" in row) is (columns >= 160)
    assert (f"cal_{NAME}0" in row) is (columns >= 300)


def test_what_is_followed_is_cut_to_the_screen(cli: Cli, home: Path) -> None:
    made(home, "ses_1", [*TALK, events.SessionClosed(reason="done")])
    lines = on_a_terminal(cli, 80, "sessions", "events", "last", "--follow")
    assert len(lines) == 6
    assert max(map(len, lines)) == 80
    whole = on_a_terminal(cli, 80, "sessions", "events", "last", "--follow", "--full")
    assert max(map(len, whole)) > 80


cells = st.text(st.characters(codec="ascii", exclude_categories=["C"]), max_size=60)


@given(st.lists(st.tuples(cells, cells, cells), max_size=5), st.integers(30, 120))
def test_what_is_narrowed_fits(rows: list[tuple[str, ...]], width: int) -> None:
    headings, shown = narrowed(("A", "B", "C"), rows, width, ("B",))
    lines = [headings, *shown]
    columns = range(len(headings))
    taken = sum(max(len(line[at]) for line in lines) for at in columns)
    assert taken + 3 * (len(headings) - 1) + 2 <= width
    assert len(shown) == len(rows)
    assert narrowed(("A", "B", "C"), rows, None, ("B",)) == (("A", "B", "C"), rows)


@given(cells, st.integers(3, 70))
def test_what_is_cut_has_its_ends(text: str, characters: int) -> None:
    for cut in (end_cut(text, characters), middle_cut(text, characters)):
        assert len(cut) == min(len(text), characters)
        assert cut == text or (cut[0] == text[0] and "…" in cut)
    assert text == "" or middle_cut(text, characters)[-1] == text[-1]


def test_times_are_as_short_as_they_can_be() -> None:
    assert short_time(NOW.replace(hour=3), NOW) == "03:00:00"
    assert short_time(NOW.replace(day=3), NOW) == "03-03 12:00"
    assert short_time(NOW.replace(year=2025), NOW) == "2025-03-04"
