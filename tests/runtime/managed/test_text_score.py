"""The score of a text for a query: a sum whose parts are told, and that grows with the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.runtime.managed.text_score import (
    NO_HIT,
    STOP_WORDS,
    normal,
    query_of,
    score,
    snippet,
)

WORDS = st.lists(
    st.sampled_from(["till.py", "src/app", "run_all", "v2", "total", "the", "a", '"sum up"', "x"]),
    max_size=6,
).map(" ".join)


@pytest.mark.req("BOA-RETR-10")
@pytest.mark.parametrize(
    ("query", "text", "points", "reasons"),
    [
        ("total", "The total is 9.", 7, ("query:total", "term:total")),
        ("the total", "a total", 1, ("term:total",)),
        ("fix src/till.py", "src/till.py broke", 6, ("path:src/till.py", "term:src/till.py")),
        ("run_all v2", "v2 of run_all", 8, ("identifier:run_all", "identifier:v2", "term:run_all")),
        ('say "sum up" now', "to sum up", 6, ("phrase:sum up", "term:sum", "term:up")),
        ("say `sum up`", "SUM  UP, say", 7, ("phrase:sum up", "term:say", "term:sum")),
    ],
)
def test_every_part_that_a_text_holds_counts_once_and_is_told(
    query: str, text: str, points: int, reasons: tuple[str, ...]
) -> None:
    found = score(query_of(query), text)
    assert found.points == points
    assert set(reasons) <= set(found.reasons)


@pytest.mark.parametrize("query", ["", "  ", "?", '""'])
def test_a_query_without_anything_in_it_finds_nothing(query: str) -> None:
    assert score(query_of(query), "anything at all?") == NO_HIT


def test_words_that_every_text_holds_are_no_terms() -> None:
    assert len(STOP_WORDS) == 18
    assert query_of("the of and x to total").terms == ("total",)


def test_what_ends_a_sentence_makes_no_path_of_its_last_word() -> None:
    assert query_of("It is done. See till.py.").paths == ("till.py.",)
    assert query_of("It is done.").paths == ()


@given(WORDS, st.text(max_size=60), st.text(max_size=60))
def test_more_text_never_scores_less(query: str, text: str, more: str) -> None:
    wanted = query_of(query)
    assert score(wanted, f"{text}\n{more}").points >= score(wanted, text).points
    assert score(wanted, f"{more}\n{text}").points >= score(wanted, text).points


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_score_is_the_sum_of_what_is_told_and_zero_is_no_hit(query: str, text: str) -> None:
    found = score(query_of(query), text)
    worth = {"query": 6, "phrase": 4, "path": 5, "identifier": 3, "term": 1}
    assert found.points == sum(worth[one.partition(":")[0]] for one in found.reasons)


@given(WORDS.filter(bool))
def test_a_text_fits_itself(query: str) -> None:
    wanted = query_of(query)
    assert normal(query).replace('"', "") == wanted.whole
    assert f"query:{wanted.whole}" in score(wanted, wanted.whole).reasons


@given(st.text(max_size=400), st.text(min_size=1, max_size=10))
def test_a_snippet_is_one_short_line(text: str, query: str) -> None:
    said = snippet(query_of(query), text)
    assert len(said) <= 180
    assert "\n" not in said


def test_a_snippet_shows_what_was_searched_for() -> None:
    text = "x" * 500 + " the total is nine " + "y" * 500
    said = snippet(query_of("total"), text)
    assert "the total is nine" in said
    assert said.startswith("x" * 30)
