"""What rules deny is taken out of what processes are confined to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy.rules_kit import rule
from support import make_tool

from holdfast.contract.paths import is_within
from holdfast.contract.rules import Rule
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.policy.denied_places import fixed_places, split, within_rules
from holdfast.policy.places import Place, Places
from holdfast.policy.powers import AgentRules, Looked, Powers
from holdfast.policy.scales import Scales
from holdfast.policy.watchdog import Watchdog

PLACES = Places(workspace=(Place("/link", "/ws"), Place("/more", "/more")))
WHOLE = SandboxPolicy(
    readable=("/more", "/ws"),
    writable=("/more", "/ws"),
    protected=("/more/.git/hooks", "/ws/.git/hooks"),
)
TOOL = make_tool(name="sh")


def narrowed(*rules: Rule, policy: SandboxPolicy = WHOLE) -> SandboxPolicy:
    powers = Powers(
        own=AgentRules(rules=rules),
        look=lambda _tool, use: Looked(use),
        watchdog=Watchdog([]),
        headless=True,
    )
    return within_rules(policy, Scales(powers, rules), TOOL, PLACES)


@pytest.mark.parametrize(
    ("pattern", "places"),
    [
        ("secrets/", ["secrets"]),
        ("secrets/**", ["secrets"]),
        ("secrets/*", ["secrets"]),
        (".env", [".env"]),
        ("{a,b/c}/**", ["a", "b/c"]),
        (r"\*", ["*"]),
        ("/srv/x/**", ["/srv/x"]),
        ("*", [""]),
        ("**/.env", [None]),
        ("a/*.pem", [None]),
        ("a/?", [None]),
        ("a/**/b/", [None]),
    ],
)
def test_where_a_pattern_lies(pattern: str, places: list[str | None]) -> None:
    assert list(fixed_places(pattern)) == places


def test_without_a_deny_nothing_changes() -> None:
    asks = rule("fs.read", "secrets/**", "ask")
    allows = rule("fs.write", "out/**", "allow")
    others = rule("shell.run", "rm *", "deny")
    foreign = rule("read", "secrets/**", "deny")
    assert narrowed(asks, allows, others, foreign) == WHOLE


@pytest.mark.parametrize("permission", ["fs.read", "fs.*", "*", "sh"])
def test_what_may_not_be_read_is_hidden_and_kept(permission: str) -> None:
    policy = narrowed(
        rule(permission, "secrets/**", "deny"), rule(permission, "/more/secrets/**", "deny")
    )
    assert policy.hidden == ("/more/secrets", "/ws/secrets")
    assert {*policy.hidden} < {*policy.protected}
    assert (policy.readable, policy.writable) == (WHOLE.readable, WHOLE.writable)
    assert not policy.reads("/ws/secrets/a")
    assert not policy.writes("/ws/secrets/a")
    assert policy.reads("/ws/secretsanta")


def test_what_may_not_be_written_is_kept() -> None:
    policy = narrowed(rule("fs.write", "out/", "deny"), rule("fs.write", "/more/out/", "deny"))
    assert policy.hidden == ()
    assert policy.protected == (*("/more/.git/hooks", "/more/out"), *("/ws/.git/hooks", "/ws/out"))


def test_a_pattern_without_a_beginning_is_about_the_workspace_alone() -> None:
    """Rules are told for each further root before they come here."""
    assert narrowed(rule("fs.read", "secrets/**", "deny")).hidden == ("/ws/secrets",)


def test_an_exception_is_open_inside_of_what_is_closed() -> None:
    policy = narrowed(
        rule("fs.read", "secrets/**", "deny"),
        rule("fs.read", "secrets/public/**", "allow"),
        rule("fs.write", "*", "deny"),
        rule("fs.write", "notes/**", "allow"),
        rule("fs.write", ".git/hooks/**", "allow"),
        policy=SandboxPolicy(
            readable=("/ws",), writable=("/ws",), protected=("/ws/.git/hooks", "/ws/notes/.envrc")
        ),
    )
    assert policy.readable == ("/ws", "/ws/secrets/public")
    assert policy.hidden == ("/ws/secrets",)
    assert policy.reads("/ws/secrets/public/key")
    # What is protected by holdfast itself no rule opens.
    assert policy.writable == ("/ws/notes",)
    assert policy.protected == ("/ws/notes/.envrc",)


def test_a_root_that_is_denied_is_gone() -> None:
    policy = narrowed(
        rule("fs.read", "/data/**", "deny"),
        rule("fs.write", "**", "deny"),
        policy=SandboxPolicy(readable=("/data", "/ws"), writable=("/data", "/ws")),
    )
    assert policy.readable == ("/ws",)
    assert policy.writable == policy.protected == policy.hidden == ()


def test_the_pattern_of_a_child_in_a_root_counts() -> None:
    policy = narrowed(
        rule("fs.read", "/data/in/**", "deny"), policy=SandboxPolicy(readable=("/data", "/ws"))
    )
    assert policy.hidden == ("/data/in",)


def test_a_pattern_without_a_place_leaves_processes_alone() -> None:
    assert narrowed(rule("fs.read", "**/.env", "deny")) == WHOLE


def test_of_two_rules_the_more_specific_one_decides() -> None:
    policy = narrowed(
        rule("fs.read", "a/**", "allow"),
        rule("fs.read", "a/b/**", "deny"),
        rule("fs.read", "a/b/c/", "allow"),
        rule("fs.read", "a/b/d", "allow"),  # of a file in a closed place nothing is known
        policy=SandboxPolicy(readable=("/ws",)),
    )
    assert (policy.readable, policy.hidden) == (("/ws", "/ws/a/b/c"), ("/ws/a/b",))


names = st.sampled_from(["a", "b", "c"])
paths = st.lists(names, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))


@given(
    roots=st.sets(paths, min_size=1, max_size=3),
    verdicts=st.dictionaries(paths, st.booleans(), max_size=6),
    rest=st.booleans(),
    asked=paths,
)
def test_the_innermost_mark_decides(
    roots: set[str], verdicts: dict[str, bool], rest: bool, asked: str
) -> None:
    def innermost(path: str) -> bool:
        mark = max((one for one in verdicts if is_within(path, one)), key=len, default=None)
        return rest if mark is None else verdicts[mark]

    marks = {mark for mark in verdicts if any(is_within(mark, root) for root in roots)}
    found = split(sorted(roots), marks, innermost)
    policy = SandboxPolicy(readable=found.open, hidden=found.closed)
    inside = any(is_within(asked, root) for root in roots)
    assert policy.reads(asked) == (inside and not innermost(asked))
