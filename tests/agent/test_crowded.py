"""A loop tells its model how full the context is, holds no answer over a person's words, and names
no tool that is not there."""

from pathlib import Path
from typing import Any

import pytest
from agents_at_work import Desk, at_work, calls

from holdfast import tool
from holdfast.contract.chunks import ToolResultChunk
from holdfast.contract.events import CallIntended

pytestmark = pytest.mark.anyio

READ = ("read", '{"path": "notes.txt"}')


def _described(words: int, name: str = "add") -> Any:
    """A tool of which much is said."""

    def body(a: int, b: int) -> int:
        return a + b

    body.__name__ = name
    body.__doc__ = "Add two numbers. " + "word " * words
    return tool(body, read_only=True, inline=True)


async def _told(
    folder: Path, tools: list[Any], *, window: int, **equipment: Any
) -> list[tuple[str, ...]]:
    """What went along with each of two requests."""
    turns = [calls(("add", '{"a": 1, "b": 2}')), "3"]
    async with at_work(
        folder, turns, tools=tools, window=window, max_output_tokens=1, equipment=equipment
    ) as desk:
        await desk.told("1 + 2?")
        return [one.notices for one in desk.model.requests]


@pytest.mark.req("BOA-CTX-09")
async def test_a_context_that_its_tools_nearly_fill_is_told_of(tmp_path: Path) -> None:
    many, few = _described(2_000), _described(1)
    _, (told,) = await _told(tmp_path / "many", [many], window=3_500)
    assert told.startswith("The context is nearly full: about ")
    assert "session_describe_context" not in told
    assert await _told(tmp_path / "few", [few], window=3_500) == [(), ()]
    assert await _told(tmp_path / "large", [many], window=8_000) == [(), ()]


async def test_tools_that_are_not_sent_fill_nothing(tmp_path: Path) -> None:
    """And where guidance is off nothing is said."""
    many = _described(2_000)
    for one in ({"tools_off": True}, {"guidance": False}):
        assert await _told(tmp_path / str(one), [many], window=3_500, **one) == [(), ()]


@pytest.mark.req("BOA-CTX-03", "BOA-CTX-15")
async def test_where_a_tool_shows_the_budget_a_crowded_model_is_led_to_it(tmp_path: Path) -> None:
    tools = [_described(2_000), _described(1, "session_describe_context")]
    _, (words,) = await _told(tmp_path / "roomy", tools, window=3_500)
    left = int(words.partition("about ")[2].partition(" ")[0])
    _, (note,) = await _told(tmp_path / "crowded", tools, window=3_500 - left + 100)
    assert note.startswith("[context-pressure] level=high headroom=100 dropped=0 ")
    assert "next_tool=session_describe_context next_args={}" in note


def _workspace(folder: Path) -> Path:
    workspace = folder / "workspace"
    workspace.mkdir(parents=True)
    (workspace / "notes.txt").write_text("hello", "utf-8")
    return workspace


@pytest.mark.parametrize("speaks", [True, False])
async def test_an_answer_is_held_no_more_once_a_person_has_spoken(
    tmp_path: Path, speaks: bool
) -> None:
    desks: list[Desk] = []

    @tool(read_only=True, effects=["session_read"])
    async def meanwhile() -> str:
        """A person may speak."""
        if speaks:
            await desks[0].session.send("Look again.")
        return "so"

    turns = [calls(READ), calls(("meanwhile", "{}")), calls(READ), "done"]
    async with at_work(
        tmp_path, turns, profile="locked", workspace=_workspace(tmp_path), tools=[meanwhile]
    ) as desk:
        desks.append(desk)
        await desk.told("Read my notes.")
        read = [one for one in await desk.payloads(CallIntended) if one.tool == "read"]
        assert len(read) == (2 if speaks else 1)
        rows = [row for row in desk.rows() if isinstance(row, ToolResultChunk)]
        assert ["hello" in row.content for row in rows if row.name == "read"] == [True, True]


async def test_the_search_that_a_step_is_steered_to_is_one_of_those_offered(
    tmp_path: Path,
) -> None:
    @tool(read_only=True, inline=True)
    def look() -> dict[str, object]:
        """List some of what is there."""
        entries = [{"name": "a", "path": "a", "type": "file"}]
        return {"kind": "listing", "path": ".", "entries": entries, "truncated": True}

    turns = [calls(("look", "{}")), calls(("read", '{"path": "nowhere.txt"}')), "done"]
    async with at_work(
        tmp_path, turns, profile="locked", workspace=_workspace(tmp_path), tools=[look]
    ) as desk:
        await desk.told("Look around.")
        (told,) = desk.model.requests[-1].notices
        assert "Search by name with glob instead of guessing" in told
        assert "glob" in {one.name for one in desk.model.requests[-1].tools}
