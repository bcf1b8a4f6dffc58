"""Which paths may be read and written: by their text, and by where they lead on the disk."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.contract.gates import Access
from holdfast.contract.ports import PathFacts
from holdfast.execution.path_facts import DiskPaths
from holdfast.policy.paths import (
    AdmittedPath,
    PathPatternProblem,
    PathPatterns,
    PathVerdict,
    Refused,
    judge_path,
    literal_root,
)
from holdfast.policy.places import Place, PlaceProblem, Places, places_of
from holdfast.policy.protected import is_protected
from holdfast.testing.fakes import FakePaths

DISK = DiskPaths()
FAKE = FakePaths()


def _judge(
    patterns: Sequence[str],
    path: str,
    access: Access = "read",
    *,
    workspace: Sequence[str | Path] = ("/ws",),
    facts: PathFacts = FAKE,
) -> PathVerdict:
    places = places_of({"workspace": list(map(str, workspace))}, facts)
    seen = facts.look(path, places.base)
    return judge_path([PathPatterns(patterns, places)], access, path, seen)


def _canonical(verdict: PathVerdict) -> str:
    assert isinstance(verdict, AdmittedPath), verdict
    return verdict.canonical


def _reason(verdict: PathVerdict) -> str:
    assert isinstance(verdict, Refused), verdict
    return verdict.reason


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A workspace, things beside it, and links of every kind."""
    root = tmp_path.resolve()
    for name in ("ws/docs/a.md", "ws/src/a.py", "ws/secrets/k.pem", "ws-backup/x.md", "out/o.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name, "utf-8")
    for name, target in {
        "ws/docs/out": root / "out",
        "ws/docs/file-out": root / "out/o.txt",
        "ws/docs/peer": Path("a.md"),
        "ws/docs/sec": root / "ws/secrets",
        "ws/docs/dangling": root / "out/new.txt",
        "ws/docs/dangling-near": Path("new.md"),
        "ws/loop": root / "ws/loop",
        "wslink": root / "ws",
    }.items():
        (root / name).symlink_to(target)
    return root


@pytest.mark.parametrize(
    ("patterns", "path"),
    [
        (["docs/**"], "docs/a.md"),
        (["docs/"], "docs/a.md"),
        (["{workspace}/docs/**"], "docs/a.md"),
        (["./docs//**"], "docs/a.md"),
        (["**/*.md"], "docs/a.md"),
        (["**"], "./docs//a.md"),
        (["**"], "."),
        (["**"], ".hidden/.x"),
        (["."], "."),
        (["src/*.{ts,js}"], "src/a.ts"),
        (["/ws/docs/*"], "docs/a.md"),
        (["/"], "docs/a.md"),
        (["nope", "docs/*"], "docs/a.md"),
        (["docs/new/deep/**"], "docs/new/deep/file"),
        (["x"], "docs/../x"),
    ],
)
def test_a_pattern_is_relative_to_the_workspace(patterns: list[str], path: str) -> None:
    assert _canonical(_judge(patterns, path)).startswith("/ws")


@pytest.mark.parametrize(
    ("patterns", "path"),
    [
        ([], "docs/a.md"),
        (["docs/**"], "src/a.py"),
        (["docs/**"], "docs/../secrets/k.pem"),
        (["docs/*"], "docs/a/b"),
        (["."], "docs"),
        (["**"], ".."),
        (["**"], "../out/o.txt"),
        (["**"], "/out/o.txt"),
        (["**"], "//out/o.txt"),
        (["**"], "/"),
        (["**"], "../ws/../out/x"),
        (["docs"], "docs/a.md"),
    ],
)
def test_what_no_pattern_names_is_outside(patterns: list[str], path: str) -> None:
    assert _reason(_judge(patterns, path)) == f"{path!r} is outside of what may be read."
    assert _reason(_judge(patterns, path, "write")).endswith("outside of what may be written.")


@pytest.mark.req("SPEC-CAP-07", "SPEC-CAP-09")
def test_case_matters_and_a_tilde_is_an_ordinary_name() -> None:
    assert _canonical(_judge(["~/**"], "~/x")) == "/ws/~/x"
    _reason(_judge(["docs/**"], "Docs/a.md"))
    _reason(_judge(["Docs/**"], "docs/a.md"))


@pytest.mark.req("SPEC-CAP-08")
def test_an_absolute_path_inside_is_accepted(tree: Path) -> None:
    path = str(tree / "ws/docs/a.md")
    assert _canonical(_judge(["docs/**"], path, workspace=[tree / "ws"], facts=DISK)) == path


@pytest.mark.req("SPEC-CAP-06")
def test_a_sibling_whose_name_begins_like_the_root_is_outside(tree: Path) -> None:
    for pattern in ("**", "{workspace}/**", f"{tree}/ws/"):
        for path in (tree / "ws-backup/x.md", "../ws-backup/x.md"):
            _reason(_judge([pattern], str(path), workspace=[tree / "ws"], facts=DISK))


@pytest.mark.req("SPEC-CAP-02")
def test_roots_and_targets_are_resolved_as_far_as_they_exist(tree: Path) -> None:
    def seen(path: str) -> str:
        return _canonical(_judge(["**"], path, "write", workspace=[tree / "wslink"], facts=DISK))

    assert seen("docs/a.md") == f"{tree}/ws/docs/a.md"
    assert seen("new/deep/file.md") == f"{tree}/ws/new/deep/file.md"
    assert seen(f"{tree}/ws/docs/a.md") == f"{tree}/ws/docs/a.md"
    assert seen(f"{tree}/wslink/new") == f"{tree}/ws/new"
    assert seen("docs/peer") == f"{tree}/ws/docs/a.md"
    assert seen("docs/dangling-near") == f"{tree}/ws/docs/new.md"


def test_a_root_that_was_a_link_and_is_replaced_by_a_directory_is_outside(tree: Path) -> None:
    places = places_of({"workspace": [str(tree / "wslink")]}, DISK)
    (tree / "wslink").unlink()
    (tree / "wslink/docs").mkdir(parents=True)
    (tree / "wslink/docs/a.md").write_text("other", "utf-8")
    seen = DISK.look("docs/a.md", places.base)
    verdict = judge_path([PathPatterns(["**"], places)], "read", "docs/a.md", seen)
    assert "leads outside" in _reason(verdict)


@pytest.mark.req("SPEC-CAP-03")
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("docs/a\0.md", "NUL"),
        ("loop", "circle"),
        ("loop/x", "circle"),
        ("docs/dangling", "leads outside"),
        ("docs/a.md/x", "as if it were a directory"),
        ("x" * 300, "too long"),
        ("docs/\ud800", "no file name"),
        ("", "empty"),
    ],
)
def test_a_path_that_leads_nowhere_good_is_refused(tree: Path, path: str, said: str) -> None:
    for access in ("read", "write"):
        verdict = _judge(["**"], path, access, workspace=[tree / "ws"], facts=DISK)
        assert said in _reason(verdict)
        assert len(_reason(verdict)) < 400


