"""A rule about a host fires however the host is spelled, in the rule and in the call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy.rules_kit import rule, use
from support import make_tool

from holdfast.contract.requirements import requirement_set
from holdfast.contract.rules import Action, Rule, Use
from holdfast.execution.path_facts import DiskPaths
from holdfast.policy.examples import examples_of
from holdfast.policy.places import NOWHERE
from holdfast.policy.reach import Reach
from holdfast.policy.rules import RuleBook, RuleProblem, ToolNames
from holdfast.policy.scope import EffectiveScope, compile_scope
from holdfast.policy.tool_scopes import ToolScopes
from holdfast.policy.uses import uses_of_requirements

FETCH = ToolNames("get")
INSIDE = ("localhost", "10.0.0.7", "::1")
SCOPE = EffectiveScope(
    compile_scope(requirement_set({"net": {"hosts": ["*", *INSIDE]}}), NOWHERE), DiskPaths()
)


def called(written: str) -> Use:
    looked = Reach(ToolScopes(SCOPE, NOWHERE), DiskPaths(), NOWHERE)(
        make_tool(), use("net.fetch", written)
    )
    assert looked.refusal is None
    return looked.use


def verdict(one: Use, *rules: Rule) -> Action:
    return RuleBook(rules, silence="allow").weigh(FETCH, one).action


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("Example.COM", "https://example.com/x"),
        ("example.com.", "https://EXAMPLE.com./x"),
        ("*.Example.COM", "a.b.example.com"),
        ("bücher.de", "https://xn--bcher-kva.de/"),
        ("BÜCHER.de", "https://bücher.de/"),
        ("*.bücher.de", "shop.xn--bcher-kva.de"),
        ("xn--bcher-kva.de", "https://bücher.de/"),
        ("{Example,other}.COM", "example.com"),
        ("Ap*.example.COM", "api.example.com"),
        ("[::1]", "http://[0:0:0:0:0:0:0:1]/"),
        ("0x0a.0.0.7", "http://10.0.0.7/"),
        ("*", "http://localhost/"),
        ("LOCALHOST", "http://localhost/"),
    ],
)
@pytest.mark.parametrize("permission", ["net.fetch", "get", "*", "net.*"])
def test_a_host_is_spelled_in_one_way(permission: str, pattern: str, written: str) -> None:
    one = called(written)
    assert verdict(one, rule(permission, pattern, "deny")) == "deny"
    asks, allows = rule("*", "*", "ask"), rule(permission, pattern, "allow")
    if pattern != "*":
        assert verdict(one, asks, allows) == "allow"


@pytest.mark.parametrize(
    ("pattern", "written", "denied", "allowed"),
    [
        ("a.org:8080", "http://a.org:8080/", True, True),
        ("a.org:8080", "http://a.org/", False, False),
        ("a.org:8080", "a.org", True, False),
        ("A.org:443", "https://a.org/", True, True),
        ("*.a.org:443", "https://x.a.org/", True, True),
        ("*.a.org:443", "http://x.a.org/", False, False),
        ("a.org", "http://a.org:8080/", True, True),
        ("a.org:*", "http://a.org:8080/", True, True),
        ("[::1]:80", "http://[::1]/", True, True),
        ("[::1]:81", "http://[::1]/", False, False),
        ("b.org:8080", "http://a.org:8080/", False, False),
    ],
)
def test_a_rule_about_a_port_is_about_that_port(
    pattern: str, written: str, denied: bool, allowed: bool
) -> None:
    one = called(written)
    assert (verdict(one, rule("net.fetch", pattern, "deny")) == "deny") is denied
    rules = rule("net.fetch", "*", "ask"), rule("net.fetch", pattern, "allow")
    assert (verdict(one, *rules) == "allow") is allowed


def test_another_spelling_makes_no_rule_more_specific() -> None:
    deny = rule("net.fetch", "bücher.de", "deny")
    allow = rule("net.fetch", "xn--bcher-kva.de", "allow")
    assert verdict(called("https://bücher.de"), deny, allow) == "deny"
    dotted = rule("net.fetch", "Example.com.", "allow")
    assert verdict(called("example.com"), rule("net.fetch", "example.com", "deny"), dotted) == (
        "deny"
    )


@pytest.mark.parametrize("pattern", ["https://a.org/", "a.org:99999", "a.org:http", "a b", "x@y.z"])
@pytest.mark.parametrize("permission", ["net.fetch", "web_fetch"])
def test_what_is_no_host_is_refused_with_what_to_write(permission: str, pattern: str) -> None:
    with pytest.raises(RuleProblem, match=r"write for example \*\.example\.com"):
        RuleBook([rule(permission, pattern, "deny")])


@pytest.mark.parametrize(("permission", "pattern"), [("fs.read", "~/x"), ("fs.write", "a/../b")])
def test_a_rule_made_in_code_is_held_to_what_a_file_is(permission: str, pattern: str) -> None:
    with pytest.raises(RuleProblem, match="write the path in full"):
        RuleBook([rule(permission, pattern, "deny")])
    RuleBook([rule(permission, pattern, "deny", remembered=True)])


@pytest.mark.parametrize(
    ("pattern", "written", "fits"),
    [
        ("git push *", "http://a.org/", False),
        ("a.org/*", "http://a.org/", False),
        ("fe80::*", "http://[::1]/", False),
        ("::*", "http://[::1]/", True),
        ("::1", "::1", True),
    ],
)
def test_a_pattern_that_is_no_host_is_compared_as_text(
    pattern: str, written: str, fits: bool
) -> None:
    assert (verdict(called(written), rule("*", pattern, "deny")) == "deny") is fits


@pytest.mark.parametrize(
    ("declared", "pattern"),
    [
        ("API.Example", "api.example"),
        ("api.example:443", "api.example"),
        ("api.example:443", "api.example:443"),
        ("bücher.de", "xn--bcher-kva.de"),
        ("{a,b}.org", "B.org"),
        ("*.example.com:443", "*.EXAMPLE.com"),
        ("{workspace}.org", "*"),
    ],
)
def test_a_rule_fires_for_what_a_tool_declares(declared: str, pattern: str) -> None:
    uses = list(uses_of_requirements(requirement_set({"net": {"hosts": [declared]}})))
    deny = rule("net.fetch", pattern, "deny")
    assert "deny" in [verdict(one, deny) for one in uses]


@pytest.mark.parametrize(
    "text", ["https://API.Example.com:8080/x", "api.example.com.", "x.EXAMPLE.com"]
)
def test_an_example_is_read_as_a_call_is(text: str) -> None:
    (example,) = examples_of(rule("net.fetch", "*.Example.com"), (text,), ())
    assert example.holds


labels = st.text(alphabet="abcXYZ0ü-", min_size=1, max_size=4).filter(
    lambda label: not label.startswith("-") and not label.endswith("-")
)
names = st.lists(labels, min_size=2, max_size=3).map(lambda parts: ".".join([*parts, "org"]))


@given(names, st.sampled_from([str.upper, str.lower, str.title]), st.booleans())
def test_case_and_dots_never_decide(name: str, spelled: object, dotted: bool) -> None:
    assert callable(spelled)
    pattern = str(spelled(name)) + ("." if dotted else "")
    assert verdict(called(f"https://{name}/"), rule("net.fetch", pattern, "deny")) == "deny"
