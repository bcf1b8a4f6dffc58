"""Where a use leads, and whether it is within reach. Real files, real links."""

from pathlib import Path

import msgspec
import pytest
from policy.rules_kit import use
from support import make_tool

from holdfast.contract.gates import Access, PathLeave, Refusal
from holdfast.contract.requirements import RequirementSet, requirement_set
from holdfast.contract.rules import Use
from holdfast.execution.path_facts import DiskPaths
from holdfast.policy.places import NOWHERE, places_of
from holdfast.policy.reach import Folders, Reach
from holdfast.policy.scope import EffectiveScope, compile_scope
from holdfast.policy.tool_scopes import ToolScopes

REQUIRES = requirement_set(
    {
        "fs": {"read": ["**"], "write": ["docs/**"]},
        "net": {"hosts": ["api.example", "*.docs.example"]},
        "shell": [{"cmd": "git"}],
        "capabilities": ["secrets.has"],
    }
)
TOOL = msgspec.structs.replace(make_tool(), requires=REQUIRES)


def reach(
    root: Path, *, ceiling: RequirementSet | None = None, strict: bool = False, own: str = ""
) -> Reach:
    facts = DiskPaths()
    workspace = root / "ws"
    (workspace / "docs").mkdir(parents=True, exist_ok=True)
    places = places_of({"workspace": [str(workspace)]}, facts)
    layers = [compile_scope(one, places) for one in (REQUIRES, ceiling) if one is not None]
    scope = EffectiveScope(layers[0], facts, *layers[1:])
    scopes = ToolScopes(scope, places, strict=strict)
    return Reach(scopes, facts, places, Folders((own,) if own else ()))


def within_one_text(text: str, capability: str, target: str) -> Use:
    return msgspec.structs.replace(use(capability, target), within=text)


def test_what_needs_nothing_is_in_reach(tmp_path: Path) -> None:
    assert reach(tmp_path)(TOOL, use(None)).refusal is None


def test_a_path_of_a_further_root_is_told_in_full(tmp_path: Path) -> None:
    """From there it would be taken for a path of the workspace that is called the same."""
    roots = [tmp_path / name for name in ("ws", "ws-more")]
    for root in roots:
        (root / "docs").mkdir(parents=True)
    facts = DiskPaths()
    places = places_of({"workspace": [str(root) for root in roots]}, facts)
    scope = EffectiveScope(compile_scope(REQUIRES, places), facts)
    seen = Reach(ToolScopes(scope, places), facts, places)
    for written, target in (
        ("docs/a", "docs/a"),
        (f"{roots[0]}/docs/a", "docs/a"),
        (f"{roots[1]}/docs/a", f"{roots[1]}/docs/a"),
        (f"{roots[1]}", f"{roots[1]}"),
    ):
        looked = seen(TOOL, use("fs.read", written))
        assert (looked.use.target, looked.use.spellings) == (target, ())
    assert seen(TOOL, use("fs.read", f"{roots[1]}/docs/a")).refusal is None


@pytest.mark.req("SPEC-PERM-10")
@pytest.mark.parametrize(
    ("written", "target"),
    [("docs/a", "docs/a"), ("./docs//b/../a", "docs/a"), (".", "."), ("@/ws/docs/a", "docs/a")],
)
def test_a_path_is_told_from_the_workspace(tmp_path: Path, written: str, target: str) -> None:
    looked = reach(tmp_path)(TOOL, use("fs.read", written.replace("@", str(tmp_path))))
    assert looked.refusal is None
    assert (looked.use.target, looked.use.spellings) == (target, ())


def test_a_link_has_two_spellings(tmp_path: Path) -> None:
    seeing = reach(tmp_path)
    (tmp_path / "ws" / "link").symlink_to(tmp_path / "ws" / "docs")
    looked = seeing(TOOL, use("fs.read", "link/a"))
    assert (looked.use.target, looked.use.spellings) == ("link/a", ("docs/a",))


@pytest.mark.parametrize(
    ("capability", "written", "admits"),
    [
        ("fs.write", "src/a", "requires.fs.write = ['src/a']"),
        ("fs.read", "../x", "requires.fs.read"),
        ("net.fetch", "https://evil.example/x", "requires.net.hosts = ['evil.example']"),
        ("net.fetch", "http://evil.example:8080/", "requires.net.hosts = ['evil.example:8080']"),
        ("net.fetch", "http://[::1]:8080/", "requires.net.hosts = ['[::1]:8080']"),
        ("net.fetch", "http://[::1]/", "requires.net.hosts = ['::1']"),
        ("shell.run", "rm x", "requires.shell = [{'cmd': 'rm'}]"),
    ],
)
def test_what_is_out_of_reach_is_told_with_what_would_admit_it(
    tmp_path: Path, capability: str, written: str, admits: str
) -> None:
    refusal = reach(tmp_path)(TOOL, use(capability, written)).refusal
    assert refusal is not None
    assert admits in refusal


