"""A path that lies in the workspace is compared from there; a command as it stands."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.holdfast import Holdfast
from holdfast.app.problems import ConfigurationError
from holdfast.app.rule_places import from_the_workspace
from holdfast.contract.rules import Action, Rule
from holdfast.contract.tool import Tool
from holdfast.execution.path_facts import DiskPaths
from holdfast.policy.globs import compile_glob, escaped
from holdfast.sources.functions import tool
from holdfast.sources.intake import to_tool

WORKSPACE = Path("/w [x]")


@tool(uses={"text": "shell.run"})
def runner(text: str) -> str:
    """Run a text."""
    return text


def rules_of(
    permission: str, pattern: str, action: Action, workspace: Path, *tools: Tool
) -> list[Rule]:
    rule = Rule(
        permission=permission, pattern=pattern, action=action, scope="project", source="here"
    )
    return list(from_the_workspace([rule], workspace, tools, DiskPaths()))


def patterns(permission: str, pattern: str, action: Action, *tools: Tool) -> list[str]:
    return [found.pattern for found in rules_of(permission, pattern, action, WORKSPACE, *tools)]


def fits(pattern: str, path: str, workspace: Path, action: Action = "deny") -> bool:
    """Whether a rule fits a path that is told as calls tell it."""
    found = rules_of("fs.write", pattern, action, workspace)
    return any(
        rule.capability in (None, "fs.write") and compile_glob(rule.pattern, "path")(path)
        for rule in found
    )


@pytest.mark.parametrize("action", ["allow", "ask", "deny"])
@pytest.mark.parametrize(
    "written", ["./a/*", "/w [x]/a/*", f"{escaped(str(WORKSPACE))}/a/*", "a/*"]
)
def test_a_path_is_compared_from_the_workspace(action: Action, written: str) -> None:
    assert patterns("fs.write", written, action) == ["a/*"]
    assert patterns("save", written, action) == ["a/*"]


@pytest.mark.parametrize("action", ["allow", "ask", "deny"])
def test_a_program_of_the_workspace_is_no_program_of_the_same_name(action: Action) -> None:
    assert "./run.sh *" in patterns("shell.run", "./run.sh *", action)
    assert "./run.sh *" in patterns("runner", "./run.sh *", action, to_tool(runner))


def test_what_may_be_about_commands_widens_nothing() -> None:
    for permission in ("*", "bash", "shell.*", "runner"):
        made = to_tool(runner)
        assert patterns(permission, "./run.sh *", "allow", made) == ["./run.sh *"]
        assert patterns(permission, "./run.sh *", "deny", made) == ["./run.sh *", "run.sh *"]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("/srv/app/", "a.txt"),
        ("/srv/app", "."),
        ("/srv/", "a.txt"),
        ("/srv/**/a.txt", "a.txt"),
        ("/**/secrets/**", "secrets/a"),
        ("/*/app/secrets/", "secrets/a"),
        ("{/srv/app/secrets,/etc}/**", "secrets/a"),
        ("{/srv/app/secrets,/etc}/**", "/etc/passwd"),
        ("/srv//app/./secrets/", "secrets/a"),
        ("//srv/app/secrets/", "secrets/a"),
        ("./", "a.txt"),
        ("././secrets/", "secrets/a"),
        ("secrets//", "secrets/a"),
        ("secrets/./a", "secrets/a"),
        ("/srv/", "/srv/other"),
    ],
)
@pytest.mark.parametrize("action", ["allow", "ask", "deny"])
def test_a_pattern_from_elsewhere_reaches_into_the_workspace(
    written: str, told: str, action: Action
) -> None:
    assert fits(written, told, Path("/srv/app"), action)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("/", "a.txt"),
        ("/**", "a.txt"),
        ("/**/**", "a.txt"),
        ("/srv/other/", "a.txt"),
        ("/srv/app/secrets/", "a.txt"),
        ("/srv/app", "a.txt"),
        ("/srv/*", "a.txt"),
        ("/**/secrets/", "src/a"),
    ],
)
def test_a_pattern_from_elsewhere_reaches_no_further_than_it_says(written: str, told: str) -> None:
    assert not fits(written, told, Path("/srv/app"))


_SEGMENT = st.sampled_from(["a", "b", "*", "**", "?", "a*", "{a,b}", ".", ""])
_NAME = st.sampled_from(["a", "b", "ab"])


@given(
    pattern=st.lists(_SEGMENT, min_size=1, max_size=7).map(lambda parts: "/" + "/".join(parts)),
    workspace=st.lists(_NAME, min_size=1, max_size=3),
    told=st.lists(_NAME, min_size=1, max_size=4),
)
def test_what_an_absolute_pattern_fits_it_fits_from_the_workspace(
    pattern: str, workspace: list[str], told: list[str]
) -> None:
    home = Path("/x0", *workspace)
    pattern = "/x0" + pattern
    straight = "/".join(part for part in pattern.split("/") if part not in ("", "."))
    subtree = "/" if pattern.endswith("/") else ""
    whole = compile_glob(f"/{straight}{subtree}", "path")
    assert fits(pattern, "/".join(told), home) == whole(f"{home}/{'/'.join(told)}")


def test_what_reaches_in_from_elsewhere_says_nothing_of_commands() -> None:
    made = to_tool(runner)
    for permission in ("*", "runner"):
        found = rules_of(permission, "/srv/", "deny", Path("/srv/app"), made)
        assert [(rule.pattern, rule.capability) for rule in found] == [
            ("/srv/", None),
            ("**", "fs.read"),
            ("**", "fs.write"),
        ]
        assert patterns(permission, "/w [x]/", "allow", made) == ["/w [x]/"]


def test_a_link_in_a_pattern_is_followed_for_what_narrows(tmp_path: Path) -> None:
    home = tmp_path.resolve() / "real"
    home.mkdir()
    link = tmp_path.resolve() / "link"
    link.symlink_to(home)
    assert fits(f"{escaped(str(link))}/secrets/", "secrets/a", home, "deny")
    assert fits(f"{escaped(str(link))}/secrets/", "secrets/a", home, "ask")
    assert not fits(f"{escaped(str(link))}/secrets/", "secrets/a", home, "allow")


def test_a_bound_rule_stays_bound() -> None:
    rule = Rule(
        permission="*",
        pattern="/srv/",
        action="deny",
        scope="project",
        source="here",
        capability="fs.read",
    )
    found = from_the_workspace([rule], Path("/srv/app"), (), DiskPaths())
    assert [(one.pattern, one.capability) for one in found] == [
        ("/srv/", "fs.read"),
        ("**", "fs.read"),
    ]


def test_without_a_workspace_a_pattern_only_becomes_straight() -> None:
    rule = Rule(permission="*", pattern="/srv//a", action="deny", scope="project", source="here")
    found = from_the_workspace([rule], None, (), DiskPaths())
    assert [one.pattern for one in found] == ["/srv//a", "/srv/a", "/srv/a"]


def test_what_climbs_out_is_left_as_it_stands() -> None:
    assert patterns("save", "/w [x]/../y//z", "deny") == ["../y//z"]


def in_roots(
    pattern: str, *roots: str, permission: str = "fs.write", remembered: bool = False
) -> list[tuple[str, str | None]]:
    """What a rule says of further roots, beside what it says of the workspace."""
    rule = Rule(
        permission=permission,
        pattern=pattern,
        action="deny",
        scope="project",
        source="here",
        remembered=remembered,
    )
    found = from_the_workspace([rule], Path("/srv/app"), (), DiskPaths(), roots)
    usual = from_the_workspace([rule], Path("/srv/app"), (), DiskPaths())
    return [(one.pattern, one.capability) for one in found if one not in usual]


def both(pattern: str) -> list[tuple[str, str]]:
    return [(pattern, "fs.read"), (pattern, "fs.write")]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("secrets/**", "/x9/secrets/**"),
        ("./secrets//a", "/x9/secrets/a"),
        ("secrets/", "/x9/secrets/**"),
        ("*.pem", "/x9/*.pem"),
        (".", "/x9"),
    ],
)
def test_a_pattern_without_a_beginning_is_told_for_every_further_root(
    written: str, told: str
) -> None:
    assert in_roots(written, "/x9") == both(told)
    assert in_roots(written) == []


def test_what_begins_somewhere_fits_everything_or_was_remembered_is_told_once() -> None:
    for written in ("/x9/secrets/**", "/srv/app/x", "**", "*"):
        assert in_roots(written, "/x9") == [], written
    assert in_roots("a.txt", "/x9", remembered=True) == []
    assert in_roots("../a", "/x9", permission="save") == [], "it climbs out"
    assert in_roots("a.txt", "/x9", permission="save") == both("/x9/a.txt")
    assert in_roots("make *", "/x9", permission="shell.run") == []


def test_a_root_is_plain_text_and_may_lie_around_the_workspace() -> None:
    assert in_roots("a", "/l*b") == both(r"/l\*b/a")
    assert in_roots("app/a", "/srv") == [*both("/srv/app/a"), *both("a")]


@given(
    pattern=st.lists(_SEGMENT, min_size=1, max_size=4).map("/".join),
    told=st.lists(_NAME, min_size=1, max_size=4).map("/".join),
)
def test_a_pattern_says_of_a_root_what_it_says_of_the_workspace(pattern: str, told: str) -> None:
    if pattern.startswith("/") or not pattern.strip("*./"):
        return
    roots = [(one, kind) for one, kind in in_roots(pattern, "/x9") if kind == "fs.write"]
    fits_there = any(compile_glob(one, "path")(f"/x9/{told}") for one, _ in roots)
    assert fits_there == fits(pattern, told, Path("/srv/app"))
    assert not any(compile_glob(one, "path")(told) for one, _ in roots)


@tool(requires={"fs": {"write": ["**"]}}, uses={"path": "fs.write"})
def save(path: str) -> str:
    """Write a file, e.g. path='a.txt'."""
    return path


async def test_a_folder_above_the_workspace_is_denied_with_all_below_it(tmp_path: Path) -> None:
    above = escaped(str(tmp_path.resolve()))
    workspace = tmp_path / "app"
    workspace.mkdir()
    deny = Rule(
        permission="fs.write", pattern=f"{above}/", action="deny", scope="project", source="here"
    )
    async with Holdfast(tools=[save], rules=[deny], workspace=workspace) as hf:
        refused = await hf.settle("save", {"path": "a.txt"})
    assert refused.failure is not None
    assert refused.failure.kind == "rejected"


async def test_a_rule_that_is_none_is_a_mistake_of_configuration() -> None:
    bad = Rule(permission="x" * 5000, pattern="*", action="deny", scope="project", source="here")
    with pytest.raises(ConfigurationError, match="at most 4096"):
        async with Holdfast(tools=[save], rules=[bad]):
            pass
