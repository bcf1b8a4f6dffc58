"""What the page on policy says of doubts and in its recipes is what happens."""

import re
from pathlib import Path

import pytest

from holdfast import Holdfast, tool
from holdfast.app.configuration import load_configuration
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.policy.explain import Explanation
from holdfast.policy.shell.characters import LONGEST_TEXT, MOST_PIPES_AND_REDIRECTIONS
from holdfast.policy.uses import uses_of_command

PAGE = (Path(__file__).parents[2] / "docs" / "policy.md").read_text("utf-8")
TOML = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
ROWS = re.findall(r"^\| (.+?) \| .+? \| (.+?) \|$", PAGE.partition("| in doubt |")[2], re.MULTILINE)
IN_DOUBT = ROWS[: next(at for at, row in enumerate(ROWS) if "if true" in row[0]) + 1]


def _code(cells: list[str]) -> list[str]:
    return [code for cell in cells for code in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize("command", _code([row[0] for row in IN_DOUBT]))
def test_what_the_page_calls_doubtful_is_in_doubt(command: str) -> None:
    assert any(use.doubt for use in uses_of_command(command))


@pytest.mark.parametrize("command", dict.fromkeys(_code([row[1] for row in IN_DOUBT])))
def test_what_the_page_says_to_write_instead_is_not(command: str) -> None:
    assert not any(use.doubt for use in uses_of_command(command))


def test_the_limits_of_a_text_are_those_of_the_page() -> None:
    assert f"longer than {LONGEST_TEXT // 1024} KiB" in PAGE
    assert f"more than {MOST_PIPES_AND_REDIRECTIONS} pipes and\nredirections" in PAGE


@tool(requires={"shell": [{"cmd": "*"}]}, uses={"command": "shell.run"})
def shell(command: str) -> str:
    """Run a command (not really)."""
    return command


async def _told(home: Path, command: str, profile: str = "code") -> Explanation:
    environment = {"HOLDFAST_HOME": str(home)}
    loaded = load_configuration(home, environment=environment)
    hf = Holdfast(
        tools=[shell],
        profile=profile,
        workspace=home,
        configuration=loaded,
        surroundings=surroundings_of_this_process(loaded.settings, environment=environment),
    )
    told = await hf.explain("shell", {"command": command})
    assert isinstance(told, Explanation)
    return told


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("git status", "allow"),
        ("git log -3 && git diff main", "allow"),
        ("git log", "ask"),
        ("make deploy", "ask"),
        ("git status; make deploy", "ask"),
        ("git log -3 > x", "ask"),
        ("git log -3 2> /dev/null", "allow"),
        ("git log $x", "ask"),
    ],
)
async def test_the_recipe_asks_unless_it_is_allowed(
    tmp_path: Path, command: str, verdict: str
) -> None:
    (recipe,) = [block for block in TOML if "git {log,diff,show} *" in block]
    (tmp_path / "policy.toml").write_text(recipe, "utf-8")
    assert (await _told(tmp_path, command)).verdict == verdict


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("git log", "allow"),
        ("git log -3", "allow"),
        ("git log -3 > x", "deny"),
        ("git status", "deny"),
        ("git log -3; rm x", "deny"),
        ("git log $x", "deny"),
    ],
)
async def test_the_recipe_of_an_agent_that_reads_lets_nothing_be_written(
    tmp_path: Path, command: str, verdict: str
) -> None:
    (recipe,) = [block for block in TOML if "This agent reads." in block]
    (tmp_path / "config.toml").write_text(recipe, "utf-8")
    told = await _told(tmp_path, command, "reader")
    assert told.verdict == verdict
    assert (await _told(tmp_path, "rm x")).verdict == "allow"
