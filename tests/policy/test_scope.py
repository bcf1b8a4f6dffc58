"""What an agent may do: unions widen, layers narrow, and no child exceeds its parent."""

from pathlib import Path

import pytest

from holdfast.contract.json_value import JsonObject
from holdfast.contract.requirements import NOTHING_REQUIRED, RequirementSet, requirement_set
from holdfast.contract.variables import UnknownVariable
from holdfast.execution.path_facts import DiskPaths
from holdfast.policy.host_patterns import HostPatternProblem
from holdfast.policy.paths import AdmittedPath, Refused
from holdfast.policy.places import Place, Places, places_of
from holdfast.policy.scope import (
    CAPABILITIES,
    AdmittedHost,
    EffectiveScope,
    Scope,
    child_of,
    compile_scope,
    strictly,
    union,
)
from holdfast.testing.fakes import FakePaths

PLACES = Places(
    workspace=(Place("/ws", "/ws"), Place("/more", "/more")),
    user_data=(Place("/home/.host", "/home/.host"),),
)
FACTS = FakePaths((), {"/ws/docs/out": "/out", "/ws/link": "docs"})


def _scope(declared: JsonObject | RequirementSet) -> Scope:
    return compile_scope(requirement_set(declared), PLACES)


def _effective(declared: JsonObject | RequirementSet, *narrowing: JsonObject) -> EffectiveScope:
    return EffectiveScope(_scope(declared), FACTS, *map(_scope, narrowing))


def _allowed(verdict: object) -> bool:
    return not isinstance(verdict, Refused)


def _reads(scope: EffectiveScope, path: str) -> bool:
    return _allowed(scope.admits_path("read", path))


def _writes(scope: EffectiveScope, path: str) -> bool:
    return _allowed(scope.admits_path("write", path))


@pytest.mark.req("SPEC-REQ-04")
def test_reading_and_writing_are_granted_apart() -> None:
    reader, writer = _effective({"fs": {"read": ["**"]}}), _effective({"fs": {"write": ["**"]}})
    assert _reads(reader, "a")
    assert not _writes(reader, "a")
    assert _writes(writer, "a")
    assert not _reads(writer, "a")


@pytest.mark.req("SPEC-REQ-15")
@pytest.mark.parametrize(
    "declared",
    [
        {},
        {"fs": {}, "net": {}, "shell": [], "capabilities": []},
        {"fs": {"read": [], "write": []}, "net": {"hosts": []}},
    ],
)
def test_what_is_not_declared_or_declared_empty_permits_nothing(declared: JsonObject) -> None:
    scope = _effective(declared)
    assert not _reads(scope, "a")
    assert not _writes(scope, "a")
    assert not _allowed(scope.admits_url("https://a.test/"))
    assert not _allowed(scope.admits_host("a.test"))
    assert not _allowed(scope.admits_command("ls"))
    for name in CAPABILITIES:
        assert not _allowed(scope.admits_capability(name))


@pytest.mark.req("SPEC-CAP-01")
def test_each_capability_in_use_is_granted_by_what_declares_it() -> None:
    granting: dict[str, JsonObject] = {
        "fs.read": {"fs": {"read": ["a"]}},
        "fs.write": {"fs": {"write": ["a"]}},
        "shell.run": {"shell": [{"cmd": "ls"}]},
        "net.fetch": {"net": {"hosts": ["a.test"]}},
        "secrets.has": {"capabilities": ["secrets.has"]},
        "stream.send": {"capabilities": ["stream.send"]},
    }
    assert tuple(granting) == CAPABILITIES
    for name, declared in granting.items():
        scope = _effective(declared)
        for other in CAPABILITIES:
            assert _allowed(scope.admits_capability(other)) == (other == name)
    # A name alone opens no path, host or command.
    assert not _reads(_effective({"capabilities": ["fs.read"]}), "a")
    assert not _allowed(_effective({"capabilities": ["fs.read"]}).admits_capability("fs.read"))


@pytest.mark.req("SPEC-REQ-13")
def test_listed_arguments_cover_all_of_them_and_no_more() -> None:
    def runs(entry: JsonObject, command: str) -> bool:
        return _allowed(_effective({"shell": [entry]}).admits_command(command))

    assert runs({"cmd": "git"}, "git log -1 HEAD")
    assert runs({"cmd": "git"}, "git")
    assert runs({"cmd": "git", "args": []}, "git")
    assert not runs({"cmd": "git", "args": []}, "git log")
    exact: JsonObject = {"cmd": "git", "args": ["log", {"wildcard": True}, {"prefix": "--max="}]}
    assert runs(exact, "git log HEAD --max=5")
    assert not runs(exact, "git log HEAD")
    assert not runs(exact, "git log HEAD --max=5 x")
    assert not runs(exact, "git log --max=5")


