"""Cutting text: exact at its bounds, never through the middle of a character."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import make_tool, settle

import holdfast
from holdfast.contract.runtime import Runtime
from holdfast.contract.truncate import (
    CUT_MARK,
    DEFAULT_MODEL_CHARACTERS,
    cut_text,
    cut_utf8,
    tail_utf8,
    truncate_for_model,
)


@pytest.mark.req("OSA-RES-12")
async def test_any_tool_author_can_cut_text_for_the_model() -> None:
    def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        return holdfast.truncate_for_model("x" * 100_000, 10)

    assert holdfast.truncate_for_model is truncate_for_model
    envelope = await settle(make_tool(body))
    assert envelope.result == {
        "text": "xxxx\n... [TRUNCATED: 99990 of 100000 chars omitted] ...\nxxxxxx"
    }


def test_a_text_of_exactly_the_cap_is_untouched_and_one_more_is_cut() -> None:
    text = "a" * 4 + "b" * 6
    assert truncate_for_model(text, 10) == text
    assert truncate_for_model("A" + text, 10) == (
        "Aaaa\n... [TRUNCATED: 1 of 11 chars omitted] ...\nbbbbbb"
    )


def test_a_hint_stands_in_the_marker() -> None:
    cut = truncate_for_model("abc", 0, hint="; use offset")
    assert cut == "\n... [TRUNCATED: 3 of 3 chars omitted; use offset] ...\n"


@pytest.mark.req("OSA-RES-11")
def test_the_usual_cap_is_fifty_thousand_characters_of_head_and_tail() -> None:
    assert DEFAULT_MODEL_CHARACTERS == 50_000
    assert truncate_for_model("x" * 50_000) == "x" * 50_000
    cut = truncate_for_model("a" * 30_000 + "ö" + "b" * 40_000)
    head, marker, tail = cut.partition("\n... [TRUNCATED: 20001 of 70001 chars omitted] ...\n")
    assert marker
    assert (head, tail) == ("a" * 20_000, "b" * 30_000)


def test_a_negative_cap_is_an_error() -> None:
    with pytest.raises(ValueError, match="negative"):
        truncate_for_model("abc", -1)


@given(st.text(max_size=60), st.integers(0, 70))
def test_beginning_and_end_are_kept_and_the_middle_is_counted(text: str, cap: int) -> None:
    cut = truncate_for_model(text, cap)
    if len(text) <= cap:
        assert cut == text
        return
    head = cap * 2 // 5
    tail = cap - head
    marker = f"\n... [TRUNCATED: {len(text) - cap} of {len(text)} chars omitted] ...\n"
    assert cut == text[:head] + marker + text[len(text) - tail :]
    assert len(cut) == cap + len(marker)


@given(st.text(max_size=30), st.integers(-3, 130))
def test_the_longest_beginning_ends_on_a_character(text: str, limit: int) -> None:
    content = text.encode()
    found = cut_utf8(content, limit)
    assert content.startswith(found)
    assert len(found) <= max(limit, 0)
    kept = found.decode()
    if len(kept) < len(text):
        assert len(found) + len(text[len(kept)].encode()) > limit


@given(st.text(max_size=30), st.integers(-3, 130))
def test_the_longest_end_begins_on_a_character(text: str, limit: int) -> None:
    content = text.encode()
    found = tail_utf8(content, limit)
    assert content.endswith(found)
    assert len(found) <= max(limit, 0)
    kept = found.decode()
    if len(kept) < len(text):
        assert len(found) + len(text[len(text) - len(kept) - 1].encode()) > limit


@given(st.text(max_size=30), st.integers(0, 60), st.integers(0, 60))
def test_beginning_and_end_never_overlap_when_the_limits_do_not(
    text: str, first: int, last: int
) -> None:
    content = text.encode()
    if first + last <= len(content):
        head, tail = cut_utf8(content, first), tail_utf8(content, last)
        assert content[: len(head)] == head
        assert len(head) + len(tail) <= len(content)


@given(st.binary(max_size=40), st.integers(-3, 45))
def test_bytes_that_are_no_text_are_cut_without_an_error(content: bytes, limit: int) -> None:
    assert content.startswith(cut_utf8(content, limit))
    assert content.endswith(tail_utf8(content, limit))
    assert len(cut_utf8(content, limit)) <= max(limit, 0)
    assert len(tail_utf8(content, limit)) <= max(limit, 0)


@given(st.text(), st.integers(0, 50))
def test_a_text_that_is_cut_fits_and_says_so(text: str, most: int) -> None:
    shown = cut_text(text, most)
    assert len(shown) <= most
    if len(text) <= most:
        assert shown == text
    elif most:
        assert shown == text[: most - 1] + CUT_MARK
    else:
        assert shown == ""
