"""A path that lies in the workspace is compared from there; a command as it stands."""

from pathlib import Path

import pytest

from holdfast.app.rule_places import from_the_workspace
from holdfast.contract.rules import Action, Rule
from holdfast.contract.tool import Tool
from holdfast.policy.globs import escaped
from holdfast.sources.functions import tool
from holdfast.sources.intake import to_tool

WORKSPACE = Path("/w [x]")


@tool(uses={"text": "shell.run"})
def runner(text: str) -> str:
    """Run a text."""
    return text


def patterns(permission: str, pattern: str, action: Action, *tools: Tool) -> list[str]:
    rule = Rule(
        permission=permission, pattern=pattern, action=action, scope="project", source="here"
    )
    return [found.pattern for found in from_the_workspace([rule], WORKSPACE, tools)]


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