@pytest.mark.req("SPEC-REQ-14")
def test_a_program_is_its_bare_name_in_the_case_it_was_declared_in() -> None:
    scope = _effective({"shell": [{"cmd": "git"}]})
    assert _allowed(scope.admits_command("git status"))
    for command in ("Git status", "GIT", "/usr/bin/git status", "./git status", "gitk"):
        assert not _allowed(scope.admits_command(command))


@pytest.mark.parametrize(
    "command",
    [
        *("git status; rm x", "git log | sh", "echo $(id)", "echo `id`", "git status\nrm x"),
        *("GIT_PAGER=x git status", 'git log "open', "git status &", "", "sh -c 'rm x'"),
    ],
)
def test_a_command_is_admitted_only_when_all_of_it_is(command: str) -> None:
    scope = _effective({"shell": [{"cmd": "git"}, {"cmd": "echo"}, {"cmd": "sh"}]})
    refused = scope.admits_command(command)
    assert isinstance(refused, Refused)
    assert refused.reason == "The command is not among those that `requires` declares."
    assert _allowed(scope.admits_command("git status && echo done"))


def test_a_redirection_is_a_write_or_a_read_of_its_own() -> None:
    scope = _effective(
        {"shell": [{"cmd": "cat"}], "fs": {"write": ["out/**"], "read": ["docs/**"]}}
    )
    for command in ("cat < docs/a", "cat > out/x", "cat < docs/a >> out/x"):
        assert _allowed(scope.admits_command(command))
    for command in ("cat < out/x", "cat > docs/a", "cat > /etc/x", "cat > $X", "cat < docs/out/x"):
        assert not _allowed(scope.admits_command(command))
    # Where any program may run, the kernel is what bounds files.
    assert _allowed(_effective({"shell": [{"cmd": "*"}]}).admits_command("cat > $X; anything"))


@pytest.mark.req("SPEC-CON-11")
def test_the_declared_set_is_the_union_of_the_manifest_and_every_tool() -> None:
    manifest = requirement_set({"fs": {"read": ["docs/**"]}})
    writer = requirement_set({"fs": {"write": ["out/**"]}, "shell": [{"cmd": "make"}]})
    fetcher = requirement_set({"net": {"hosts": ["x.test"]}, "capabilities": ["stream.send"]})
    alone = _effective(union([manifest]))
    both = _effective(union([manifest, writer, fetcher]))
    assert _reads(alone, "docs/a")
    assert _reads(both, "docs/a")
    for scope, more in ((alone, False), (both, True)):
        assert _writes(scope, "out/r.md") == more
        assert _allowed(scope.admits_url("https://x.test/")) == more
        assert _allowed(scope.admits_command("make")) == more
        assert _allowed(scope.admits_capability("stream.send")) == more
        assert not _allowed(scope.admits_url("https://y.test/"))
    assert union([]) == NOTHING_REQUIRED


def test_a_ceiling_cuts_the_union_and_without_one_it_stands() -> None:
    declared: JsonObject = {
        "fs": {"read": ["**"]},
        "net": {"hosts": ["*.test"]},
        "shell": [{"cmd": "ls"}],
    }
    ceiling: JsonObject = {"fs": {"read": ["docs/**"]}, "net": {"hosts": ["a.test"]}}
    free, capped = _effective(declared), _effective(declared, ceiling)
    assert _reads(free, "src/a")
    assert not _reads(capped, "src/a")
    assert _reads(capped, "docs/a")
    assert _allowed(free.admits_host("b.test"))
    assert not _allowed(capped.admits_host("b.test"))
    assert _allowed(capped.admits_host("a.test"))
    assert not _allowed(capped.admits_command("ls"))
    # A ceiling gives nothing that was not asked for.
    assert not _writes(_effective(declared, {"fs": {"write": ["**"]}}), "a")


@pytest.mark.req("SPEC-CON-14")
def test_in_strict_mode_a_tool_has_only_what_it_requires_itself() -> None:
    reader: JsonObject = {"fs": {"read": ["docs/**"]}}
    writer: JsonObject = {"fs": {"write": ["out/**"]}}
    agent = _effective(union([requirement_set(reader), requirement_set(writer)]))
    assert _writes(agent, "out/x")
    strict = strictly(agent, _scope(reader))
    assert not _writes(strict, "out/x")
    assert _reads(strict, "docs/a")


@pytest.mark.req("SPEC-TASK-07")
def test_a_child_gets_what_it_has_in_common_with_its_parent() -> None:
    parent = _effective({"fs": {"read": ["docs/**"], "write": ["docs/**"]}})
    child = child_of(parent, _effective({"fs": {"read": ["**"]}, "shell": [{"cmd": "ls"}]}))
    assert _reads(child, "docs/a")
    assert not _reads(child, "src/a")
    assert not _writes(child, "docs/a")
    assert not _allowed(child.admits_command("ls"))
    grandchild = child_of(child, _effective({"fs": {"read": ["**"], "write": ["**"]}}))
    assert not _writes(grandchild, "docs/a")
    assert not _reads(grandchild, "src/a")
    assert _reads(grandchild, "docs/a")


