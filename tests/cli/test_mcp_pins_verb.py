"""What a person is told of pins: which tools are held back, and what another command changes."""

import json
import sys
from pathlib import Path

import pytest
from command import Cli

pytestmark = pytest.mark.timeout(90)


def pinned(cli: Cli, *command: str) -> None:
    assert cli("mcp", "add", "raw", "--", *command).status == 0
    assert cli("mcp", "pin", "raw", "--yes").status == 0


def test_another_command_under_a_name_is_shown_word_by_word(cli: Cli, script: str) -> None:
    pinned(cli, sys.executable, script, "plain", "--token=hush")
    other = (sys.executable, "-u", script, "plain", "--token=other")
    assert cli("mcp", "add", "raw", "--replace", "--", *other).status == 0
    shown = cli("mcp", "pin", "raw", "echo")
    assert shown.status == 3
    assert '+      "-u",' in shown.err
    assert "hush" not in shown.err + shown.out
    assert "other" not in (shown.err + shown.out).replace("another", "")


def test_the_list_of_tools_says_which_are_missing_and_one_tool_does_not(
    cli: Cli, home: Path, script: str
) -> None:
    pinned(cli, sys.executable, script)
    assert cli("mcp", "add", "raw", "--replace", "--", sys.executable, "-u", script).status == 0
    assert cli("mcp", "add", "gone", "--", str(home / "nothing")).status == 0
    listed = cli("tools")
    assert "the tool 'echo' is quarantined" in listed.err
    assert "mcp server gone is failed" in listed.err
    assert "raw_echo" not in listed.out
    alone = cli("tools", "read")
    assert (alone.status, alone.err) == (0, "")


def test_removing_says_that_pins_stay(cli: Cli, script: str) -> None:
    pinned(cli, sys.executable, script)
    told = json.loads(cli("mcp", "test", "raw", "--json").out)
    removed = cli("mcp", "remove", "raw")
    assert removed.status == 0
    assert f"note: {len(told['tools'])} tools of raw stay accepted" in removed.err
    assert cli("mcp", "add", "raw", "--", sys.executable, script).status == 0
    again = json.loads(cli("mcp", "test", "raw", "--json").out)
    assert (again["quarantined"], {one["pinned"] for one in again["tools"]}) == ([], {True})
