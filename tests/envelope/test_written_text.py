"""Text that somebody else wrote, and that may be JSON: no spelling of a secret stays in it."""

import json

import pytest
from envelope.secrets_kit import AWKWARD, strings_in
from hypothesis import given
from hypothesis import strategies as st

from holdfast.envelope.redact import REDACTED, Redactor


@st.composite
def spelt(draw: st.DrawFn, secret: str) -> str:
    """The secret in a JSON text, each character written in one of the ways JSON has."""
    written = "".join(
        "".join(f"\\u{unit:04x}" for unit in _units(one))
        if draw(st.booleans()) or one in '"\\' or ord(one) < 32
        else one
        for one in secret
    )
    return f'{{"{draw(st.sampled_from(["a", written]))}": ["x{written}y", 1.5, null]}}'


def _units(character: str) -> list[int]:
    encoded = character.encode("utf-16-be")
    return [int.from_bytes(encoded[at : at + 2], "big") for at in range(0, len(encoded), 2)]


def test_a_secret_that_begins_in_an_escape_is_taken_out_whole() -> None:
    text = '{"a": ["x\\u0034929123412341234y", 1]}'
    assert json.loads(text) == {"a": ["x4929123412341234y", 1]}
    clear = Redactor(["4929123412341234"]).written(text)
    assert json.loads(clear) == {"a": [f"x{REDACTED}y", 1]}


@given(st.data(), st.sampled_from(sorted(AWKWARD)), st.booleans())
def test_a_text_that_somebody_wrote_says_no_secret_in_any_spelling(
    data: st.DataObject, name: str, within: bool
) -> None:
    secret = AWKWARD[name]
    text = data.draw(spelt(secret))
    clear = Redactor([secret]).written(json.dumps(text) if within else text)
    said = json.loads(clear)
    assert all(secret not in one for one in strings_in(json.loads(said) if within else said))
    assert REDACTED in clear


@pytest.mark.parametrize(
    "text", ['{"a": "\\u0065"}', "[" * 5000 + '"\\u0065"', "no JSON: \\u0065", '{"a": 1}', ""]
)
def test_a_text_without_secrets_stays_as_it_was_written(text: str) -> None:
    assert Redactor(["hunter2-hunter2"]).written(text) == text