@pytest.mark.parametrize("ceiling", [None, requirement_set({"fs": {"read": ["src/**"]}})])
@pytest.mark.parametrize("access", ["read", "write"])
def test_what_lies_outside_changes_nothing_of_the_answer(
    tmp_path: Path, access: Access, ceiling: RequirementSet | None
) -> None:
    (tmp_path / "thing").mkdir()
    seeing = reach(tmp_path, ceiling=ceiling)

    def answer() -> PathLeave | Refusal:
        return seeing.path(TOOL, None, access, str(tmp_path / "thing" / "x" / "y"))

    first = answer()
    assert isinstance(first, Refusal)
    (tmp_path / "thing" / "x").write_text("", "utf-8")
    assert answer() == first
    (tmp_path / "thing" / "x").unlink()
    (tmp_path / "thing" / "x").symlink_to("x")
    assert answer() == first
    # Inside, what is there may be told.
    (tmp_path / "ws" / "docs" / "x").write_text("", "utf-8")
    inside = reach(tmp_path).path(TOOL, None, "read", "docs/x/y")
    assert isinstance(inside, Refusal)
    assert "as if it were a directory" in inside.reason


def test_a_path_nobody_can_follow_is_refused(tmp_path: Path) -> None:
    looked = reach(tmp_path)(TOOL, use("fs.read", "a\0b"))
    assert looked.refusal is not None
    assert "NUL" in looked.refusal


@pytest.mark.parametrize(
    ("written", "host", "fits"),
    [
        ("https://API.example./v1?x=1", "api.example", True),
        ("a.b.docs.example", "a.b.docs.example", True),
        ("https://docs.example/", "docs.example", False),
        ("https://api.example@evil.net/", "evil.net", False),
        ("not a url", "not a url", False),
    ],
)
def test_a_url_becomes_its_host(tmp_path: Path, written: str, host: str, fits: bool) -> None:
    looked = reach(tmp_path)(TOOL, use("net.fetch", written))
    assert looked.use.target == host
    assert (looked.refusal is None) is fits


def test_a_command_text_is_judged_as_a_whole(tmp_path: Path) -> None:
    seeing = reach(tmp_path)
    assert seeing(TOOL, use("shell.run", "git log")).refusal is None
    part = within_one_text("git log; rm x", "shell.run", "git log")
    assert seeing(TOOL, part).refusal is not None
    redirected = within_one_text("git log > docs/a", "fs.write", "docs/../docs/a")
    looked = seeing(TOOL, redirected)
    assert (looked.refusal, looked.use.target) == (None, "docs/a")


def nowhere() -> Reach:
    facts = DiskPaths()
    anything = compile_scope(requirement_set({"shell": [{"cmd": "*"}]}), NOWHERE)
    return Reach(ToolScopes(EffectiveScope(anything, facts), NOWHERE), facts, NOWHERE)


@pytest.mark.parametrize(
    ("written", "target", "sure"),
    [
        ("x", "x", False),
        ("./x", "x", False),
        ("a//b/./x", "a/b/x", False),
        ("a/../x", "x", False),
        ("sub/../../x", "../x", False),
        ("../x", "../x", False),
        ("/etc//passwd", "/etc/passwd", True),
        ("//etc/./passwd", "/etc/passwd", True),
        ("/etc/./passwd/x", "/etc/passwd/x", False),
    ],
)
def test_without_a_workspace_a_redirection_is_told_by_its_text(
    written: str, target: str, sure: bool
) -> None:
    looked = nowhere()(TOOL, within_one_text("x", "fs.write", written))
    assert (looked.refusal, looked.use.target) == (None, target)
    assert (looked.use.doubt is None) is sure, "no allow covers a place that is not known"


def test_a_doubt_about_a_redirection_stays(tmp_path: Path) -> None:
    unknown = within_one_text("echo > $x", "fs.write", "")
    for seeing in (nowhere(), reach(tmp_path)):
        looked = seeing(TOOL, msgspec.structs.replace(unknown, doubt="a variable"))
        assert (looked.use.target, looked.use.doubt) == ("", "a variable")


def test_a_capability_is_granted_by_name(tmp_path: Path) -> None:
    seeing = reach(tmp_path)
    assert seeing(TOOL, use("secrets.has")).refusal is None
    assert seeing(TOOL, use("stream.send")).refusal is not None


def test_a_ceiling_withholds_what_a_tool_declares(tmp_path: Path) -> None:
    declared = msgspec.structs.replace(use("net.fetch", "api.example"), declared=True)
    assert reach(tmp_path)(TOOL, declared).refusal is None
    lower = reach(tmp_path, ceiling=requirement_set({"fs": {"read": ["**"]}}))
    assert lower(TOOL, declared).refusal is not None
    assert lower(TOOL, use("fs.read", "docs/a")).refusal is None
    assert lower(TOOL, use("fs.write", "docs/a")).refusal is not None


