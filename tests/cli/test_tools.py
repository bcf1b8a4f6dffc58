"""`holdfast tools`: the list, one tool in full, and JSON for programs."""

import json
from pathlib import Path

import pytest
from command import Cli, Terminal

from holdfast.app.profiles import PROFILES, TOOLSETS
from holdfast.contract.json_value import encode_json
from holdfast.contract.tokens import tokens_of
from holdfast.contract.tool import LOCKED_NAMES
from holdfast.surfaces.cli.parsing import Parser
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.tools import add_arguments, run


def test_the_list_shows_flags_limits_and_the_first_line(cli: Cli, tool_file: Path) -> None:
    answer = cli("tools", "--profile", "bare", "--from", str(tool_file))
    assert (answer.status, answer.err) == (0, "")
    heading, asking, *rows = answer.out.splitlines()
    assert heading.split() == ["NAME", "FLAGS", "LIMITS", "TOKENS", "DESCRIPTION"]
    assert asking.startswith("question")
    assert [row.split()[0] for row in rows] == ["add", "wipe", "flood", "say", "crash"]
    assert rows[0].startswith("add       read-only                  120 s, 100,000 bytes  ")
    *_, tokens = rows[0].removesuffix("Add two numbers.").split()
    assert 20 < int(tokens) < 200
    assert "writes, destructive, asks" in rows[1]
    assert "120 s, 50 bytes, 9 items" in rows[2]


def test_what_a_tool_costs_by_being_offered_is_shown_everywhere(cli: Cli, tool_file: Path) -> None:
    words = "--profile", "bare", "--from", str(tool_file)
    by_name = {one["name"]: one for one in json.loads(cli("tools", *words, "--json").out)}
    for name, one in by_name.items():
        told = {key: one[key] for key in ("name", "description")}
        wire = {**told, "parameters": one["input_schema"]}
        assert one["schema_tokens"] == tokens_of(encode_json(wire)), name
    listed = cli("tools", *words).out.splitlines()[1:]
    for line in listed:
        one = by_name[line.split()[0]]
        assert f"  {one['schema_tokens']:,}  " in line
    alone = cli("tools", "wipe", *words).out
    assert f"about {by_name['wipe']['schema_tokens']:,} of every request" in alone


def test_one_tool_is_shown_in_full(cli: Cli, tool_file: Path) -> None:
    out = cli("tools", "flood", "--from", str(tool_file)).out
    for part in (
        "flood\n-----",
        "Write lines.",
        '{"fs":{"read":["*"]}}\n',
        '"required": [',
        "result",
    ):
        assert part in out
    assert "The second line." in cli("tools", "add", "--from", str(tool_file)).out
    assert "requires    nothing" in cli("tools", "add", "--from", str(tool_file)).out


@pytest.mark.req("SPEC-LOCK-02")
@pytest.mark.parametrize("profile", sorted({*PROFILES} - {"bare"}))
def test_the_locked_tools_are_listed_under_their_names(cli: Cli, profile: str) -> None:
    listed = json.loads(cli("tools", "--profile", profile, "--json").out)
    names = [one["name"] for one in listed]
    assert [name for name in names if name in LOCKED_NAMES] == [
        one.name for one in TOOLSETS["locked"]
    ]
    shown = [row.split()[0] for row in cli("tools", "--profile", profile).out.splitlines()[1:]]
    assert shown == names


def test_what_is_told_of_results_names_the_cut_form(cli: Cli) -> None:
    told = json.loads(cli("tools", "glob", "--profile", "locked", "--json").out)["output_schema"]
    assert [form["required"] for form in told["anyOf"]] == [
        ["entries", "total", "left_out"],
        ["head"],
    ]
    shown = cli("tools", "glob", "--profile", "locked").out
    assert json.loads(shown.partition("\nresult\n")[2]) == told