@pytest.mark.req("SPEC-CAP-04", "BOA-SBOX-04")
@pytest.mark.parametrize(
    ("patterns", "path", "said"),
    [
        (["**"], "docs/out", "link"),
        (["**"], "docs/out/o.txt", "link"),
        (["**"], "docs/out/new.txt", "link"),
        (["**"], "docs/file-out", "link"),
        (["docs/**"], "docs/sec/k.pem", "link"),
        (["docs/**"], "docs/sec/../src/a.py", "link"),
        (["docs/**"], "docs/out/../docs/a.md", "link"),
        (["src/**", "secrets/**"], "docs/sec/k.pem", "outside of"),
    ],
)
def test_text_and_place_both_have_to_stay_inside(
    tree: Path, patterns: list[str], path: str, said: str
) -> None:
    for access in ("read", "write"):
        verdict = _judge(patterns, path, access, workspace=[tree / "ws"], facts=DISK)
        assert said in _reason(verdict)


def test_a_refusal_says_nothing_of_what_lies_outside(tree: Path) -> None:
    for path in ("docs/out/o.txt", "docs/file-out", "docs/dangling"):
        reason = _reason(_judge(["**"], path, workspace=[tree / "ws"], facts=DISK))
        assert str(tree) not in reason
        assert reason == f"{path!r} passes a link that leads outside of what may be read."
    # Outside there is no telling what exists: a file, a loop, nothing and NUL look alike.
    there = _reason(_judge(["**"], "../out/o.txt", workspace=[tree / "ws"], facts=DISK))
    missing = _reason(_judge(["**"], "../out/none/x", workspace=[tree / "ws"], facts=DISK))
    through = _reason(_judge(["**"], "../out/o.txt/x", workspace=[tree / "ws"], facts=DISK))
    said = {one.split("'")[2] for one in (there, missing, through)}
    assert said == {" is outside of what may be read."}


