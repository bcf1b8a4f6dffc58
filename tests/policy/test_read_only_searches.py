"""A search by grep or ripgrep becomes our grep where the two read the pattern alike."""

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.contract.json_value import JsonObject
from holdfast.policy.read_only import Alternatives, Suggestion, alternatives


def _preferred(command: str, cwd: str = "/workspace") -> Suggestion | None:
    return alternatives(command, cwd).preferred


@pytest.mark.req("BOA-CLS-13", "BOA-CLS-15", "BOA-CLS-26")
@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("grep TODO src", {"path": "/w/src", "pattern": "TODO"}),
        ("grep TODO", {"path": "/w", "pattern": "TODO"}),
        ("grep -rn TODO src", {"path": "/w/src", "pattern": "TODO"}),
        ("grep -R -n TODO .", {"path": "/w", "pattern": "TODO"}),
        ("grep -i todo a.md", {"path": "/w/a.md", "pattern": "todo", "case_sensitive": False}),
        ("grep -inr todo", {"path": "/w", "pattern": "todo", "case_sensitive": False}),
        ("grep -F 'a.b' src", {"path": "/w/src", "pattern": "a.b", "regex": False}),
        (
            "grep -Fi '(' s",
            {"path": "/w/s", "pattern": "(", "regex": False, "case_sensitive": False},
        ),
        ("grep 'two words' src", {"path": "/w/src", "pattern": "two words"}),
    ],
)
def test_a_search_by_grep_says_case_and_kind_of_pattern(command: str, args: JsonObject) -> None:
    said: JsonObject = {"case_sensitive": True, "regex": True}
    assert _preferred(command, "/w") == Suggestion("grep", {**said, **args})


@pytest.mark.req("BOA-CLS-14", "BOA-CLS-15", "BOA-CLS-26")
@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("rg TODO", {"path": "/w", "pattern": "TODO"}),
        ("rg -n TODO src", {"path": "/w/src", "pattern": "TODO"}),
        ("rg -ni todo src", {"path": "/w/src", "pattern": "todo", "case_sensitive": False}),
        ("rg 'a+b?|^c$' src", {"path": "/w/src", "pattern": "a+b?|^c$"}),
    ],
)
def test_a_search_by_ripgrep_is_limited(command: str, args: JsonObject) -> None:
    said: JsonObject = {"case_sensitive": True, "regex": True, "limit": 40}
    assert _preferred(command, "/w") == Suggestion("grep", {**said, **args})


@pytest.mark.req("BOA-CLS-13", "BOA-CLS-14")
@pytest.mark.parametrize(
    "command",
    [
        "grep",
        "grep -n",
        "grep ''",
        "grep TODO a b",
        "grep TODO src -n",
        "grep TODO -",
        "grep TODO ''",
        "grep -- TODO src",
        "grep --ignore-case TODO src",
        *(f"grep -{flag} TODO src" for flag in "vlLcowxEPehHsqz"),
        "grep -nv TODO src",
        "grep -f /etc/shadow src",
        "grep -A 3 TODO src",
        "rg --files",
        *(f"rg -{flag} TODO src" for flag in "FvlSUzPrR"),
        "rg --pre sh TODO",
        "rg TODO a b",
    ],
)
def test_another_search_yields_nothing(command: str) -> None:
    assert alternatives(command) == Alternatives()


@pytest.mark.req("BOA-CLS-27")
@pytest.mark.parametrize(
    ("pattern", "by_grep", "by_rg"),
    [
        ("a.*b", True, True),
        ("^a", True, True),
        ("a$", True, True),
        ("[0-9]*x", True, True),
        ("[^abc]", True, True),
        ("a+", False, True),
        ("a?b", False, True),
        ("a|b", False, True),
        ("f(x)", False, False),
        ("a{2}", False, False),
        ("*a", False, False),
        ("a**", False, False),
        ("a^b", False, False),
        ("a$b", False, False),
        ("[[:alpha:]]", False, False),
        ("[a-", False, False),
        ("a]", False, False),
        ("a|", False, False),
        ("a+?", False, False),
        ("(?i)a", False, False),
    ],
)
def test_a_pattern_is_a_regex_where_the_dialects_agree_and_refused_elsewhere(
    pattern: str, by_grep: bool, by_rg: bool
) -> None:
    for program, agreed in (("grep", by_grep), ("rg", by_rg)):
        offer = _preferred(f"{program} '{pattern}' src")
        assert (offer is not None) is agreed
        if offer is not None:
            assert (offer.args["pattern"], offer.args["regex"]) == (pattern, True)
    literal = _preferred(f"grep -F '{pattern}' src")
    assert literal is not None
    assert (literal.args["pattern"], literal.args["regex"]) == (pattern, False)


LINES = ["", "a", "b", "ab", "aab", "a.b", "axb", "a+b", "a|b", "a(b)", "a{2}", "a^", "$b", "[a]"]


@pytest.mark.req("BOA-CLS-27")
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(pattern=st.text("ab.*^$[]+?(){}|2-", min_size=1, max_size=6))
def test_grep_itself_finds_the_lines_the_offered_pattern_finds(
    pattern: str, tmp_path: Path
) -> None:
    offer = _preferred(f"grep '{pattern}' lines")
    if offer is None:
        return
    (tmp_path / "lines").write_text("\n".join(LINES) + "\n", "utf-8")
    found = subprocess.run(
        ["grep", pattern, "lines"], cwd=tmp_path, capture_output=True, text=True, check=False
    ).stdout
    assert found.splitlines() == [line for line in LINES if re.search(pattern, line)]
