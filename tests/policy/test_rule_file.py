"""Rules as people write them, and what is said when they are wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.policy.rule_file import RuleFile, read_rule_file

GOOD = """
# what we let it do
[[rule]]
permission = "bash"
pattern = "git *"
action = "allow"
reason = "Reading is fine."
match = ["git status", "git log && git diff"]
no_match = ["gitk", "git log; rm x"]

[[rule]]
permission = "fs.write"
pattern = "docs/"
match = ["docs/a.md"]
no_match = ["docs-old/a.md"]
"""


def read(text: str) -> RuleFile:
    return read_rule_file(text, name="policy.toml", scope="project")


def problems(text: str) -> list[tuple[int, str]]:
    return [(one.line, one.message) for one in read(text).problems]


def test_a_file_gives_its_rules_with_their_places() -> None:
    found = read(GOOD)
    assert found.problems == ()
    git, docs = found.rules
    assert (git.permission, git.pattern, git.action, git.scope) == (
        "bash",
        "git *",
        "allow",
        "project",
    )
    assert git.reason == "Reading is fine."
    assert (git.source, docs.source) == ("policy.toml:3", "policy.toml:11")
    assert docs.action == "ask"
    assert len(found.examples) == 6
    assert all(example.holds for example in found.examples)


def test_an_empty_file_has_no_rules() -> None:
    assert read("") == RuleFile()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[[rule]]\npattern = 'x'\n", 1, "the rule has no permission; write for example perm"),
        ("[[rule]]\npermission = 'x'\n", 1, 'no pattern; write for example pattern = "git *"'),
        ("[[rule]]\n", 1, "the rule has no permission"),
        ("[[rule]]\npermission = 'a'\npatern = 'x'\n", 3, "did you mean 'pattern'?"),
        ("[[rule]]\npermission = 'a'\nzzz = 1\n", 3, "there is no key 'zzz'; known: permission"),
        (
            "[[rule]]\npermission = 'a'\npattern = 1\n",
            3,
            'pattern cannot be that; write for example pattern = "git *"',
        ),
        (
            "[[rule]]\npermission = 'a'\npattern = 'b'\nmatch = 'c'\n",
            4,
            'match cannot be that; write for example match = ["git status"]',
        ),
        (
            "[[rule]]\npermission = 'a'\npattern = 'b'\nno_match = [1]\n",
            4,
            'no_match cannot be that; write for example no_match = ["gitk"]',
        ),
        (
            "[[rule]]\npermission = 'a'\npattern = 'b'\nkind = 'c'\n",
            4,
            "kind cannot be that; write for example kind = 'path' or 'command' or 'host' or 'name'",
        ),
        (
            "[[rule]]\npermission='a'\npattern='x'\naction='alow'\n",
            4,
            "action is 'alow'; it must be allow, ask or deny",
        ),
        ("[[rule]]\npermission='a'\npattern='x'\npinned=true\n", 4, "can be pinned"),
        ("[[rule]\n", 1, "not valid TOML"),
        ("\n\nx = = 1\n", 3, "not valid TOML"),
        ("[[rule]]\npattern = git *\n", 2, 'texts stand in quotes, for example pattern = "git *"'),
        ("[rule]\npermission='a'\n", 1, "write each rule as [[rule]]"),
        ("rule = [1]\n", 1, "write each rule as [[rule]]"),
        ("[rules]\na = 1\n", 1, "there is no table 'rules'; write [[rule]]"),
        (
            "[[rule]]\npermission='bash'\npattern='git *'\nmatch=['ls']\n",
            4,
            "the pattern 'git *' does not fit 'ls', which stands under match",
        ),
        (
            "[[rule]]\npermission='bash'\npattern='git *'\nno_match=['git log']\n",
            4,
            "the pattern 'git *' fits 'git log', which stands under no_match",
        ),
        (
            "[[rule]]\npattern='x'\npermission='fs.wrte'\n",
            3,
            "there is no capability 'fs.wrte'; did you mean 'fs.write'?",
        ),
        (
            "[[rule]]\npermission='net.wwwwwwwwwww'\npattern='x'\n",
            2,
            "known: fs.read, fs.write, shell.run",
        ),
        ("[[rule]]\npermission=''\npattern='x'\n", 2, "a rule needs a permission"),
        ("[[rule]]\npermission='fs.write'\npattern='~/.ssh/'\n", 3, "~ is an ordinary name"),
        ("[[rule]]\npermission='read'\npattern='a/../b'\n", 3, "climbs out with '..'"),
        ("[[rule]]\npermission='net.fetch'\npattern='https://x.y/*'\n", 3, "is no host"),
        ("[[rule]]\npermission='a'\npattern='" + "x" * 5000 + "'\n", 1, "at most 4096 characters"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, line: int, message: str) -> None:
    ((found_line, found),) = problems(text)
    assert found_line == line
    assert message in found


def test_one_mistake_does_not_hide_the_other_rules() -> None:
    found = read(GOOD + "\n[[rule]]\npermission = 'x'\n\n[[rule]]\naction = 'never'\n")
    assert len(found.rules) == 2
    assert [one.line for one in found.problems] == [17, 20]


def test_rules_written_inline_are_read_too() -> None:
    found = read("rule = [{permission = 'a', pattern = 'b', action = 'deny'}]")
    assert [one.action for one in found.rules] == ["deny"]
    assert found.rules[0].source == "policy.toml:1"


def test_only_an_ask_of_a_manifest_is_pinned() -> None:
    text = "[[rule]]\npermission = 'bash'\npattern = 'rm *'\naction = 'ask'\npinned = true\n"
    found = read_rule_file(text, name="agent", scope="manifest")
    assert found.problems == ()
    assert found.rules[0].pinned


@pytest.mark.parametrize(
    ("permission", "action", "fits", "not_fits"),
    [
        ("bash", "deny", "true; rm x", "true"),
        ("bash", "deny", "rm -fr x", "rmdir x"),
        ("net.fetch", "allow", "x.example.com", "example.com"),
        ("task", "allow", "explore", "explorer"),
        ("save", "allow", "notes/a (1).md", "notes/b/c.md"),
        ("save", "allow", "./notes//a", "notes/../a"),
    ],
)
def test_examples_are_judged_as_calls_are(
    permission: str, action: str, fits: str, not_fits: str
) -> None:
    pattern = {"bash": "rm *", "net.fetch": "*.example.com", "task": "explore", "save": "notes/*"}[
        permission
    ]
    text = (
        f"[[rule]]\npermission = '{permission}'\npattern = '{pattern}'\naction = '{action}'\n"
        f"match = ['{fits}']\nno_match = ['{not_fits}']\n"
    )
    assert problems(text) == []


@pytest.mark.parametrize(("kind", "wrong"), [("path", 0), ("command", 1)])
def test_the_kind_of_examples_can_be_told(kind: str, wrong: int) -> None:
    text = (
        "[[rule]]\npermission = 'save'\npattern = 'my notes/*'\naction = 'allow'\n"
        f"kind = '{kind}'\nmatch = ['my notes/a']\nno_match = ['my notes/b/c']\n"
    )
    assert len(problems(text)) == wrong


@given(st.text(max_size=200) | st.text(alphabet="[]{}rule\"= \n'abc12", max_size=200))
def test_no_text_makes_reading_fail(text: str) -> None:
    found = read(text)
    assert all(one.line >= 1 and one.message for one in found.problems)
