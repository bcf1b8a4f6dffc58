"""Whatever is united, capped and handed down: unions widen, layers narrow, no child exceeds."""

from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.contract.json_value import JsonObject
from holdfast.contract.requirements import RequirementSet, requirement_set
from holdfast.policy.paths import Refused
from holdfast.policy.places import Place, Places
from holdfast.policy.scope import (
    CAPABILITIES,
    EffectiveScope,
    Scope,
    child_of,
    compile_scope,
    strictly,
    union,
)
from holdfast.testing.fakes import FakePaths

PLACES = Places(workspace=(Place("/ws", "/ws"), Place("/more", "/more")))
FACTS = FakePaths((), {"/ws/docs/out": "/out", "/ws/link": "docs"})


def _scope(declared: RequirementSet) -> Scope:
    return compile_scope(declared, PLACES)


def _effective(declared: RequirementSet) -> EffectiveScope:
    return EffectiveScope(_scope(declared), FACTS)


def _allowed(verdict: object) -> bool:
    return not isinstance(verdict, Refused)


PATTERNS = st.lists(
    st.sampled_from(["**", "docs/**", "docs/*", "src/", "docs/a", "{ad-hoc}/**", "*/a", ".env"]),
    max_size=3,
)
HOSTS = st.lists(
    st.sampled_from(["*", "*.test", "a.test", "b.a.test", "a.test:443", "127.0.0.1", "localhost"]),
    max_size=3,
)
PROGRAMS: list[JsonObject] = [
    {"cmd": "ls"},
    {"cmd": "git", "args": ["log"]},
    {"cmd": "git"},
    {"cmd": "*"},
]
COMMANDS = st.lists(st.sampled_from(PROGRAMS), max_size=2)


def _declared(
    paths: tuple[list[str], list[str]],
    hosts: list[str],
    shell: list[JsonObject],
    names: list[str],
) -> RequirementSet:
    read, write = paths
    fs, net = {"read": read, "write": write}, {"hosts": hosts}
    return requirement_set({"fs": fs, "net": net, "shell": shell, "capabilities": names})


NAMES = st.lists(st.sampled_from(["secrets.has", "stream.send"]), max_size=2)
DECLARED = st.builds(_declared, st.tuples(PATTERNS, PATTERNS), HOSTS, COMMANDS, NAMES)

Use: TypeAlias = tuple[str, str]

USES: list[Use] = [
    *(("read", path) for path in ("docs/a", "docs/b/a", "src/a", ".env", "/etc/x", "docs/out/x")),
    *(("write", path) for path in ("docs/a", "src/a", ".env", "link/a", "/more/docs/a")),
    *(("host", host) for host in ("a.test", "b.a.test:443", "127.0.0.1", "localhost", "c.org")),
    *(("url", url) for url in ("https://a.test/", "http://a.test/", "http://127.1/")),
    *(("command", text) for text in ("ls", "git log", "git push", "ls > docs/a", "rm $x")),
    *(("name", name) for name in CAPABILITIES),
]


def _may(scope: EffectiveScope, use: Use) -> bool:
    kind, what = use
    match kind:
        case "read" | "write":
            return _allowed(scope.admits_path(kind, what))
        case "host":
            return _allowed(scope.admits_host(what))
        case "url":
            return _allowed(scope.admits_url(what))
        case "command":
            return _allowed(scope.admits_command(what))
        case _:
            return _allowed(scope.admits_capability(what))


def _all(scope: EffectiveScope) -> set[Use]:
    return {use for use in USES if _may(scope, use)}


@settings(deadline=None)
@given(st.lists(DECLARED, max_size=4), st.data())
def test_a_union_permits_all_of_its_parts_in_any_order(
    sets: list[RequirementSet], data: st.DataObject
) -> None:
    whole = union(sets)
    assert union(data.draw(st.permutations([*sets, *sets]))) == whole
    together = _all(_effective(whole))
    for one in sets:
        assert _all(_effective(one)) <= together


@settings(deadline=None)
@given(
    DECLARED,
    st.lists(
        st.tuples(st.sampled_from(["child", "ceiling", "strict"]), st.lists(DECLARED, max_size=3)),
        max_size=4,
    ),
)
def test_no_sequence_of_children_ceilings_and_unions_gives_more_than_the_ancestor_has(
    declared: RequirementSet, steps: list[tuple[str, list[RequirementSet]]]
) -> None:
    scope = _effective(declared)
    before = _all(scope)
    for kind, sets in steps:
        own = _scope(union(sets))
        alone = _all(EffectiveScope(own, FACTS))
        if kind == "child":
            scope = child_of(scope, EffectiveScope(own, FACTS))
        elif kind == "ceiling":
            scope = scope.narrowed(own)
        else:
            scope = strictly(scope, own)
        after = _all(scope)
        assert after == before & alone
        before = after
