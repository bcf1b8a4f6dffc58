"""However the input is cut, the same lines come out; one that is too long is told of once."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.surfaces.mcp import stdio
from holdfast.surfaces.mcp.messages import Fault


def _read(lines: stdio.Lines, chunks: list[bytes]) -> Iterator[bytes | Fault]:
    for chunk in chunks:
        yield from lines.cut(chunk)
    yield from lines.last()


@given(st.lists(st.binary(max_size=9)), st.lists(st.integers(0, 60)))
def test_the_same_lines_come_out_however_they_are_cut(parts: list[bytes], cuts: list[int]) -> None:
    text = b"\n".join(parts)
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    chunks = [text[start:end] for start, end in pairwise(edges)]
    expected = [line for line in text.split(b"\n") if line.strip()]
    assert list(_read(stdio.Lines(), chunks)) == expected


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_a_line_that_is_too_long_is_told_of_once(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(stdio, "MAX_MESSAGE_BYTES", 100)
    text = b"before\n" + b"x" * 350 + b"\nafter\n" + b"y" * 101
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    found = list(_read(stdio.Lines(), chunks))
    assert [one if isinstance(one, bytes) else None for one in found] == [
        b"before",
        None,
        b"after",
        None,
    ]
