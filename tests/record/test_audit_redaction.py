"""What is taken out of the audit log, and that nothing of it is left."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.record.audit_redaction import REDACTED, SHOWN_CHARACTERS, Redaction

FEW = st.text("abc-", max_size=12)
VALUES = st.lists(st.text("abc", min_size=1, max_size=4), max_size=4)


@pytest.mark.req("CLI-AUD-06")
@pytest.mark.parametrize(
    ("patterns", "values", "text", "shown"),
    [
        ("sk-[a-z0-9]+", [], "x sk-ab1 y sk-9", f"x {REDACTED} y {REDACTED}"),
        ("a(", [], "xa(y", f"x{REDACTED}y"),
        ("a.c", [], "abc a.c", f"{REDACTED} {REDACTED}"),
        ("one,two;three", [], "one two three", f"{REDACTED} {REDACTED} {REDACTED}"),
        (" one , two ", [], "one two", f"{REDACTED} {REDACTED}"),
        (",;, ;", [], "a b, c", "a b, c"),
        ("x*", [], "abc", "abc"),
        ("a{99999999999}", [], "a{99999999999}", REDACTED),
        ("[[a]", [], "a", REDACTED),
        ("", ["zz9"], "zz9zz9", REDACTED * 2),
        ("", ["a.c"], "abc a.c", f"abc {REDACTED}"),
        ("", [""], "abc", "abc"),
        ("", ["aba"], "ababa!", f"{REDACTED}!"),
        ("RED", ["secret"], "secret RED", f"{REDACTED} {REDACTED}"),
        ("cre[a-z]", ["secret"], "a secret", f"a {REDACTED}"),
    ],
)
def test_patterns_and_values_are_replaced(
    patterns: str, values: list[str], text: str, shown: str
) -> None:
    assert Redaction(patterns, values).text(text) == shown


@given(FEW, VALUES)
@example("aaa", ["aa"])
def test_no_value_is_left_in_what_is_shown(text: str, values: list[str]) -> None:
    kept = Redaction("", values).text(text).split(REDACTED)
    assert not any(value in part for part in kept for value in values)
    assert all(part in text for part in kept)


@given(st.text(max_size=40), st.text(max_size=20), VALUES)
def test_it_is_total_and_a_text_without_any_of_it_stays(
    text: str, patterns: str, values: list[str]
) -> None:
    redaction = Redaction(patterns, values)
    shown = redaction.text(text)
    if REDACTED not in shown:
        assert shown == text
    assert Redaction().text(text) == text


@given(FEW)
def test_patterns_find_what_python_finds(text: str) -> None:
    assert Redaction("a+b").text(text) == re.sub("a+b", REDACTED, text)


@given(
    before=st.integers(SHOWN_CHARACTERS - 30, SHOWN_CHARACTERS + 30),
    after=st.integers(1, 3 * SHOWN_CHARACTERS),
    by_value=st.booleans(),
)
def test_where_a_long_text_is_cut_no_part_of_a_secret_is_left(
    before: int, after: int, *, by_value: bool
) -> None:
    secret = "s3cr3t-" * 20
    redaction = Redaction("", [secret]) if by_value else Redaction("(?:s3cr3t-){20}")
    text = "x" * before + secret + "y" * after
    shown = redaction.text(text)
    assert "s3cr" not in shown
    assert len(shown) < SHOWN_CHARACTERS + 60
    omitted = re.search(r"… \[([\d,]+) characters omitted\]$", shown)
    assert omitted is not None
    kept = len(shown[: omitted.start()].replace(REDACTED, ""))
    hidden = len(secret) if REDACTED in shown else 0
    assert kept + hidden + int(omitted.group(1).replace(",", "")) == len(text)


def test_a_secret_longer_than_what_is_shown_is_found_whole() -> None:
    key = "k" * (3 * SHOWN_CHARACTERS)
    shown = Redaction("", [f"{key}!"]).text(f"a{key}!b")
    assert shown == f"a{REDACTED}… [1 characters omitted]"
