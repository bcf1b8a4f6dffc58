"""Writable commands below another session: a child runs none that nobody above it asks for."""

from pathlib import Path
from typing import Any

import pytest
from tool_kit import opened, result

from holdfast import Holdfast, Subagent
from holdfast.app.settings import ProfileSettings, Settings
from holdfast.app.subagents import confirmed_below
from holdfast.contract.tool import Tool

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("profile", ["managed", "readonly", "listed", "code"])
async def test_a_subagent_runs_no_writable_command_that_nobody_confirms(
    workspace: Path, profile: str
) -> None:
    """Nobody answers what a subagent asks, so it may not; and where it asks nobody, it may."""
    seen: list[str | None] = []

    async def run(child: Holdfast, _prompt: str) -> str:
        for name, given in (
            ("shell_run", {"command": "touch made"}),
            ("sandbox_execute", {"name": "run_shell", "input": {"command": "touch made"}}),
        ):
            told = await child.settle(name, given)
            seen.append(None if told.failure is None else told.failure.kind)
        return "done"

    settings = Settings(
        profile={"listed": ProfileSettings(toolsets=("locked",), commands="managed")}
    )
    worker = Subagent(run=run, description="Works.", profile="managed")
    given: dict[str, Any] = {"settings": settings, "subagents": {"worker": worker}}
    async with opened(workspace, profile, **given) as hf:
        await result(hf, "task", subagent_type="worker", prompt="Go.")
    assert len(seen) == 2
    assert None not in seen
    assert not (workspace / "made").exists()


def test_what_a_session_has_no_tool_for_is_left_to_nobody_below_it() -> None:
    def none(_name: str) -> Tool | None:
        return None

    assert confirmed_below(none, ("any", "any"), None, "shell_run")
    assert not confirmed_below(none, ("managed",), None, "shell_run")
    assert not confirmed_below(none, ("any", "managed"), None, "shell_run")
