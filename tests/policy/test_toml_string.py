"""A text in a hint can be pasted into a rule file."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy.judge_kit import EVERYTHING, WRITER, action, judged, prepared
from policy.rules_kit import rule
from support import make_judge, make_tool

from holdfast.policy.globs import compile_glob, escaped
from holdfast.policy.toml_string import pattern_string, toml_string


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_is_read_back_from_toml(text: str) -> None:
    assert tomllib.loads(f"x = {toml_string(text)}\n") == {"x": text}


@given(st.text())
def test_a_pattern_that_is_read_back_still_fits(text: str) -> None:
    pattern = tomllib.loads(f"x = {pattern_string(escaped(text))}\n")["x"]
    assert compile_glob(pattern, "text")(text)


def test_usual_texts_stay_as_they_are_written() -> None:
    assert toml_string(r"rm \*.py") == r"'rm \*.py'"
    assert toml_string("it's") == '"it\'s"'
    assert toml_string("a\x7fb\n") == '"a\\u007fb\\n"'


@pytest.mark.parametrize("path", [r"it's a*b\c", "a\nb", "x\udcff", "plain"])
async def test_the_hint_of_an_explanation_is_a_rule_that_would_help(path: str) -> None:
    told = await make_judge().explain(prepared(WRITER, {"path": path}))
    (use,) = told.uses
    assert told.verdict == "ask"
    hint = (use.otherwise or "").removeprefix("A rule that fits exactly: ").removesuffix(".")
    written = tomllib.loads(f"rule = {{ {hint} }}")["rule"]
    helped = make_judge(rule(written["permission"], written["pattern"], written["action"]))
    assert action(judged(helped, WRITER, {"path": path})) == "allow"


async def test_a_tool_that_talks_to_a_person_is_denied_where_nobody_is_there() -> None:
    told = await make_judge(EVERYTHING).explain(prepared(make_tool(name="question")))
    assert (told.verdict, told.unattended) == ("allow", "deny")
