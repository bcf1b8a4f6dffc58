"""What a program is given: what was sent, unless it could be read in two ways."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sources.manifest.sent import as_sent

WORDS = st.sampled_from(["a", "b", ":", "a:b", "\\", '"', "\n", "\\u003a", "ü", ""])
BLANKS = st.sampled_from(["", " ", "\n "])


@st.composite
def strings(draw: st.DrawFn) -> str:
    """A string as JSON may have it: any character may be escaped."""
    word = draw(WORDS)
    if draw(st.booleans()):
        return json.dumps(word)
    return '"' + "".join(f"\\u{ord(one):04{draw(st.sampled_from('xX'))}}" for one in word) + '"'


@st.composite
def objects(draw: st.DrawFn, inside: st.SearchStrategy[str]) -> str:
    blank = draw(BLANKS)
    pairs = draw(st.lists(st.tuples(strings(), inside), max_size=4))
    return "{" + f"{blank},".join(f"{key}{blank}:{value}" for key, value in pairs) + "}"


def arrays(inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(inside, max_size=3).map(lambda items: f"[{', '.join(items)}]")


PLAIN = strings() | st.sampled_from(["1", "-0.50", "1e3", "true", "null", "9" * 40])
VALUES = st.recursive(PLAIN, lambda inside: objects(inside) | arrays(inside), max_leaves=12)


def repeats(text: str | bytes) -> bool:
    found: list[bool] = []

    def look(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found.append(len(dict(pairs)) < len(pairs))
        return dict(pairs)

    json.loads(text, object_pairs_hook=look)
    return any(found)


@given(objects(VALUES), BLANKS, st.booleans())
def test_it_is_what_was_sent_wherever_no_key_is_there_twice(
    text: str, blank: str, encoded: bool
) -> None:
    sent = f"{blank}{text}{blank}"
    given_to_it = as_sent(sent.encode() if encoded else sent)
    assert json.loads(given_to_it) == json.loads(text)
    assert not repeats(given_to_it)
    if not repeats(text):
        assert given_to_it == text.encode()


@pytest.mark.parametrize(
    ("sent", "reached"),
    [
        ('{"path":"/etc","path":"."}', b'{"path":"."}'),
        ('{"a":[{"b":1,"b":2}]}', b'{"a":[{"b":2}]}'),
        ('{"a":1,"\\u0061":2}', b'{"a":2}'),
        ('{"a":1,"a":"\\u003a"}', b'{"a":":"}'),
        ('{"a":1,"a":"\\u003A"}', b'{"a":":"}'),
        ('{"a": "\\u003a", "n": 1}', b'{"a": "\\u003a", "n": 1}'),
        ('{"n":%s,"a":"\\u003c"}' % ("9" * 4300), b'{"n":%b,"a":"\\u003c"}' % (b"9" * 4300)),
        ('{"a": "x:y:z", "b": 1.50}', b'{"a": "x:y:z", "b": 1.50}'),
        (" ", b"{}"),
    ],
)
def test_a_repeated_key_reaches_no_program(sent: str, reached: bytes) -> None:
    assert as_sent(sent) == reached
