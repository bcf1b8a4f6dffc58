"""`holdfast replay --strict`: which tools of a recording are missed, and which never were there."""

from pathlib import Path

from command import Cli


def test_tools_that_are_not_there_any_more_are_named_with_what_to_do(
    cli: Cli, tool_file: Path
) -> None:
    cli("call", "add", "a=1", "--from", str(tool_file))
    answered = cli("replay", "last", "--strict")
    assert answered.status == 1
    assert "There is no tool named 'add'" in answered.out
    assert answered.err == (
        "holdfast: the recording has calls of tools that are not among those of now: add; if they"
        " came from a file, name it with --from FILE.py\n"
    )
    assert cli("replay", "last", "--strict", "--from", str(tool_file)).err == ""


def test_a_tool_that_never_was_there_is_not_missed(cli: Cli, tool_file: Path) -> None:
    cli("call", "nothing_of_the_kind", "--from", str(tool_file))
    answered = cli("replay", "last", "--strict", "--from", str(tool_file))
    assert (answered.status, answered.err) == (0, "")
    assert cli("replay", "last", "--strict") == answered


def test_another_divergence_names_no_tool(cli: Cli, tool_file: Path, home: Path) -> None:
    cli("call", "add", "a=1", "--from", str(tool_file))
    rule = '[[rule]]\npermission = "add"\npattern = "*"\naction = "deny"\n'
    (home / "policy.toml").write_text(rule, "utf-8")
    answered = cli("replay", "last", "--strict", "--from", str(tool_file))
    assert (answered.status, answered.err) == (1, "")
