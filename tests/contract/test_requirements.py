"""What a tool declares to need: four kinds of access, and patterns for command arguments."""

from collections.abc import Mapping

import pytest

from holdfast.contract.requirements import (
    NOTHING_REQUIRED,
    ArgPattern,
    FsRequirement,
    NetRequirement,
    Prefix,
    RequirementSet,
    ShellRunRequirement,
    Wildcard,
    argument_matches,
    requirement_set,
)

WHOLE: Mapping[str, object] = {
    "fs": {"read": ["src/**", "{workspace}/docs/*.md"], "write": ["out/*"]},
    "net": {"hosts": ["api.example.com", "*.example.org"]},
    "shell": [{"cmd": "git", "args": ["log", {"prefix": "--"}]}, {"cmd": "ls"}],
    "capabilities": ["clipboard", "notify"],
}


@pytest.mark.req("SPEC-REQ-01")
def test_a_set_has_four_members_and_each_may_be_left_out() -> None:
    assert RequirementSet.__struct_fields__ == ("fs", "net", "shell", "capabilities")
    assert requirement_set({}) == NOTHING_REQUIRED
    whole = requirement_set(WHOLE)
    for left_out in WHOLE:
        rest = {name: value for name, value in WHOLE.items() if name != left_out}
        parsed = requirement_set(rest)
        assert getattr(parsed, left_out) == getattr(NOTHING_REQUIRED, left_out)
        assert all(getattr(parsed, name) == getattr(whole, name) for name in rest)
        assert requirement_set({**WHOLE, left_out: None}) == parsed


@pytest.mark.parametrize(
    "declared",
    [
        {"filesystem": {}},
        {"fs": {"read": [], "execute": []}},
        {"net": {"ports": [80]}},
        {"shell": [{"cmd": "ls", "cwd": "/"}]},
        {"env": ["HOME"]},
        {"fs": ["src"]},
        {"capabilities": "clipboard"},
        {"capabilities": [1]},
    ],
)
@pytest.mark.req("SPEC-REQ-01")
def test_a_set_has_nothing_else(declared: Mapping[str, object]) -> None:
    with pytest.raises(ValueError, match=r"^requires: "):
        requirement_set(declared)


def test_the_empty_set_knows_that_it_is_empty() -> None:
    assert NOTHING_REQUIRED.empty
    assert requirement_set({"fs": {}, "net": {"hosts": []}, "shell": ()}).empty
    assert not requirement_set({"capabilities": ["clipboard"]}).empty


@pytest.mark.req("SPEC-REQ-02", "SPEC-REQ-03")
def test_read_and_write_are_separate_optional_lists_of_path_patterns() -> None:
    both = requirement_set({"fs": {"read": ["src/**", "*.md"], "write": ["out/*"]}}).fs
    assert both.read == ("src/**", "*.md")
    assert both.write == ("out/*",)
    only_read = requirement_set({"fs": {"read": ["a"]}}).fs
    assert (only_read.read, only_read.write) == (("a",), ())
    only_write = requirement_set({"fs": {"write": ["a"]}}).fs
    assert (only_write.read, only_write.write) == ((), ("a",))
    for bad in ({"read": "src"}, {"read": [1]}, {"write": "out"}, {"write": {"a": 1}}):
        with pytest.raises(ValueError, match=r"^requires: "):
            requirement_set({"fs": bad})


@pytest.mark.req("SPEC-REQ-05")
def test_hosts_are_an_optional_list_of_host_patterns() -> None:
    assert requirement_set({"net": {"hosts": ["a.example", "*.b"]}}).net.hosts == (
        "a.example",
        "*.b",
    )
    assert requirement_set({"net": {}}).net.hosts == ()
    with pytest.raises(ValueError, match=r"^requires: "):
        requirement_set({"net": {"hosts": "a.example"}})


@pytest.mark.req("SPEC-REQ-06")
def test_commands_are_alternatives_and_one_match_is_enough() -> None:
    parsed = requirement_set(
        {"shell": [{"cmd": "git", "args": ["log"]}, {"cmd": "git", "args": ["status"]}]}
    )
    assert parsed.admits_command(["git", "log"])
    assert parsed.admits_command(["git", "status"])
    assert not parsed.admits_command(["git", "push"])
    assert not NOTHING_REQUIRED.admits_command(["git", "log"])
    assert requirement_set({"net": {}}).shell == ()


@pytest.mark.req("SPEC-REQ-07")
def test_capabilities_are_an_optional_list_of_names() -> None:
    assert requirement_set({"capabilities": ["a", "b"]}).capabilities == ("a", "b")
    assert requirement_set({"capabilities": ("a",)}).capabilities == ("a",)
    assert requirement_set({}).capabilities == ()


@pytest.mark.req("SPEC-REQ-08")
def test_a_command_has_a_program_and_optional_arguments() -> None:
    (without,) = requirement_set({"shell": [{"cmd": "git"}]}).shell
    assert (without.cmd, without.args) == ("git", None)
    (with_args,) = requirement_set({"shell": [{"cmd": "git", "args": ["log"]}]}).shell
    assert (with_args.cmd, with_args.args) == ("git", ("log",))
    with pytest.raises(ValueError, match="cmd"):
        requirement_set({"shell": [{"args": ["log"]}]})