def test_doubtful_schemas_are_warned_about(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(
        "from holdfast import tool\n"
        "@tool(input_schema={'type': 'object', 'properties': {'a': {'pattern': '('}}})\n"
        "def odd(a=None):\n    'Odd.'\n",
        "utf-8",
    )
    out = cli("tools", "odd", "--from", "odd.py").out
    assert "warning: odd: the top level: the object is not closed" in out
    assert "warning: odd: a: the pattern '(' is not a valid regular expression" in out
    assert len(json.loads(cli("tools", "odd", "--from", "odd.py", "--json").out)["warnings"]) == 2


def test_json_is_one_document(cli: Cli, tool_file: Path) -> None:
    several = json.loads(cli("tools", "--profile", "bare", "--from", str(tool_file), "--json").out)
    own = ["add", "wipe", "flood", "say", "crash"]
    assert [one["name"] for one in several] == ["question", *own]
    one = json.loads(cli("tools", "wipe", "--from", str(tool_file), "--json").out)
    assert one == several[2]
    assert one["destructive"] is True
    assert one["limits"]["wall_seconds"] == 120.0
    alone = json.loads(cli("tools", "--profile", "bare", "--json").out)
    assert [one["name"] for one in alone] == ["question"]


def test_configured_files_are_loaded_once_even_if_named_again(
    cli: Cli, home: Path, tool_file: Path
) -> None:
    (home / "config.toml").write_text(f'[tools]\nfiles = ["{tool_file}"]\n', "utf-8")
    assert cli("tools").out == cli("tools", "--from", str(tool_file)).out != ""


def test_an_unknown_name_offers_the_nearest(cli: Cli, tool_file: Path) -> None:
    answer = cli("tools", "flod", "--from", str(tool_file))
    assert (answer.status, answer.out) == (2, "")
    assert answer.err == "holdfast: there is no tool 'flod'; did you mean 'flood'?\n"


def test_a_profile_that_hides_tools_says_so(cli: Cli, home: Path, tool_file: Path) -> None:
    (home / "config.toml").write_text('[profile.quiet.tools]\ndeny = ["*"]\n', "utf-8")
    words = ("--profile", "quiet", "--from", str(tool_file))
    step = "choose another with --profile, or change [profile.quiet.tools]\n"
    every = cli("tools", *words)
    assert (every.status, every.out) == (0, "No tool is visible.\n")
    assert every.err == f"holdfast: the profile 'quiet' hides every tool; {step}"
    assert json.loads(cli("tools", *words, "--json").out) == []
    one = cli("tools", "add", *words)
    assert (one.status, one.out) == (2, "")
    assert one.err == f"holdfast: the profile 'quiet' hides the tool 'add'; {step}"
    gone = cli("tools", "ad", *words)
    assert gone.err == "holdfast: there is no tool 'ad'; none is known\n"


def test_two_tools_of_one_name_are_an_error(cli: Cli, tool_file: Path, tmp_path: Path) -> None:
    (tmp_path / "again.py").write_text(tool_file.read_text("utf-8"), "utf-8")
    answer = cli("tools", "--from", str(tool_file), "--from", "again.py")
    assert answer.status == 2
    assert answer.err == (
        f"holdfast: the tool 'add' is both in {tool_file} and in {tmp_path / 'again.py'};"
        " rename one or leave a file out\n"
    )


def test_a_person_at_a_terminal_sees_a_table_that_nothing_can_steer(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "rude.py").write_text(
        "from holdfast import tool\n@tool(description='a\\x1b[2J[bold]b')\ndef rude(): ...\n",
        "utf-8",
    )
    parser = Parser()
    add_arguments(parser)
    for words in ([], ["rude"]):
        shown = Terminal()
        run(parser.parse_args([*words, "--from", "rude.py"]), Screen(shown, shown))
        assert "a\\u001b[2J[bold]b" in shown.getvalue()


def test_a_tool_of_another_profile_is_told_with_that_profile(cli: Cli) -> None:
    said = "the tool 'file_read' belongs to the profile host; choose it with --profile host"
    for verb, status in (("tools", 2), ("call", 1)):
        answer = cli(verb, "file_read")
        assert (answer.status, said in answer.err) == (status, True)
    assert cli("tools", "file_read", "--profile", "host").status == 0