def test_several_roots_all_count_and_the_first_is_where_relative_paths_begin() -> None:
    two = ["/ws", "/more"]
    assert _canonical(_judge(["docs/**"], "docs/a", workspace=two)) == "/ws/docs/a"
    assert _canonical(_judge(["docs/**"], "/more/docs/a", workspace=two)) == "/more/docs/a"
    _reason(_judge(["docs/**"], "/more/src/a", workspace=two))
    assert _canonical(_judge(["{workspace}/*"], "/more/a", workspace=two)) == "/more/a"


@pytest.mark.req("SPEC-VAR-05")
@pytest.mark.parametrize("pattern", ["**", "{workspace}/**", "{workspace}", "{ad-hoc}/**", "a/**"])
def test_without_a_workspace_nothing_relative_is_inside(pattern: str) -> None:
    assert "no workspace" in _reason(_judge([pattern], "a/b", workspace=[]))
    for path in ("/a/b", "/", "/etc/passwd"):
        assert "outside" in _reason(_judge([pattern], path, workspace=[]))
    assert PathPatterns([pattern], Places()).canonical == ()


def test_characters_of_a_root_are_plain_text() -> None:
    for root in ("/p[1]", "/p*", "/p{a,b}", "/p?", "/p\\", "/p,x"):
        assert _canonical(_judge(["{workspace}/**"], "x", workspace=[root])) == f"{root}/x"
        assert _canonical(_judge(["*"], "x", workspace=[root])) == f"{root}/x"
        for other in ("/p1/x", "/pa/x", "/p/x", "/pp/x"):
            _reason(_judge(["{workspace}/**", "*"], other, workspace=[root]))


def test_the_whole_disk_can_be_a_workspace() -> None:
    assert _canonical(_judge(["**"], "etc/x", workspace=["/"])) == "/etc/x"
    assert _canonical(_judge(["{workspace}/etc/*"], "/etc/x", workspace=["/"])) == "/etc/x"
    assert _canonical(_judge(["."], "/", workspace=["/"])) == "/"
    _reason(_judge([".", "{workspace}"], "/etc", workspace=["/"]))


@pytest.mark.parametrize("pattern", ["", "../x", "docs/../../x", "{a,..}/x", "/.."])
def test_a_pattern_that_is_empty_or_climbs_is_an_error(pattern: str) -> None:
    with pytest.raises(PathPatternProblem):
        PathPatterns([pattern], Places(workspace=(Place("/ws", "/ws"),)))


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"workspace": [""]}, "absolute"),
        ({"workspace": ["relative"]}, "absolute"),
        ({"workspace": ["/a\0"]}, "nul"),
        ({"home": ["/a"]}, "no variable 'home'"),
    ],
)
def test_a_place_that_is_no_directory_is_an_error(
    variables: dict[str, list[str]], said: str
) -> None:
    with pytest.raises(PlaceProblem, match=said):
        places_of(variables, FAKE)


@pytest.mark.parametrize(
    ("pattern", "root"),
    [
        ("/ws/docs/**", "/ws/docs"),
        ("/ws/docs/*.md", "/ws/docs"),
        ("/ws/docs/a.md", "/ws/docs/a.md"),
        (r"/ws/d\*/*", "/ws/d*"),
        ("/**", "/"),
        (r"\/", "/"),
        ("/*/x", "/"),
    ],
)
def test_a_pattern_is_rounded_out_to_what_stands_before_its_first_wildcard(
    pattern: str, root: str
) -> None:
    assert literal_root(pattern) == root


PROTECTED = [
    *(".git/config", ".git/hooks/pre-commit", ".git", "sub/dir/.git/HEAD", ".hg/hgrc"),
    *(".svn/entries", ".jj/x", "CVS/Entries", ".GIT/config", ".gitmodules"),
    *(".bashrc", ".zshrc", ".profile", "home/.bash_profile", ".env", ".env.local", ".envrc"),
    *("app/.env", ".ENV", ".npmrc", ".pypirc", "pip.conf", ".yarnrc.yml", ".cargo/config.toml"),
    *("package-lock.json", "web/yarn.lock", "Cargo.lock", "poetry.lock", "uv.lock", "go.sum"),
    *(".mcp.json", ".claude.json", ".claude/settings.json", ".holdfast/config.toml"),
    *(".vscode/tasks.json", ".ssh/authorized_keys"),
]
ORDINARY = [
    *(
        "a.md",
        "git/config",
        ".github/workflows/x.yml",
        ".gitignore",
        "bashrc",
        "env",
        ".environment",
    ),
    *(".env.example", "cvs/a.pdf", "package.json", "Cargo.toml", "config.toml", ".claude/notes.md"),
    *("x.lock", "holdfast/x", "docs/.gitkeep"),
]


