"""`key=value` words: text stays text, `:=` is JSON, and anything else is a usage error."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.surfaces.cli.pairs import arguments_from
from holdfast.surfaces.cli.parsing import UsageError

_KEYS = st.text(st.characters(exclude_characters="=:"), min_size=1, max_size=8)
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("n=5", {"n": "5"}),
        ("n:=5", {"n": 5}),
        ("n=", {"n": ""}),
        ("n=a=b", {"n": "a=b"}),
        ("n==b", {"n": "=b"}),
        ("n=:=5", {"n": ":=5"}),
        ("a b=c", {"a b": "c"}),
        ('tags:=["a", "b"]', {"tags": ["a", "b"]}),
        ("n:=null", {"n": None}),
    ],
)
def test_a_word_is_read_as_key_and_value(word: str, expected: dict[str, object]) -> None:
    assert arguments_from([word]) == expected


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["n"], "'n' is not an argument; write key=value, or key:=JSON"),
        (["=5"], "'=5' is not an argument"),
        ([":=5"], "':=5' is not an argument"),
        (
            ["n:=five"],
            """'n:=five': what follows := is not JSON; for a text write n=five or n:='"five"'""",
        ),
        (["n:=it's"], """for a text write 'n=it'"'"'s' or n:='"it'"'"'s"'"""),
        (["n:=[1,"], "what follows := is not JSON (Input data was truncated); correct it, or send"),
        (["n:=" + "[" * 5_000], "what follows := is not JSON"),
        (["n=1", "n=2"], "'n' is given twice; give a list as n:="),
    ],
)
def test_anything_else_is_a_usage_error(words: list[str], problem: str) -> None:
    with pytest.raises(UsageError) as raised:
        arguments_from(words)
    assert problem in str(raised.value)


@given(st.dictionaries(_KEYS, st.text()))
def test_every_text_arrives_as_it_was_typed(pairs: dict[str, str]) -> None:
    assert arguments_from(f"{key}={value}" for key, value in pairs.items()) == pairs


@given(st.dictionaries(_KEYS, _JSON, max_size=5))
def test_every_json_value_arrives_as_it_was_written(pairs: dict[str, object]) -> None:
    words = [f"{key}:={json.dumps(value)}" for key, value in pairs.items()]
    assert arguments_from(words) == pairs


@given(st.lists(st.text()))
def test_whatever_is_typed_is_understood_or_a_usage_error(words: list[str]) -> None:
    with suppress(UsageError):
        assert len(arguments_from(words)) == len(words)
