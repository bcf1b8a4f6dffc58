"""A rule that is taken can be weighed: no pattern makes a call fail that it should judge."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from policy.judge_kit import SHELL, judged
from policy.rules_kit import rule, use
from support import make_judge

from holdfast.contract.call import Deny
from holdfast.contract.rules import ACTIONS, Action
from holdfast.policy.globs import LONGEST_PATTERN
from holdfast.policy.rule_file import read_rule_file
from holdfast.policy.rules import RuleBook, RuleProblem, ToolNames
from holdfast.policy.uses import uses_of_command

USES = [
    use("fs.read", "a/b", "c"),
    use("net.fetch", "a.example"),
    use("secrets.has", ""),
    use(None, ""),
    *uses_of_command("git -C . push -f a 'b c'; tar xf b > c"),
]
PIECES = st.sampled_from([*"a*?{},\\ /[]'\"$", "..", "-f", "--x=", "git ", "push ", "{a,b}", "**"])
PATTERNS = st.tuples(st.lists(PIECES, max_size=10), st.sampled_from([1, 2, 500])).map(
    lambda made: ("".join(made[0]) * made[1])[:LONGEST_PATTERN]
)


def taken(pattern: str, action: Action) -> bool:
    try:
        RuleBook([rule("*", pattern, action)])
    except RuleProblem:
        return False
    return True


@given(PATTERNS, st.sampled_from(ACTIONS))
@example("a" * LONGEST_PATTERN, "deny")
@example("git -C " + "x" * (LONGEST_PATTERN - 7), "ask")
@example("{a,b} " * 7 + "c", "deny")
@example(r"[\{" * (LONGEST_PATTERN // 3), "ask")
def test_what_is_taken_can_be_weighed(pattern: str, action: Action) -> None:
    if taken(pattern, action):
        book = RuleBook([rule("*", pattern, action)])
        assert all(book.weigh(ToolNames("bash"), one).action in ACTIONS for one in USES)


def test_what_is_too_long_as_a_command_is_refused_when_it_is_read() -> None:
    for length in (LONGEST_PATTERN, LONGEST_PATTERN - 1):
        with pytest.raises(RuleProblem, match=f"at most {LONGEST_PATTERN} characters"):
            RuleBook([rule("shell", "a" * length, "deny")])
    text = f'\n[[rule]]\npermission = "shell"\npattern = "{"a" * LONGEST_PATTERN}"\n'
    (problem,) = read_rule_file(text, name="policy.toml", scope="project").problems
    assert (problem.line, f"at most {LONGEST_PATTERN}" in problem.message) == (2, True)


def test_a_rule_as_long_as_may_be_still_judges() -> None:
    word = "a" * (LONGEST_PATTERN - 100)
    judge = make_judge(rule("shell", f"{word} *", "deny"))
    assert isinstance(judged(judge, SHELL, {"command": f"{word} b"}), Deny)


def test_a_pattern_is_measured_once_however_often_it_is_weighed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured: list[str] = []

    def measure(pattern: str) -> str:
        measured.append(pattern)
        return pattern

    monkeypatch.setattr("holdfast.policy.rules.canonical_pattern", measure)
    one = rule("sh", "measured once *", "ask")
    for _ in range(3):
        RuleBook([one])
    assert measured == ["measured once *"]
