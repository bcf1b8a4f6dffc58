"""Which rule decides."""

from itertools import permutations
from typing import cast

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from policy.rules_kit import rule, use

from holdfast.contract.rules import ACTIONS, Action, Rule, RuleScope, Use
from holdfast.policy.globs import escaped
from holdfast.policy.rules import STRICTNESS, RuleBook, RuleProblem, ToolNames, strictest
from holdfast.policy.uses import uses_of_command

BASH = ToolNames("bash")
MCP = ToolNames("files_write", "mcp:files:write")


def verdict(rules: list[Rule], names: ToolNames, one: Use) -> Action:
    found = RuleBook(rules).weigh(names, one).action
    for order in permutations(rules):
        assert RuleBook(order).weigh(names, one).action == found, "the order of a list decides"
    return found


@pytest.mark.req("SPEC-PERM-08")
def test_what_no_rule_speaks_of_is_asked() -> None:
    assert verdict([], BASH, use("shell.run", "ls")) == "ask"
    assert RuleBook([], silence="allow").weigh(BASH, use("shell.run", "ls")).action == "allow"


@pytest.mark.req("SPEC-PERM-07")
def test_a_rule_without_an_action_asks() -> None:
    assert Rule(permission="*", pattern="*", scope="session", source="test").action == "ask"


@pytest.mark.req("SPEC-PERM-02")
@pytest.mark.parametrize(
    ("permission", "fits"),
    [
        ("files_write", True),
        ("mcp:files:write", True),
        ("mcp:files:*", True),
        ("fs.write", True),
        ("fs.*", True),
        ("*", True),
        ("files", False),
        ("fs.read", False),
        ("mcp:other:*", False),
    ],
)
def test_a_permission_names_the_tool_its_alias_its_capability_or_all(
    permission: str, fits: bool
) -> None:
    weighed = RuleBook([rule(permission, "**")]).weigh(MCP, use("fs.write", "a/b"))
    assert (weighed.rule is not None) is fits


@pytest.mark.req("SPEC-PERM-03", "SPEC-PERM-04", "SPEC-PERM-05")
@pytest.mark.parametrize(
    ("one", "pattern", "fits"),
    [
        (use("shell.run", "git log -p a/b"), "git *", True),
        (use("shell.run", "gitk"), "git *", False),
        (use("shell.run", "git status"), "git status", True),
        (use("shell.run", "git status -s"), "git status", False),
        (use("fs.write", "src/a.py"), "src/*.py", True),
        (use("fs.write", "src/x/a.py"), "src/*.py", False),
        (use("fs.write", "src/x/a.py"), "src/", True),
        (use("fs.write", "src"), "src/", True),
        (use("fs.write", "src-old/a"), "src/", False),
        (use("fs.write", "src/x/a.py"), "*", True),
        (use("net.fetch", "a.b.example.com"), "*.example.com", True),
        (use("net.fetch", "example.com.evil.net"), "example.com", False),
        (use(None, "explore"), "explore", True),
        (use(None, ""), "", True),
        (use(None, "x"), "", False),
    ],
)
def test_a_pattern_is_compared_with_what_the_call_turns_on(
    one: Use, pattern: str, fits: bool
) -> None:
    assert (RuleBook([rule("*", pattern)]).weigh(BASH, one).rule is not None) is fits


@pytest.mark.req("SPEC-SCOPE-02", "SPEC-SCOPE-05")
@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        pytest.param(rule("*", "make"), rule("bash", "mak*", "deny"), id="no wildcard"),
        pytest.param(rule("*", "make a*"), rule("bash", "make *", "deny"), id="more plain text"),
        pytest.param(rule("bash", "*"), rule("shell.run", "*", "deny"), id="tool over capability"),
        pytest.param(rule("shell.run", "*"), rule("ba*", "*", "deny"), id="capability over glob"),
        pytest.param(rule("ba*", "*"), rule("*", "*", "deny"), id="glob over star"),
        pytest.param(
            rule("bash", "*", "allow", "session"),
            rule("bash", "*", "deny", "project"),
            id="session over project",
        ),
        pytest.param(
            rule("bash", "*", "ask", "project"),
            rule("bash", "*", "allow", "manifest"),
            id="project over manifest",
        ),
        pytest.param(rule("bash", "m*e all", "deny"), rule("bash", "make*ll"), id="stricter"),
    ],
)
def test_the_most_specific_rule_decides(stronger: Rule, weaker: Rule) -> None:
    target = "make" if stronger.pattern == "make" else "make all"
    assert verdict([stronger, weaker], BASH, use("shell.run", target)) == stronger.action


@pytest.mark.parametrize("name", ["a{b,c}", "*", "a*", "a[b]", "a\\b"])
def test_a_tool_with_an_odd_name_is_named_as_closely_as_any_other(name: str) -> None:
    named = rule(escaped(name), "x", "deny", "manifest")
    rules = [named, rule("shell.run", "x", "allow", "manifest")]
    assert verdict(rules, ToolNames(name), use("shell.run", "x")) == "deny"
    assert verdict(rules, ToolNames("abc"), use("shell.run", "x")) == "allow"


