"""Columns as people count them, there and back, in every way servers count."""

import sys
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.execution.language_servers.positions import (
    PositionEncoding,
    column_at,
    lines_of,
    units_before,
)

encodings = st.sampled_from(get_args(PositionEncoding))
astral = st.sampled_from("aé中😀\U0001d4b3\U0010ffff\u0301")
lines = st.text(st.one_of(astral, st.characters(exclude_characters="\r\n")), max_size=30)
CODECS = {"utf-16": ("utf-16-le", 2), "utf-8": ("utf-8", 1), "utf-32": ("utf-32-le", 4)}


@given(lines, st.integers(1, 40), encodings)
def test_units_are_what_the_encoding_says(
    line: str, column: int, encoding: PositionEncoding
) -> None:
    codec, size = CODECS[encoding]
    before = line[: column - 1].encode(codec, "surrogatepass")
    assert units_before(line, column, encoding) == len(before) // size


@given(lines, st.integers(1, 40), encodings)
def test_a_column_comes_back_as_it_was(line: str, column: int, encoding: PositionEncoding) -> None:
    column = min(column, len(line) + 1)
    assert column_at(line, units_before(line, column, encoding), encoding) == column


@given(lines, st.integers(0, 200), encodings)
def test_every_number_of_units_is_a_column_of_the_line(
    line: str, units: int, encoding: PositionEncoding
) -> None:
    column = column_at(line, units, encoding)
    assert 1 <= column <= len(line) + 1
    assert units_before(line, column, encoding) <= units


@given(lines, st.integers(0, 200), encodings)
def test_a_column_is_that_of_the_first_character_that_does_not_fit(
    line: str, units: int, encoding: PositionEncoding
) -> None:
    fitting = [
        column
        for column in range(1, len(line) + 2)
        if units_before(line, column, encoding) <= units
    ]
    assert column_at(line, units, encoding) == max(fitting)


@pytest.mark.parametrize("encoding", get_args(PositionEncoding))
@pytest.mark.parametrize("sign", ["a", "中", "😀"])
def test_no_character_is_counted_by_itself(sign: str, encoding: PositionEncoding) -> None:
    line, calls = sign * 200_000, 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        units = units_before(line, 150_001, encoding)
        column = column_at(line, units, encoding)
    finally:
        sys.setprofile(before)
    assert column == 150_001
    assert calls < 300


def test_the_middle_of_a_character_is_that_character() -> None:
    assert column_at("a😀b", 2, "utf-16") == 2
    assert column_at("a😀b", 3, "utf-16") == 3
    assert column_at("a😀b", 3, "utf-8") == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [""]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\rc\n", ["a", "b", "c", ""]),
        ("a\x0cb", ["a\x0cb"]),
    ],
)
def test_lines_end_where_the_protocol_says(text: str, found: list[str]) -> None:
    assert lines_of(text) == found