@pytest.mark.req("SPEC-WRITE-07")
@pytest.mark.parametrize("path", PROTECTED)
def test_protected_places_are_not_written_though_they_lie_in_a_writable_root(path: str) -> None:
    for pattern in ("**", "{workspace}/**", f"{path}*", f"{path}/", f"{{x,{path}*}}"):
        assert "protected" in _reason(_judge([pattern], path, "write"))
    assert _canonical(_judge(["**"], path, "read")) == f"/ws/{path}"
    # Whoever means it names it in full.
    assert _canonical(_judge(["**", path], path, "write")) == f"/ws/{path}"
    assert _canonical(_judge([f"{{workspace}}/{path}"], path, "write")) == f"/ws/{path}"


@pytest.mark.parametrize("path", ORDINARY)
def test_what_only_looks_like_a_protected_place_is_written(path: str) -> None:
    assert _canonical(_judge(["**"], path, "write")) == f"/ws/{path}"


@pytest.mark.req("SPEC-WRITE-07")
def test_no_link_leads_around_the_protection(tree: Path) -> None:
    workspace = tree / "ws"
    (workspace / ".git/hooks").mkdir(parents=True)
    (workspace / "innocent").symlink_to(workspace / ".git/hooks")
    (workspace / ".env").symlink_to(workspace / "docs/a.md")
    for path in ("innocent/pre-commit", ".env"):
        verdict = _judge(["**"], path, "write", workspace=[workspace], facts=DISK)
        assert "protected" in _reason(verdict)


def test_only_what_lies_below_a_root_is_looked_at_and_any_root_counts() -> None:
    within = ["/home/.holdfast/scratch"]
    assert _canonical(_judge(["**"], "x", "write", workspace=within)) == f"{within[0]}/x"
    assert is_protected("/ws/.git/x", ["/ws", "/ws/.git"])
    assert is_protected("/else/.git/x", ["/ws"])
    assert not is_protected("/else/x", ["/ws"])
    assert is_protected("/.git/x", ["/"])


def test_a_working_directory_confines_paths_by_where_they_really_lead(tree: Path) -> None:
    def verdict(path: str) -> PathVerdict:
        return _judge(["**"], path, "write", workspace=[tree / "ws"], facts=DISK)

    for inside in ("docs/a.md", "docs/../src/a.py", str(tree / "ws/new.txt")):
        assert _canonical(verdict(inside)).startswith(f"{tree}/ws/")
    for outside in ("../out/o.txt", str(tree / "out/o.txt"), "docs/out/o.txt", "/etc/passwd"):
        _reason(verdict(outside))


NAMES = st.sampled_from(["a", "b", ".git", "..", ".", "", "*", "[a]"])
WRITTEN = st.lists(NAMES, min_size=1, max_size=6).map("/".join)


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(["/ws/a", "/ws/b", "/ws/a/b", "/out/a"]), WRITTEN, max_size=4),
    st.lists(st.sampled_from(["**", "a/**", "a", "*", "{workspace}/b/", "*/b"]), max_size=3),
    WRITTEN,
    st.sampled_from(["read", "write"]),
)
def test_whatever_is_admitted_lies_within_the_root_and_the_patterns(
    links: dict[str, str], patterns: list[str], path: str, access: Access
) -> None:
    facts = FakePaths((), {name: target for name, target in links.items() if target})
    verdict = _judge(patterns, path, access, facts=facts)
    if isinstance(verdict, AdmittedPath):
        assert verdict.canonical == "/ws" or verdict.canonical.startswith("/ws/")
        assert ".." not in verdict.canonical.split("/")
        # The canonical path is its own canonical path, and is admitted again.
        again = _judge(patterns, verdict.canonical, access, facts=facts)
        assert again == verdict
        assert access == "read" or ".git" not in verdict.canonical