@pytest.mark.req("SPEC-SCOPE-03")
@pytest.mark.parametrize("scope", ["session", "project"])
@pytest.mark.parametrize("action", ["allow", "ask"])
def test_nothing_lifts_a_deny_of_the_manifest(scope: RuleScope, action: Action) -> None:
    rules = [rule("*", "*", "deny", "manifest"), rule("bash", "make", action, scope)]
    assert verdict(rules, BASH, use("shell.run", "make")) == "deny"


@pytest.mark.req("SPEC-SCOPE-04")
def test_a_narrow_allow_of_the_manifest_stands_inside_its_broad_deny() -> None:
    rules = [rule("*", "*", "deny", "manifest"), rule("bash", "make", "allow", "manifest")]
    assert verdict(rules, BASH, use("shell.run", "make")) == "allow"
    assert verdict(rules, BASH, use("shell.run", "make x")) == "deny"


@pytest.mark.req("SPEC-SCOPE-10")
def test_a_pinned_ask_cannot_be_loosened_but_tightened() -> None:
    pinned = rule("bash", "rm *", "ask", "manifest", pinned=True)
    one = use("shell.run", "rm a")
    assert verdict([pinned, rule("bash", "rm a")], BASH, one) == "ask"
    assert verdict([pinned, rule("bash", "rm a", "deny")], BASH, one) == "deny"
    assert verdict([pinned, rule("bash", "rm a", "allow", "manifest")], BASH, one) == "allow"


@pytest.mark.req("SPEC-SCOPE-09")
def test_a_newer_rule_replaces_its_equal() -> None:
    older, newer = rule("bash", "make", "deny"), rule("bash", "make", "allow")
    assert RuleBook([older, newer]).rules == (newer,)
    assert RuleBook([newer, older]).rules == (older,)
    other_scope = rule("bash", "make", "deny", "project")
    assert len(RuleBook([newer, other_scope]).rules) == 2


def test_what_two_files_say_of_the_same_is_weighed() -> None:
    mine = rule("bash", "make", "deny", "project", source="mine.toml:3")
    theirs = rule("bash", "make", "allow", "project", source="theirs.toml:9")
    assert verdict([mine, theirs], BASH, use("shell.run", "make")) == "deny"


def test_every_pinned_ask_counts_not_only_the_strongest() -> None:
    pinned = rule("bash", "git push *", "ask", "manifest", pinned=True)
    closer = rule("bash", "git push origin *", "ask", "manifest")
    allow = rule("bash", "git push origin x", "allow", "project")
    assert verdict([pinned, closer, allow], BASH, use("shell.run", "git push origin x")) == "ask"


@pytest.mark.req("SPEC-REPLY-90")
@pytest.mark.parametrize("scope", ["session", "project"])
def test_a_remembered_allow_never_outranks_a_deny_of_any_scope(scope: RuleScope) -> None:
    grant = rule("bash", "make deploy", "allow", "session", remembered=True)
    deny = rule("*", "make *", "deny", scope)
    one = use("shell.run", "make deploy")
    assert verdict([grant, deny], BASH, one) == "deny"
    assert verdict([grant, rule("bash", "make deploy", "deny")], BASH, one) == "deny"
    assert verdict([grant, rule("bash", "*", "ask")], BASH, one) == "allow"
    by_hand = rule("bash", "make deploy", "allow", "session")
    assert verdict([by_hand, grant, deny], BASH, one) == "allow"


def test_a_stricter_rule_counts_for_any_spelling_and_an_allow_for_all_of_them() -> None:
    linked = use("fs.write", "link/a", "secret/a")
    assert verdict([rule("*", "**"), rule("*", "secret/", "deny")], BASH, linked) == "deny"
    assert verdict([rule("*", "link/")], BASH, linked) == "ask"
    assert verdict([rule("*", "{link,secret}/a")], BASH, linked) == "allow"


def test_no_allow_covers_what_is_in_doubt_but_a_deny_does() -> None:
    doubtful = use("shell.run", "rm $x", doubt="an argument is only known when it runs")
    assert verdict([rule("bash", "*")], BASH, doubtful) == "ask"
    assert verdict([rule("bash", "*"), rule("bash", "rm *", "deny")], BASH, doubtful) == "deny"


def test_the_strictest_of_several_counts() -> None:
    book = RuleBook([rule("bash", "a"), rule("bash", "b", "deny")])
    weighed = [book.weigh(BASH, use("shell.run", target)) for target in ("a", "b", "c")]
    assert strictest(weighed) is weighed[1]
    assert strictest(weighed[:1]) is weighed[0]