@pytest.mark.parametrize("cmd", ["", "/usr/bin/git", "bin/git", "./git"])
def test_a_program_is_a_bare_name(cmd: str) -> None:
    with pytest.raises(ValueError, match="bare name"):
        requirement_set({"shell": [{"cmd": cmd}]})


PATTERNS: list[tuple[list[object], list[str], bool]] = [
    (["log", "-n"], ["log", "-n"], True),
    (["log", "-n"], ["-n", "log"], False),
    (["log", {"wildcard": True}], ["log", "anything"], True),
    (["log", {"wildcard": True}], ["anything", "log"], False),
    ([{"prefix": "--"}, "x"], ["--all", "x"], True),
    ([{"prefix": "--"}, "x"], ["x", "--all"], False),
    (["a", "b"], ["a", "c"], False),
]


@pytest.mark.parametrize(("args", "given", "admitted"), PATTERNS)
@pytest.mark.req("SPEC-REQ-09")
def test_patterns_are_matched_in_order_one_by_one_after_the_program_name(
    args: list[object], given: list[str], admitted: bool
) -> None:
    parsed = requirement_set({"shell": [{"cmd": "git", "args": args}]})
    assert parsed.admits_command(["git", *given]) is admitted


@pytest.mark.parametrize("given", [[], ["git"], ["hg", "log"], ["GIT", "log"], ["log"]])
def test_another_program_is_not_admitted(given: list[str]) -> None:
    assert not ShellRunRequirement("git", ("log",)).admits(given)


def test_without_args_any_arguments_are_admitted_and_with_none_none() -> None:
    assert ShellRunRequirement("git").admits(["git", "push", "--force"])
    assert ShellRunRequirement("git").admits(["git"])
    assert ShellRunRequirement("git", ()).admits(["git"])
    assert not ShellRunRequirement("git", ()).admits(["git", "log"])


@pytest.mark.parametrize(
    ("pattern", "argument", "matches"),
    [
        ("log", "log", True),
        ("log", "Log", False),
        ("log", "logs", False),
        ("log", "lo", False),
        ("l*g", "log", False),
        ("l*g", "l*g", True),
        ("", "", True),
        ("", "x", False),
    ],
)
@pytest.mark.req("SPEC-REQ-10")
def test_a_text_matches_exactly_that_argument(pattern: str, argument: str, matches: bool) -> None:
    assert argument_matches(pattern, argument) is matches


@pytest.mark.parametrize("argument", ["", "x", "--force", "a b", "*", "é", "-"])
@pytest.mark.req("SPEC-REQ-11")
def test_a_wildcard_matches_whatever_one_argument(argument: str) -> None:
    assert argument_matches(Wildcard(wildcard=True), argument)
    entry = requirement_set({"shell": [{"cmd": "git", "args": [{"wildcard": True}]}]})
    assert entry.admits_command(["git", argument])


@pytest.mark.parametrize("given", [[], ["a", "b"], ["a", "b", "c"]])
@pytest.mark.req("SPEC-REQ-11")
def test_a_wildcard_matches_exactly_one_argument(given: list[str]) -> None:
    entry = requirement_set({"shell": [{"cmd": "git", "args": [{"wildcard": True}]}]})
    assert not entry.admits_command(["git", *given])


@pytest.mark.parametrize(
    ("prefix", "argument", "matches"),
    [
        ("--", "--all", True),
        ("--", "--", True),
        ("--", "-a", False),
        ("--", "a--", False),
        ("Src/", "src/a", False),
        ("", "anything", True),
        ("", "", True),
    ],
)
@pytest.mark.req("SPEC-REQ-12")
def test_a_prefix_matches_one_argument_that_begins_with_it(
    prefix: str, argument: str, matches: bool
) -> None:
    assert argument_matches(Prefix(prefix), argument) is matches
    entry = requirement_set({"shell": [{"cmd": "git", "args": [{"prefix": prefix}]}]})
    assert entry.admits_command(["git", argument]) is matches
    assert not entry.admits_command(["git"])
    assert not entry.admits_command(["git", argument, argument])


@pytest.mark.parametrize(
    "pattern",
    [
        {"wildcard": False},
        {},
        {"wildcard": True, "prefix": "a"},
        {"prefix": 5},
        {"suffix": "a"},
        5,
        ["a"],
    ],
)
def test_an_argument_pattern_that_means_nothing_is_refused(pattern: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        requirement_set({"shell": [{"cmd": "git", "args": [pattern]}]})


def test_a_finished_set_is_taken_as_it_is_but_its_patterns_are_read() -> None:
    patterns: tuple[ArgPattern, ...] = ("log", Wildcard(wildcard=True), Prefix("-"))
    commands = (ShellRunRequirement("git", patterns),)
    given = RequirementSet(FsRequirement(), NetRequirement(), commands)
    assert requirement_set(given) is given
    assert (
        requirement_set(
            {"shell": [{"cmd": "git", "args": ["log", {"wildcard": True}, {"prefix": "-"}]}]}
        )
        == given
    )
