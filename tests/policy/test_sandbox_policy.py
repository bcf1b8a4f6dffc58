"""What processes are confined to: rounded out, intersected, and the same in any order."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.contract.gates import Access
from holdfast.contract.json_value import JsonObject
from holdfast.contract.paths import is_within
from holdfast.contract.requirements import RequirementSet, requirement_set
from holdfast.contract.sandbox import KEPT_FROM_COMMANDS, SandboxLimits, SandboxPolicy
from holdfast.policy.host_patterns import HostMatch, HostPatterns, judge_url
from holdfast.policy.paths import Refused, literal_root
from holdfast.policy.places import Place, Places
from holdfast.policy.sandbox_policy import outermost, sandbox_policy
from holdfast.policy.scope import EffectiveScope, Scope, child_of, compile_scope, union
from holdfast.testing.fakes import FakePaths

# A machine under load is slow; that is no fault of what is judged.
steady = settings(deadline=None)

PLACES = Places(workspace=(Place("/wslink", "/ws"), Place("/more", "/more")))
FACTS = FakePaths((), {"/wslink": "/ws"})


def _scope(declared: JsonObject | RequirementSet) -> Scope:
    return compile_scope(requirement_set(declared), PLACES)


def _effective(*declared: JsonObject | RequirementSet) -> EffectiveScope:
    first, *others = map(_scope, declared)
    return EffectiveScope(first, FACTS, *others)


def _policy(*declared: JsonObject | RequirementSet) -> SandboxPolicy:
    return sandbox_policy(_effective(*declared))


def _below(*roots: str) -> tuple[str, ...]:
    return tuple(sorted(f"{root}/{name}" for root in roots for name in KEPT_FROM_COMMANDS))


def test_nothing_declared_reaches_nothing() -> None:
    assert _policy({}) == SandboxPolicy()


def test_a_pattern_becomes_the_directory_before_its_first_wildcard() -> None:
    policy = _policy({"fs": {"read": ["docs/**/*.md", "a.txt", "src/*/x", "docs/deep/**"]}})
    assert policy.readable == (
        *("/more/a.txt", "/more/docs", "/more/src"),
        *("/ws/a.txt", "/ws/docs", "/ws/src"),
    )
    assert policy.writable == policy.protected == ()
    assert policy.network == "none"


def test_a_writable_root_keeps_its_protected_places() -> None:
    policy = _policy({"fs": {"write": ["**"]}})
    assert policy.writable == ("/more", "/ws")
    assert policy.protected == _below("/more", "/ws")
    assert policy.readable == ()


def test_a_protected_place_is_writable_only_where_every_layer_names_it_in_full() -> None:
    named: JsonObject = {"fs": {"write": ["**", ".mcp.json"]}}
    assert "/ws/.mcp.json" not in _policy(named).protected
    assert "/ws/.git/hooks" in _policy(named).protected
    assert "/ws/.mcp.json" in _policy(named, {"fs": {"write": ["**"]}}).protected
    wild: JsonObject = {"fs": {"write": [".git/hooks/**", ".holdfast/*", "out/**"]}}
    assert _policy(wild).writable == ("/more/out", "/ws/out")
    assert _policy({"fs": {"write": [".git/hooks"]}}).writable == (
        "/more/.git/hooks",
        "/ws/.git/hooks",
    )


def test_of_nested_layers_the_deeper_directory_stays() -> None:
    wide: JsonObject = {"fs": {"read": ["**"], "write": ["out/**"]}}
    deep: JsonObject = {"fs": {"read": ["/ws/docs/**", "/etc/x"], "write": ["/ws/out/a/*"]}}
    policy = _policy(wide, deep)
    assert policy.readable == ("/ws/docs",)
    assert policy.writable == ("/ws/out/a",)
    assert _policy(deep, wide) == policy
    assert _policy(wide, {"fs": {"write": ["output/**"]}}).writable == ()


@pytest.mark.parametrize(
    ("layers", "hosts"),
    [
        ([["b.test", "a.test"]], [("a.test", "b.test")]),
        ([["*.test"], ["a.test"]], [("a.test",)]),
        ([["*"], ["*.a.test", "*.test:443"]], [("*.a.test", "*.test:443")]),
        ([["*.test"], ["*.a.test"], ["*"]], [("*.a.test",)]),
        ([["*.test"], ["*.test:443"]], [("*.test:443",)]),
        ([["*.atest"], ["*.test"]], [("*.atest",), ("*.test",)]),
        ([["*.test"], ["a.test", "b.org"]], [("*.test",), ("a.test", "b.org")]),
        ([["localhost"], ["localhost:80"]], [("localhost:80",)]),
        ([["*"], ["localhost"]], [("*",), ("localhost",)]),
        ([["::1", "*"], ["[::1]:80"]], [("[::1]:80",)]),
        ([["a-*.test"], ["a-*.test", "*-b.test"]], [("a-*.test",)]),
        ([["a-*.test"], ["*-b.test"]], [("*-b.test",), ("a-*.test",)]),
        ([["A.test."], ["a.test"]], [("a.test",)]),
        # Two lists that say the same in different words: one of them stays.
        ([["*", "a.test"], ["*"]], [("*",)]),
        ([["a.test"], []], []),
    ],
)
def test_a_host_has_to_be_on_every_list_and_needless_lists_are_dropped(
    layers: list[list[str]], hosts: list[tuple[str, ...]]
) -> None:
    for order in permutations(layers):
        policy = _policy(*(_declared([], [], names) for names in order))
        assert policy.hosts == tuple(hosts)
        assert policy.network == ("hosts" if hosts else "none")


def test_one_more_tool_widens_the_sandbox_by_what_it_requires_and_nothing_else_changes() -> None:
    manifest = requirement_set({"fs": {"read": ["docs/**"]}, "net": {"hosts": ["a.test"]}})
    tool = requirement_set({"fs": {"write": ["/ws/out/**"]}, "net": {"hosts": ["b.test"]}})
    before, after = _policy(union([manifest])), _policy(union([manifest, tool]))
    assert (before.writable, before.hosts) == ((), (("a.test",),))
    assert (after.writable, after.hosts) == (("/ws/out",), (("a.test", "b.test"),))
    assert after.readable == before.readable == ("/more/docs", "/ws/docs")


def test_limits_are_carried() -> None:
    limits = SandboxLimits(wall_seconds=1.5, processes=10)
    assert sandbox_policy(_effective({}), limits).limits == limits


def test_outermost_respects_separators() -> None:
    assert outermost(["/ws/a", "/ws", "/ws-old", "/ws/a/b", "/x"]) == ("/ws", "/ws-old", "/x")
    assert outermost(["/ws", "/", "/a"]) == ("/",)
    assert outermost(["/a-b", "/a/b", "/a"]) == ("/a", "/a-b")


PATTERNS = st.lists(
    st.sampled_from(
        [
            *(
                "**",
                "docs/**",
                "docs/a/*",
                "docs",
                "src/*.py",
                "/ws/docs/**",
                "/etc/*",
                "docs-old/",
            ),
            *(".git/**", ".git/config", ".holdfast/x/**", "{ad-hoc}/**", "/**", ".bashrc"),
        ]
    ),
    max_size=4,
)
HOSTS = st.lists(
    st.sampled_from(["*", "*.test", "*.a.test", "a.test", "a.test:443", "localhost", "a*.test"]),
    max_size=3,
)


def _declared(read: list[str], write: list[str], hosts: list[str]) -> RequirementSet:
    return requirement_set({"fs": {"read": read, "write": write}, "net": {"hosts": hosts}})


DECLARED = st.builds(_declared, PATTERNS, PATTERNS, HOSTS)
LAYERS = st.lists(DECLARED, min_size=1, max_size=3)


def _roots(policy: SandboxPolicy) -> list[tuple[str, ...]]:
    return [policy.readable, policy.writable]


HOSTS_TRIED = [
    *("https://a.test/", "http://a.test/", "https://b.a.test/", "https://ab.test/"),
    *("http://localhost/", "https://x.org/", "http://127.0.0.1/"),
]


def _reached(policy: SandboxPolicy) -> set[str]:
    lists = [HostPatterns(patterns) for patterns in policy.hosts]
    admitted = {
        url
        for url in HOSTS_TRIED
        if all(isinstance(judge_url(patterns, url), HostMatch) for patterns in lists)
    }
    return admitted if policy.network == "hosts" else set()


@steady
@given(LAYERS)
def test_a_process_reaches_exactly_the_hosts_that_every_layer_admits(
    layers: list[RequirementSet],
) -> None:
    scope = _effective(*layers)
    admitted = {url for url in HOSTS_TRIED if not isinstance(scope.admits_url(url), Refused)}
    assert _reached(sandbox_policy(scope)) == admitted


@steady
@given(LAYERS, st.data())
def test_the_order_of_layers_does_not_matter(
    layers: list[RequirementSet], data: st.DataObject
) -> None:
    policy = _policy(*layers)
    assert _policy(*data.draw(st.permutations([*layers, *layers]))) == policy
    for roots in (*_roots(policy), policy.protected, policy.hosts):
        assert list(roots) == sorted(set(roots))
    for roots in (*_roots(policy), policy.protected):
        assert outermost(roots) == roots


@steady
@given(st.lists(DECLARED, max_size=3), st.data())
def test_the_order_of_a_union_does_not_matter(
    sets: list[RequirementSet], data: st.DataObject
) -> None:
    assert _policy(union(sets)) == _policy(union(data.draw(st.permutations(sets))))


@steady
@given(LAYERS)
def test_every_root_lies_within_a_root_of_every_layer(layers: list[RequirementSet]) -> None:
    policy = _policy(*layers)
    for one in layers:
        alone = _scope(one)
        for roots, patterns in zip(_roots(policy), (alone.read, alone.write), strict=True):
            own = [literal_root(pattern) for pattern in patterns.canonical]
            assert all(any(is_within(root, above) for above in own) for root in roots)
        assert _reached(policy) <= _reached(_policy(one))


@steady
@given(LAYERS, LAYERS)
def test_the_policy_of_a_child_lies_within_that_of_its_parent(
    parents: list[RequirementSet], children: list[RequirementSet]
) -> None:
    parent = _effective(*parents)
    above, below = sandbox_policy(parent), sandbox_policy(child_of(parent, _effective(*children)))
    for inner, outer in zip(_roots(below), _roots(above), strict=True):
        assert all(any(is_within(root, wide) for wide in outer) for root in inner)
    for kept in above.protected:
        if any(is_within(kept, root) for root in below.writable):
            assert any(is_within(kept, still) for still in below.protected)
        assert not any(is_within(root, kept) for root in below.writable)
    assert _reached(below) <= _reached(above)


PLACES_TRIED = [
    "/ws/docs/a/b",
    "/ws/docs",
    "/ws/.git/config",
    "/ws/.bashrc",
    "/etc/x",
    "/ws/src/a.py",
]


@steady
@given(LAYERS, st.sampled_from(PLACES_TRIED), st.sampled_from(["read", "write"]))
def test_what_a_file_tool_may_touch_a_process_may_touch(
    layers: list[RequirementSet], path: str, access: Access
) -> None:
    scope = _effective(*layers)
    policy = sandbox_policy(scope)
    if isinstance(scope.admits_path(access, path), Refused):
        return
    roots = policy.readable if access == "read" else policy.writable
    assert any(is_within(path, root) for root in roots)
    assert access == "read" or path not in policy.protected