def test_what_also_fits_is_told_in_order_of_strength() -> None:
    rules = [rule("*", "*", "deny"), rule("bash", "m*", "ask"), rule("bash", "make")]
    weighed = RuleBook(rules).weigh(BASH, use("shell.run", "make"))
    assert weighed.rule is rules[2]
    assert weighed.others == (rules[1], rules[0])


patterns = st.text(alphabet="ab*?{},\\/ ", max_size=6)
targets = st.text(alphabet="ab/ ", max_size=5)
rules = st.builds(
    rule,
    st.sampled_from(["bash", "shell.run", "fs.read", "*", "b*"]),
    patterns,
    st.sampled_from(ACTIONS),
    st.sampled_from(["manifest", "session", "project"]),
    remembered=st.booleans(),
)
uses = st.builds(use, st.sampled_from(["shell.run", "fs.read", None]), targets)


@given(
    st.lists(rules, max_size=5, unique_by=lambda one: (one.scope, one.permission, one.pattern)),
    uses,
)
def test_the_order_of_a_list_does_not_matter(given_rules: list[Rule], one: Use) -> None:
    forwards = RuleBook(given_rules).weigh(BASH, one)
    backwards = RuleBook(given_rules[::-1]).weigh(BASH, one)
    assert forwards.action == backwards.action


@given(st.lists(rules, max_size=5), uses)
def test_one_more_deny_never_loosens(given_rules: list[Rule], one: Use) -> None:
    before = RuleBook(given_rules).weigh(BASH, one).action
    denying = rule("*", "*", "deny", "manifest", source="added")
    kept = [each for each in given_rules if (each.permission, each.pattern) != ("*", "*")]
    if kept == given_rules:
        after = RuleBook([*given_rules, denying]).weigh(BASH, one).action
        assert STRICTNESS[after] >= STRICTNESS[before]


@given(st.lists(rules, max_size=5), uses, rules)
def test_a_remembered_allow_never_beats_a_deny_that_fits(
    given_rules: list[Rule], one: Use, deny: Rule
) -> None:
    denying = rule(deny.permission, deny.pattern, "deny", deny.scope)
    by_hand = [each for each in given_rules if each.action != "allow"]
    remembered = [
        rule(each.permission, each.pattern, "allow", each.scope, remembered=True)
        for each in given_rules
    ]
    fits = RuleBook([denying]).weigh(BASH, one).rule is not None
    weighed = RuleBook([*by_hand, denying, *remembered]).weigh(BASH, one)
    assert not (fits and weighed.action == "allow")


_COMMAND = st.lists(
    st.sampled_from(["git", "/bin/rm", "push", "-r", "-rf", "-C x", "--force", "x", "a b"]),
    min_size=1,
    max_size=4,
).map(" ".join)
_PART = st.tuples(_COMMAND, st.sampled_from(["", " *"])).map("".join)


@given(_PART, _PART, st.sampled_from(["", " *", " x"]), _COMMAND)
@example("git push", "rm -r", " *", "/bin/rm x -fR")
@example("git push", "git push *", "", "git -C sub push")
def test_a_deny_of_alternatives_denies_what_each_of_them_denies(
    one: str, other: str, end: str, command: str
) -> None:
    def denies(pattern: str) -> bool:
        book = RuleBook([rule("*", pattern, "deny")])
        return any(book.weigh(BASH, part).action == "deny" for part in uses_of_command(command))

    assert denies(f"{{{one},{other}}}{end}") == (denies(one + end) or denies(other + end))


@pytest.mark.parametrize(
    "wrong",
    [
        {"permission": "*"},
        Rule(
            permission="*", pattern="*", action=cast("Action", "block"), scope="session", source=""
        ),
        Rule(permission="*", pattern="*", scope=cast("RuleScope", "global"), source=""),
        Rule(permission="*", pattern=cast("str", None), scope="session", source=""),
        Rule(permission="", pattern="*", scope="session", source=""),
        Rule(permission="fs.wrte", pattern="*", scope="session", source=""),
        Rule(permission="*", pattern="x" * 5_000, scope="session", source=""),
    ],
)
def test_a_rule_made_in_code_is_checked_when_it_is_handed_in(wrong: object) -> None:
    with pytest.raises(RuleProblem):
        RuleBook([cast("Rule", wrong)])


def test_only_a_line_tells_two_rules_of_one_source_apart() -> None:
    law = msgspec.structs.replace(rule("writer", "a", "deny"), source="house: law one")
    other = msgspec.structs.replace(rule("writer", "a", "allow"), source="house: law two")
    assert RuleBook([law, other]).weigh(ToolNames("writer"), use("fs.write", "a")).action == "deny"
    first = msgspec.structs.replace(law, source="policy.toml:1")
    second = msgspec.structs.replace(other, source="policy.toml:9")
    book = RuleBook([first, second])
    assert book.weigh(ToolNames("writer"), use("fs.write", "a")).action == "allow"
