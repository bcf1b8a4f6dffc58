"""How long a tool may take: two minutes, unless it says that it keeps time itself."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tool_kit import UNRECORDED, opened

from holdfast import Limits, tool
from holdfast.app.profiles import PROFILES, TOOLSETS
from holdfast.app.settings import Settings, WebSettings
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import DEFAULT_WALL_SECONDS, Tool, ToolDefinitionError
from holdfast.sources.intake import built_in, to_tool

pytestmark = pytest.mark.anyio

KEEPS_TIME_ITSELF = {
    **dict.fromkeys(
        ("bash", "sandbox_exec", "shell_run", "shell_exec"), "a command has a time of its own"
    ),
    **dict.fromkeys(("sandbox_execute", "sandbox_process"), "a command has a time of its own"),
    "task": "an agent is bounded by its limits",
    "session_run_child": "an agent is bounded by its limits",
    **dict.fromkeys(("question", "clarify", "plan_exit"), "a person answers when they do"),
    "repo_clone": "a program has a time of its own",
}
"""The tools that have opted out, and what bounds them instead."""


def opted_out(tools: Iterable[Tool]) -> set[str]:
    """Those without a clock. What runs in place counts as such, and is quick: it is left out."""
    return {
        one.name for one in tools if one.limits.wall_seconds is None and one.body.style != "inline"
    }


@pytest.mark.req("OSA-STR-03")
def test_every_tool_that_ships_ends_within_two_minutes_or_has_opted_out() -> None:
    shipped = [built_in(one) for tools in TOOLSETS.values() for one in tools]
    assert opted_out(shipped) == {*KEEPS_TIME_ITSELF}
    longest = max(one.limits.wall_seconds or 0 for one in shipped)
    assert DEFAULT_WALL_SECONDS == longest == 120


@pytest.mark.req("OSA-STR-03")
@pytest.mark.parametrize("profile", sorted(PROFILES))
async def test_it_is_so_in_every_profile(profile: str, workspace: Path) -> None:
    async with opened(workspace, profile) as hf:
        assert opted_out(hf.tools) <= {*KEEPS_TIME_ITSELF}
        assert max(one.limits.wall_seconds or 0 for one in hf.tools) <= 120


class Slow:
    """An object that wants more than there is."""

    id = "slow_object"
    description = "Take long."
    parameters: Mapping[str, Any] = {"type": "object"}
    requires: Mapping[str, Any] = {}
    limits = Limits(wall_seconds=121)

    async def execute(self, _args: Mapping[str, Any], _runtime: Runtime) -> str:
        """Nothing."""
        return ""


@pytest.mark.req("OSA-STR-03")
def test_nobody_else_takes_more_without_saying_so() -> None:
    async def slow() -> str:
        """Take long."""
        return ""

    for declare in (lambda: tool(limits=Limits(wall_seconds=121))(slow), lambda: to_tool(Slow())):
        with pytest.raises(ToolDefinitionError, match=r"120 seconds at most.*bypass_timeout=True"):
            declare()
    most = tool(limits=Limits(wall_seconds=120))(slow).tool
    assert most.limits.wall_seconds == 120


def test_no_search_is_given_more_than_the_tool_has() -> None:
    longest = 110.0
    assert msgspec.convert({"search_seconds": longest}, WebSettings).search_seconds == longest
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"search_seconds": longest + 1}, WebSettings)
    assert Settings(store=UNRECORDED.store).web.search_seconds == 15
