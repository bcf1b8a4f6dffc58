"""A tool that the application fulfils has a body that nobody here runs, whoever asks for it."""

from pathlib import Path
from typing import Any

import pytest
from agents_at_work import at_work, calls
from tool_kit import opened

from holdfast import tool
from holdfast.app.settings import Settings
from holdfast.contract.events import CustomToolResult
from holdfast.contract.failure import FailureKind

pytestmark = pytest.mark.anyio

RAN: list[str] = []
"""Every body that was run."""


@tool(ownership="custom")
def ordered(item: str) -> str:
    """Order something."""
    RAN.append(item)
    return item


@tool(ownership="custom", name="awaited")
async def awaited(item: str) -> str:
    """Order something, and wait for it."""
    RAN.append(item)
    return item


@tool(ownership="custom", parallel_safe=True, effects=["session_read"], inline=True)
def looked_up(item: str) -> str:
    """Look something up."""
    RAN.append(item)
    return item


@tool(ownership="managed")
def ours(item: str) -> str:
    """Do it here."""
    RAN.append(f"ours: {item}")
    return item


CUSTOM = ("ordered", "awaited", "looked_up")
TOOLS = [ordered, awaited, looked_up, ours]


@pytest.mark.req("BOA-OWN-05")
@pytest.mark.parametrize("profile", ["managed", "bare"])
@pytest.mark.parametrize("application", [None, "elsewhere"])
async def test_a_call_of_a_custom_tool_runs_nothing_here(
    workspace: Path, profile: str, application: Any
) -> None:
    RAN.clear()
    more: dict[str, Any] = {} if application is None else {"application": application}
    async with opened(workspace, profile, tools=TOOLS, settings=Settings(), **more) as hf:
        for name in CUSTOM:
            await hf.explain(name, {"item": "tea"})
            envelope = await hf.settle(name, {"item": "tea"})
            assert envelope.failure is not None, name
            assert envelope.failure.kind is not FailureKind.INVALID_ARGS, name
        assert RAN == []
        assert (await hf.settle("ours", {"item": "tea"})).ok
        assert RAN == ["ours: tea"]


@pytest.mark.req("BOA-OWN-05")
@pytest.mark.parametrize("name", CUSTOM)
async def test_an_agent_goes_on_with_the_result_and_the_body_is_never_run(
    tmp_path: Path, name: str
) -> None:
    RAN.clear()
    turns = [calls((name, '{"item": "tea"}'), ("ours", '{"item": "cup"}')), "Done."]
    async with at_work(tmp_path, turns, tools=TOOLS) as desk:
        await desk.told("Order tea.")
        request = (await desk.state()).custom
        assert request is not None
        said = CustomToolResult(request_id=request.id, tool_name=name, output="theirs: tea")
        log = desk.holdfast.parts.log
        assert log is not None
        await (await log.journal()).append(desk.session.id, [said])
        await desk.told()
        assert "theirs: tea" in str(desk.rows())
    assert RAN == ["ours: cup"]
