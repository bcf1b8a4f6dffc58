"""What a program hands in counts for its subagents, too, also where it can be read only once."""

from pathlib import Path

import pytest
from tool_kit import opened, result

from holdfast import Holdfast, Subagent, tool
from holdfast.contract.watchdog import Inspection, Opinion

pytestmark = pytest.mark.anyio


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    return made


@tool
def mine() -> str:
    """Mine."""
    return "mine"


async def runs_mine(child: Holdfast, _prompt: str) -> str:
    envelope = await child.settle("mine", {})
    return str(envelope.failure.message if envelope.failure else envelope.result)


AGENTS = {"a": Subagent(run=runs_mine, description="Runs it.")}


def no_mine(inspection: Inspection) -> Opinion:
    refused = inspection.prepared.tool.name == "mine"
    return Opinion("deny", "a hook says no") if refused else Opinion("allow", "")


async def test_hooks_that_can_be_read_only_once_count_for_every_child(workspace: Path) -> None:
    hooks = (one for one in [no_mine])
    made = opened(workspace, "code", tools=[mine], hooks=hooks, subagents=AGENTS)
    async with made as hf:
        for _ in range(2):
            told = await result(hf, "task", subagent_type="a", prompt="x")
            assert "a hook says no" in told["output"]


async def test_tools_of_a_subagent_that_can_be_read_only_once_are_for_every_child(
    workspace: Path,
) -> None:
    tools = (one for one in [mine])
    agents = {"a": Subagent(run=runs_mine, description="Runs it.", tools=tools)}
    async with opened(workspace, "code", tools=[mine], subagents=agents) as hf:
        for _ in range(2):
            told = await result(hf, "task", subagent_type="a", prompt="x")
            assert told == {"output": "{'text': 'mine'}"}


async def test_a_child_opens_without_the_parents_tools_on_demand(workspace: Path) -> None:
    @tool
    def other() -> str:
        """Other."""
        return "other"

    async def finds(child: Holdfast, _prompt: str) -> str:
        found = await child.settle("tool_search", {"query": "mine other"})
        return found.result_json.decode()

    agents = {"a": Subagent(run=finds, description="Searches.", tools=[other])}
    names = (name for name in ["mine", "other"])
    made = opened(workspace, "code", tools=[mine, other], on_demand=names, subagents=agents)
    async with made as hf:
        for _ in range(2):
            told = await result(hf, "task", subagent_type="a", prompt="x")
            assert '"other"' in told["output"]
            assert '"mine"' not in told["output"]
