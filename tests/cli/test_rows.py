"""Text in rows: broken between words, never wider than the screen, nothing lost."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.surfaces.cli.rows import rows_of, rows_of_line, width_at_most

TEXTS = st.text(st.characters(max_codepoint=0x2FFF, blacklist_characters="\t\r"), max_size=200)


@given(TEXTS, st.integers(20, 120))
def test_no_row_is_wider_than_the_screen_and_nothing_is_lost(text: str, columns: int) -> None:
    rows = rows_of(text, columns)
    assert all(width_at_most(row.rstrip(" ")) <= columns for row in rows)
    assert "".join("".join(rows).split()) == "".join(text.split())


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=19), max_size=40), st.integers(20, 60))
def test_words_that_fit_stay_whole(words: list[str], columns: int) -> None:
    rows = rows_of(" ".join(words), columns)
    assert [word for row in rows for word in row.split()] == words


@given(TEXTS, TEXTS, st.integers(20, 60))
def test_only_the_last_row_changes_when_a_text_goes_on(one: str, more: str, columns: int) -> None:
    before, after = rows_of(one, columns), rows_of(one + more, columns)
    assert [row.rstrip() for row in after[: len(before) - 1]] == [
        row.rstrip() for row in before[:-1]
    ]


def test_a_line_goes_on_further_in_and_long_words_are_broken() -> None:
    assert rows_of_line("  asks: one two three four", 20) == ["  asks: one two", "    three four"]
    assert rows_of("a" * 45, 20) == ["a" * 20, "a" * 20, "a" * 5]
    assert rows_of("a " + "b" * 25, 20) == ["a", "b" * 20, "b" * 5]
    assert rows_of("漢" * 11, 21) == ["漢" * 10, "漢"]
    assert rows_of("✅" * 11, 20) == ["✅" * 10, "✅"]  # one or two columns: two are counted
    assert rows_of("", 20) == [""]
    assert rows_of("a\n\nb\n", 20) == ["a", "", "b", ""]
