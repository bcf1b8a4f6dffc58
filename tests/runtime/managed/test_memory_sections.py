"""Marked sections of a text: ours are made anew, and not a byte of the rest is changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.runtime.managed.memory_sections import (
    LEARNINGS,
    NOTES,
    section,
    with_section,
    without_marks,
)

MARKS = [
    f"<!-- holdfast:{name}:{which} -->" for name in (NOTES, LEARNINGS) for which in ("begin", "end")
]
PIECES = st.sampled_from([*MARKS, "\n", "\r\n", " ", "x", "é", "# Ours", "<!-- holdfast:"])
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=14).map("".join)
FILES = TEXTS.map(str.encode) | st.binary(max_size=30)


def ours(file: bytes) -> bytes:
    """A file without its section of notes, as any reader would find it."""
    written = section(NOTES, "said").encode()
    assert file.count(written) == 1
    return file.replace(written, b"")


@given(FILES, TEXTS)
def test_a_section_that_is_put_in_place_again_changes_nothing(file: bytes, text: str) -> None:
    once = with_section(file, NOTES, text)
    assert with_section(once, NOTES, text) == once
    if text.strip():
        assert section(NOTES, text).encode() in once


@given(FILES)
def test_what_is_outside_of_a_section_stays_byte_for_byte(file: bytes) -> None:
    first = with_section(file, NOTES, "said")
    rest = ours(first)
    again = with_section(with_section(first, NOTES, "other"), NOTES, "said")
    assert (again, ours(again)) == (first, rest)
    if section(NOTES, "").encode()[:10] not in file:
        assert first.startswith(file)


@given(FILES.filter(lambda file: b"<!-- holdfast:" not in file), TEXTS, TEXTS)
def test_two_sections_do_not_touch_each_other(file: bytes, notes: str, learned: str) -> None:
    both = with_section(with_section(file, LEARNINGS, learned), NOTES, notes)
    assert both.startswith(file)
    assert with_section(both, LEARNINGS, learned) == both
    changed = with_section(both, NOTES, "quite other")
    if learned.strip():
        assert section(LEARNINGS, learned).encode() in changed


@pytest.mark.parametrize(
    ("file", "after"),
    [
        (b"", b"S\n"),
        (b"Ours.", b"Ours.\n\nS\n"),
        (b"Ours.\n", b"Ours.\n\nS\n"),
        (b"Ours.\n\n", b"Ours.\n\nS\n"),
        (b"Ours.\r\n\r\n", b"Ours.\r\n\r\nS\n"),
        (b"a\nB\nold\nE\nz\n", b"a\nS\nz\n"),
        (b"a\r\nB\r\nold\r\nE\r\nz\r\n", b"a\r\nS\r\nz\r\n"),
        (b"B\nE", b"S"),
        (b"B\nlost\nB\nold\nE\n", b"B\nlost\nS\n"),
        (b"E\nB\nold\nE\nE\n", b"E\nS\nE\n"),
        (b"B\nlost\n", b"B\nlost\n\nS\n"),
        (b"quoted B\nE\n", b"quoted B\nE\n\nS\n"),
    ],
)
def test_where_a_section_is_put(file: bytes, after: bytes) -> None:
    def spelled(text: bytes) -> bytes:
        begin, end = (f"<!-- holdfast:notes:{which} -->".encode() for which in ("begin", "end"))
        pieces = {b"B": begin, b"E": end, b"S": section(NOTES, "said").encode()}
        return b"".join(pieces.get(text[at : at + 1], text[at : at + 1]) for at in range(len(text)))

    assert with_section(spelled(file), NOTES, "said") == spelled(after)
    assert with_section(file, NOTES, " ") == file


def test_a_section_that_is_there_can_become_empty() -> None:
    file = with_section(b"Ours.\n", NOTES, "said")
    assert with_section(file, NOTES, "") == b"Ours.\n\n" + section(NOTES, "").encode() + b"\n"


@given(TEXTS)
def test_marks_are_left_out_and_nothing_else(text: str) -> None:
    left = without_marks(text)
    assert not [line for line in left.split("\n") if line.rstrip("\r") in MARKS]
    assert len(left) <= len(text)
    if not any(mark in text for mark in MARKS):
        assert left == text