@pytest.mark.req("SPEC-VAR-05")
def test_a_variable_that_stands_for_nothing_gives_nothing_and_leaves_the_rest() -> None:
    scope = _effective({"fs": {"read": ["{ad-hoc}/**", "docs/**"]}, "net": {"hosts": ["a.test"]}})
    assert _reads(scope, "docs/a")
    for path in ("/etc/passwd", "/", "src/a"):
        assert not _reads(scope, path)
    hosts = _effective(
        {"net": {"hosts": ["{workspace}", "{ad-hoc}", "{user-data}.test", "a.test"]}}
    )
    assert _allowed(hosts.admits_host("a.test"))
    assert not _allowed(hosts.admits_host("b.test"))


@pytest.mark.parametrize(
    "declared",
    [
        {"fs": {"read": ["{nope}/**"]}},
        {"fs": {"write": ["docs/**", "x/{Workspace}"]}},
        {"net": {"hosts": ["{nope}.test"]}},
        {"net": {"hosts": ["{}"]}},
    ],
)
def test_an_unknown_variable_is_an_error_even_where_nobody_read_the_declaration(
    declared: dict[str, dict[str, list[str]]],
) -> None:
    fs, net = declared.get("fs", {}), declared.get("net", {})
    unread = RequirementSet()
    unread = RequirementSet(
        fs=type(unread.fs)(tuple(fs.get("read", ())), tuple(fs.get("write", ()))),
        net=type(unread.net)(tuple(net.get("hosts", ()))),
    )
    with pytest.raises(UnknownVariable):
        compile_scope(unread, PLACES)


@pytest.mark.parametrize(
    "declared", [{"fs": {"read": ["../x"]}}, {"net": {"hosts": ["a b"]}}, {"fs": {"read": [""]}}]
)
def test_a_pattern_that_can_never_fit_is_an_error(declared: JsonObject) -> None:
    with pytest.raises(ValueError, match="pattern"):
        _scope(declared)


def test_a_host_pattern_without_variables_has_to_be_a_host() -> None:
    with pytest.raises(HostPatternProblem):
        _scope({"net": {"hosts": ["https://a.test/"]}})


def test_every_layer_has_to_admit_the_host_its_redirects_and_its_address() -> None:
    declared: JsonObject = {"net": {"hosts": ["*", "10.0.0.1"]}}
    scope = _effective(declared, {"net": {"hosts": ["*.example.com", "10.0.0.1"]}})
    verdict = scope.admits_url("https://a.example.com/")
    assert isinstance(verdict, AdmittedHost)
    assert verdict.host.name == "a.example.com"
    assert verdict.admits_address("8.8.8.8")
    assert verdict.admits_address("10.0.0.1")
    assert not verdict.admits_address("10.0.0.2")
    assert not _allowed(scope.admits_url("https://b.test/"))
    assert not _allowed(scope.admits_url("https://a.example.com/", ["https://b.test/"]))
    assert _allowed(scope.admits_url("https://a.example.com/", ["/b", "https://c.example.com/"]))
    assert not _allowed(scope.admits_host("a b"))
    granted_once = _effective(declared, {"net": {"hosts": ["*.example.com"]}})
    inside = granted_once.admits_host("a.example.com")
    assert isinstance(inside, AdmittedHost)
    assert not inside.admits_address("10.0.0.1")


def test_a_path_is_judged_by_every_layer_and_carries_where_it_leads() -> None:
    scope = _effective({"fs": {"read": ["**"]}}, {"fs": {"read": ["docs/**", "link/**"]}})
    assert scope.admits_path("read", "link/a") == AdmittedPath("/ws/docs/a")
    assert scope.admits_path("read", "/more/docs/a") == AdmittedPath("/more/docs/a")
    assert not _reads(scope, "docs/out/x")
    assert not _reads(scope, "src/a")


def test_a_protected_place_has_to_be_named_by_every_layer() -> None:
    named: JsonObject = {"fs": {"write": ["uv.lock"]}}
    assert _writes(_effective(named), "uv.lock")
    assert _writes(_effective(named, named), "uv.lock")
    assert not _writes(_effective(named, {"fs": {"write": ["**"]}}), "uv.lock")
    parent = _effective({"fs": {"write": ["**"]}})
    assert not _writes(child_of(parent, _effective(named)), "uv.lock")


def test_a_whole_session_on_the_disk(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "ws").mkdir()
    (root / "ws/up").symlink_to("..")
    facts = DiskPaths()
    places = places_of({"workspace": [str(root / "ws")]}, facts)
    scope = EffectiveScope(compile_scope(requirement_set({"fs": {"read": ["**"]}}), places), facts)
    assert scope.admits_path("read", "new") == AdmittedPath(f"{root}/ws/new")
    assert scope.admits_path("read", "up/ws/x") == AdmittedPath(f"{root}/ws/x")
    assert not _reads(scope, "up/other")
