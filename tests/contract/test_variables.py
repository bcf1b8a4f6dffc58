"""Variables in patterns: which there are, what they stand for, and that values are literal text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.requirements import FsRequirement, RequirementSet, requirement_set
from holdfast.contract.variables import UnknownVariable, check_pattern, expand, variables_in

GLOB = "*?[]{},\\"


def _matches(pattern: str, path: str) -> bool:
    """A plain reading of our patterns; a backslash takes the meaning from what follows."""
    text, at = "", 0
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            at += 1
            text += re.escape(pattern[at])
        elif pattern.startswith("**", at):
            at += 1
            text += ".*"
        else:
            spoken = {"*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")", ",": "|"}
            text += spoken.get(character, re.escape(character))
        at += 1
    return re.fullmatch(text, path) is not None


@pytest.mark.req("SPEC-VAR-01")
def test_path_and_host_patterns_may_hold_variables() -> None:
    parsed = requirement_set(
        {
            "fs": {"read": ["{workspace}/**", "{ad-hoc}/*"], "write": ["{user-data}/notes"]},
            "net": {"hosts": ["{workspace}.example.com"]},
        }
    )
    assert parsed.fs.read == ("{workspace}/**", "{ad-hoc}/*")
    assert expand("{workspace}.example.com", {"workspace": ["w"]}) == ["w.example.com"]


def test_workspace_stands_for_every_root_it_is_given() -> None:
    roots = {"workspace": ["/w", "/extra", "/third"]}
    assert expand("{workspace}/src/**", roots) == ["/w/src/**", "/extra/src/**", "/third/src/**"]
    assert expand("src/**", roots) == ["src/**"]


def test_ad_hoc_stands_for_the_directories_of_the_open_files() -> None:
    assert expand("{ad-hoc}/*.md", {"ad-hoc": ["/d/a", "/d/b"]}) == ["/d/a/*.md", "/d/b/*.md"]
    assert expand("{ad-hoc}/*.md", {"workspace": ["/w"]}) == []


def test_user_data_stands_for_the_data_directory() -> None:
    assert expand("{user-data}/notes", {"user-data": ["/data"]}) == ["/data/notes"]


def test_two_variables_give_every_combination() -> None:
    values = {"workspace": ["/a", "/b"], "user-data": ["x", "y"]}
    assert expand("{workspace}/{user-data}", values) == ["/a/x", "/a/y", "/b/x", "/b/y"]


@pytest.mark.req("SPEC-VAR-06")
def test_an_empty_expansion_is_no_error_and_leaves_the_other_patterns_in_force() -> None:
    parsed = requirement_set({"fs": {"read": ["{ad-hoc}/**", "{workspace}/src/*", "docs/*"]}})
    values = {"workspace": ["/w"], "ad-hoc": []}
    expanded = [whole for pattern in parsed.fs.read for whole in expand(pattern, values)]
    assert expanded == ["/w/src/*", "docs/*"]


UNKNOWN = [
    "{home}/x",
    "{Workspace}/x",
    "{WORKSPACE}",
    "{workspace }",
    "{adhoc}",
    "{ad_hoc}",
    "{}",
    "{{workspace}}",
    "{a{workspace}b}",
    "{a{b,c}}",
    "{work{a,b}space}",
    "{a,{home}}",
    "{workspace",
    "workspace}",
    "}{",
    "{a,b",
    "a,b}",
    "{{a,b}",
]


@pytest.mark.parametrize("pattern", UNKNOWN)
def test_an_unknown_variable_raises_when_the_declaration_is_read(pattern: str) -> None:
    for declared in (
        {"fs": {"read": ["src/**", pattern]}},
        {"fs": {"write": [pattern, "out/*"]}},
        {"net": {"hosts": ["example.com", pattern]}},
    ):
        with pytest.raises(ValueError, match=re.escape(repr(pattern))):
            requirement_set(declared)
    with pytest.raises(UnknownVariable):
        requirement_set(RequirementSet(fs=FsRequirement(read=(pattern,))))
    with pytest.raises(UnknownVariable):
        expand(pattern, {"home": ["/h"], "workspace": ["/w"]})


def test_the_error_names_the_known_variables() -> None:
    with pytest.raises(UnknownVariable, match=r"known: \{workspace\}, \{ad-hoc\}, \{user-data\}"):
        check_pattern("{home}")


@pytest.mark.parametrize(
    ("pattern", "names", "expanded"),
    [
        ("{a,b}/*", [], ["{a,b}/*"]),
        ("{workspace}/{a,b}", ["workspace"], ["/w/{a,b}"]),
        ("{workspace,b}", [], ["{workspace,b}"]),
        ("{a,}", [], ["{a,}"]),
        ("{,}", [], ["{,}"]),
        ("{a,{b,c}}", [], ["{a,{b,c}}"]),
        ("{a,{workspace}}/x", ["workspace"], ["{a,/w}/x"]),
        ("{{workspace},b}/x", ["workspace"], ["{/w,b}/x"]),
        ("plain/*.md", [], ["plain/*.md"]),
    ],
)
@pytest.mark.req("SPEC-VAR-08")
def test_a_group_without_a_comma_is_a_variable_and_with_one_it_is_alternation(
    pattern: str, names: list[str], expanded: list[str]
) -> None:
    assert variables_in(pattern) == names
    assert expand(pattern, {"workspace": ["/w"]}) == expanded


@pytest.mark.parametrize(
    ("directory", "other"),
    [
        ("/w/a*", "/w/ab"),
        ("/w/a?", "/w/ab"),
        ("/w/[ab]", "/w/a"),
        ("/w/{a,b}", "/w/a"),
        ("/w/a\\b", "/w/ab"),
        ("/w/**", "/w/x/y"),
        ("/w/a,b", "/w/a"),
    ],
)
@pytest.mark.parametrize("pattern", ["{workspace}/*.md", "{none,{workspace}}/*.md"])
@pytest.mark.req("SPEC-VAR-09")
def test_glob_characters_in_a_directory_match_only_themselves(
    directory: str, other: str, pattern: str
) -> None:
    (expanded,) = expand(pattern, {"workspace": [directory]})
    assert _matches(expanded, f"{directory}/notes.md")
    assert not _matches(expanded, f"{other}/notes.md")
    assert not _matches(expanded, f"{directory}/notes.txt")


@given(st.text(st.sampled_from([*GLOB, "a", "/", "."]), max_size=12))
@pytest.mark.req("SPEC-VAR-09")
def test_any_value_is_written_so_that_it_reads_back_as_itself(value: str) -> None:
    (expanded,) = expand("{workspace}", {"workspace": [value]})
    unescaped = re.sub(r"\\(.)", r"\1", expanded)
    assert unescaped == value
    bare = re.sub(r"\\.", "", expanded)
    assert not set(bare) & set(GLOB)
    assert _matches(expanded, value)
    (beside,) = expand("{{workspace},other}", {"workspace": [value]})
    assert _matches(beside, value)
    assert _matches(beside, "other")


@given(st.lists(st.text(max_size=5), max_size=4), st.lists(st.text(max_size=5), max_size=3))
def test_there_is_one_pattern_for_every_choice_of_values(roots: list[str], data: list[str]) -> None:
    values = {"workspace": roots, "user-data": data}
    assert len(expand("{workspace}/{user-data}/*", values)) == len(roots) * len(data)
    assert len(expand("{workspace}", values)) == len(roots)
