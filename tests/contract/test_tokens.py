"""Tokens are estimated by one rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.tokens import tokens_of


@pytest.mark.req("BOA-CTX-04")
@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 1), ("a", 1), ("abcd", 1), ("abcde", 2), ("a" * 8, 2), ("a" * 401, 101), ("äöüß€", 2)],
)
def test_four_characters_are_a_token_and_nothing_is_less_than_one(text: str, tokens: int) -> None:
    assert tokens_of(text) == tokens
    assert tokens_of(text.encode()) == tokens


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(one: str, other: str) -> None:
    assert tokens_of(one + other) >= tokens_of(one) >= 1
    assert tokens_of(one + other) <= tokens_of(one) + tokens_of(other)


def test_bytes_that_are_no_text_are_counted_all_the_same() -> None:
    assert tokens_of(b"\xff\xfe" * 8) >= 1