@pytest.mark.req("SPEC-CON-14")
def test_in_strict_mode_a_tool_has_only_what_it_requires_itself(tmp_path: Path) -> None:
    modest = make_tool(name="modest")
    assert reach(tmp_path)(modest, use("fs.read", "docs/a")).refusal is None
    strict = reach(tmp_path, strict=True)
    assert strict(modest, use("fs.read", "docs/a")).refusal is not None
    assert strict(modest, use("fs.read", "docs/b")).refusal is not None
    assert strict(TOOL, use("fs.read", "docs/a")).refusal is None


@pytest.mark.req("SPEC-TRUNC-21")
def test_a_sidecar_is_readable_by_its_own_session_only(tmp_path: Path) -> None:
    own, other = tmp_path / "sessions" / "ses_1", tmp_path / "sessions" / "ses_2"
    seeing = reach(tmp_path, own=str(own))
    looked = seeing(TOOL, use("fs.read", str(own / "outputs" / "a")))
    assert (looked.refusal, looked.free) == (None, True)
    for capability, path in (("fs.read", other / "a"), ("fs.write", own / "a")):
        refused = seeing(TOOL, use(capability, str(path)))
        assert refused.refusal is not None
        assert not refused.free
    assert seeing.path(TOOL, None, "read", str(own / "a")) == PathLeave(str(own / "a"))
    own.mkdir(parents=True)
    (own / "link").symlink_to(other)
    assert seeing(TOOL, use("fs.read", str(own / "link" / "a"))).refusal is not None


@pytest.mark.parametrize(
    ("capability", "written"),
    [
        ("fs.write", "docs/a"),
        ("net.fetch", "https://api.example/"),
        ("shell.run", "git log"),
    ],
)
def test_what_a_ceiling_withholds_is_not_asked_of_the_tool(
    tmp_path: Path, capability: str, written: str
) -> None:
    lower = reach(tmp_path, ceiling=requirement_set({"shell": [{"cmd": "ls"}]}))
    refusal = lower(TOOL, use(capability, written)).refusal
    assert refusal is not None
    assert "The tool requires it, but a ceiling" in refusal
    assert "It would be admitted by" not in refusal
    assert "`requires` declares" not in refusal


def test_the_command_that_a_ceiling_withholds_is_named(tmp_path: Path) -> None:
    only_log = requirement_set({"shell": [{"cmd": "git", "args": ["log"]}]})
    refusal = reach(tmp_path, ceiling=only_log)(TOOL, use("shell.run", "git log; git diff")).refusal
    assert refusal is not None
    assert refusal.startswith(
        "The command is not among those that may run. It stops at 'git diff'. The tool requires it,"
    )


def test_a_program_with_a_path_is_told_to_go_without(tmp_path: Path) -> None:
    refusal = reach(tmp_path)(TOOL, use("shell.run", "/usr/bin/git log")).refusal
    assert refusal is not None
    assert "without a path" in refusal


CEILING = requirement_set(
    {
        "fs": {"read": ["notes/**", "a.txt", "x*/**"], "write": ["notes/**"]},
        "net": {"hosts": ["*.example.com", "api.test"]},
        "shell": [{"cmd": "git"}, {"cmd": "ls", "args": ["-l"]}],
        "capabilities": ["secrets.has"],
    }
)


@pytest.mark.parametrize(
    ("capability", "pattern", "held"),
    [
        ("fs.read", "notes/**", True),
        ("fs.read", "notes/deep/*.md", True),
        ("fs.read", "notes/one.md", True),
        ("fs.read", "a.txt", True),
        ("fs.read", "**", False),
        ("fs.read", "/etc/**", False),
        ("fs.read", "notes-old/**", False),
        ("fs.read", "xy/z", False),
        ("fs.write", "a.txt", False),
        ("net.fetch", "api.test", True),
        ("net.fetch", "a.example.com", True),
        ("net.fetch", "*.a.example.com", True),
        ("net.fetch", "*.com", False),
        ("net.fetch", "evil.org", False),
        ("net.fetch", "{workspace}.org", True),
        ("shell.run", "git", True),
        ("shell.run", "ls", False),
        ("shell.run", "rm", False),
    ],
)
def test_a_ceiling_has_to_hold_all_of_what_is_declared(
    tmp_path: Path, capability: str, pattern: str, held: bool
) -> None:
    declared = msgspec.structs.replace(use(capability, pattern), declared=True)
    refusal = reach(tmp_path, ceiling=CEILING)(TOOL, declared).refusal
    assert (refusal is None) is held
    assert reach(tmp_path)(TOOL, declared).refusal is None


@pytest.mark.parametrize("name", ["secrets.has", "stream.send"])
def test_a_named_capability_is_held_by_name(tmp_path: Path, name: str) -> None:
    named = msgspec.structs.replace(use(name, "x"), declared=True)
    bounded = reach(tmp_path, ceiling=CEILING)(TOOL, named).refusal
    assert (bounded is None) is (name == "secrets.has")


def test_a_body_is_told_what_is_wrong_with_a_host(tmp_path: Path) -> None:
    verdict = reach(tmp_path).host(TOOL, None, "a b.example")
    assert isinstance(verdict, Refusal)
    assert verdict.reason.startswith("The host is refused: ")
