"""Where answers go and how they look: plain for machines, rich for people, steered by nobody."""

import io
import json
import re

import pytest
from command import Terminal
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.json_value import JsonValue
from holdfast.surfaces.cli.layout import laid_out
from holdfast.surfaces.cli.looks import PlainLook, printable
from holdfast.surfaces.cli.paint import Paint
from holdfast.surfaces.cli.screen import Screen, one_line

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def test_a_pipe_gets_the_plain_look_and_raw_text() -> None:
    out = io.StringIO()
    screen = Screen(out, io.StringIO())
    assert isinstance(screen.look, PlainLook)
    screen.raw("a\x1b[2J")
    assert out.getvalue() == "a\x1b[2J\n"


def test_a_terminal_gets_nothing_that_steers_it() -> None:
    out = Terminal()
    Screen(out, out).raw("a\x1b[2J\u202eb\x9b")
    assert out.getvalue() == "a\\u001b[2J\\u202eb\\u009b\n"


@pytest.mark.parametrize(
    ("variable", "value", "is_coloured"),
    [
        ("NO_COLOR", "1", False),
        ("NO_COLOR", "", True),
        ("CLICOLOR", "0", False),
        ("CLICOLOR", "1", True),
    ],
)
def test_who_refuses_colours_gets_none(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, is_coloured: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "CLICOLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, value)
    shown, lines = Terminal(), Terminal()
    Screen(shown, shown).look.json('{"a": 1}')
    Paint(lines).line("It failed.", "bad")
    for out in (shown, lines):
        assert bool(re.search(r"\x1b\[[0-9;]*3[0-7]", out.getvalue())) is is_coloured


def test_remarks_are_one_line_each() -> None:
    err = io.StringIO()
    Screen(io.StringIO(), err).remark("several\n lines\tand \x1b")
    assert err.getvalue() == "holdfast: several lines and \\u001b\n"


@given(_JSON)
def test_making_json_printable_keeps_its_meaning(value: JsonValue) -> None:
    shown = printable(json.dumps(value, ensure_ascii=False))
    assert json.loads(shown) == value


@given(_JSON, st.integers(1, 120))
def test_laying_out_json_keeps_its_meaning(value: JsonValue, width: int) -> None:
    assert json.loads(laid_out(value, width)) == value


@given(st.text())
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
