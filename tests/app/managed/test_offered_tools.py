"""Which tools a managed agent is offered when: few at first, then those it is led to or finds."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from agents_at_work import Desk, at_work, calls
from outcomes_at_work import asks
from tool_kit import result

from holdfast.contract.model import ModelRequest

pytestmark = pytest.mark.anyio

AT_FIRST = 3_000
"""Tokens of schemas that the first request may carry."""
LOCKED = {
    *("read", "write", "edit", "glob", "grep", "bash", "todo", "task", "question"),
    *("web_search", "web_fetch", "skill", "tool_search"),
}

CHECK = asks("permissions_check", tool_name="memory_promote_note")
LED_TO = "permissions_describe"
"""Where that leads while no outcome is defined."""


@asynccontextmanager
async def working(folder: Path, turns: Iterable[Any], **options: Any) -> AsyncGenerator[Desk]:
    """An agent of the managed profile with all of its tools; its run is replayed at the end."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    given: dict[str, Any] = {"profile": "managed", "workspace": workspace, **options}
    async with at_work(folder, turns, equipment={"managed": True}, **given) as desk:
        yield desk


def offered(request: ModelRequest) -> set[str]:
    return {one.name for one in request.tools}


def tokens(request: ModelRequest) -> float:
    return len(msgspec.json.encode(request.tools).decode()) / 4


async def test_the_first_request_carries_few_schemas(tmp_path: Path) -> None:
    async with working(tmp_path, ["So."]) as desk:
        await desk.told("Hello.")
        (first,) = desk.model.requests
        assert offered(first) >= LOCKED
        assert len(offered(first) - LOCKED) <= 1  # what a note at the beginning leads to
        assert tokens(first) < AT_FIRST


async def test_a_step_in_an_answer_has_its_tool_offered_with_the_next_request(
    tmp_path: Path,
) -> None:
    turns = [CHECK, asks("tool_search", query="is it done"), "So."]
    async with working(tmp_path, turns) as desk:
        await desk.told("May you?")
        first, second, third = map(offered, desk.model.requests)
        assert LED_TO not in first
        assert second == {LED_TO, *first}
        assert third == {"outcome_grade", *second}


async def test_what_was_offered_stays_so_after_a_restart(tmp_path: Path) -> None:
    async with working(tmp_path, [CHECK, "So."]) as desk:
        await desk.told("May you?")
        session, before = desk.session.id, offered(desk.model.requests[-1])
        assert LED_TO in before
    async with working(tmp_path, ["Still."], session=session) as desk:
        await desk.told("And now?")
        assert before <= offered(desk.model.requests[0])


async def test_what_an_answer_leads_to_is_offered_also_where_a_restart_comes_between(
    tmp_path: Path,
) -> None:
    """The run pauses with its first step: no request has offered the tool as yet."""
    turn = calls(
        ("permissions_check", '{"tool_name": "memory_promote_note"}'),
        ("shell_run", '{"command": "make"}'),
    )
    async with working(tmp_path, [turn]) as desk:
        await desk.told("Make it.")
        session = desk.session.id
        assert len(desk.model.requests) == 1
    async with working(tmp_path, ["Still."], session=session) as desk:
        assert LED_TO in {one.name for one in desk.holdfast.offered}


@pytest.mark.parametrize(
    ("asked", "tool"),
    [
        ("what did I do last week", "retrieval_search"),
        ("remember this", "memory_write"),
        ("is it done", "outcome_grade"),
        ("what am I to achieve", "outcome_read"),
        ("run a shell command", "shell_run"),
        ("will this need approval", "permissions_check"),
        ("share a file with other sessions", "resources_promote_to_substrate"),
        ("what did I learn", "learning_list"),
        ("how full is my context", "session_describe_context"),
        ("which sessions are there", "session_list"),
        ("what did the last command print", "shell_read_last_output"),
        ("restore an old version", "resources_restore_version"),
        ("wait for the command", "shell_wait"),
        ("list the skills", "skills_list"),
    ],
)
async def test_tools_are_found_by_plain_words(tmp_path: Path, asked: str, tool: str) -> None:
    async with working(tmp_path, []) as desk:
        found = (await result(desk.holdfast, "tool_search", query=asked))["matches"]
        assert found[0]["id"] == tool
        assert tool in {one.name for one in desk.holdfast.offered}


async def test_a_task_is_given_away_by_a_tool_that_is_found(tmp_path: Path) -> None:
    async with working(tmp_path, []) as desk:
        found = (await result(desk.holdfast, "tool_search", query="give a task away"))["matches"]
        assert "session_delegate" in [one["id"] for one in found[:2]]


@pytest.mark.req("BOA-SESS-30")
async def test_a_crowded_session_says_so_and_names_tools_that_help(tmp_path: Path) -> None:
    levels: set[str] = set()
    for window in (3_100, 4_100, 60_000):
        folder = tmp_path / str(window)
        folder.mkdir()
        async with working(folder, ["So."], window=window, max_output_tokens=1) as desk:
            await desk.told("Hello.")
            told = await result(desk.holdfast, "session_describe_context")
            pressure = told["pressure"]
            assert {*pressure} == {"level", "reasons", "recommended_tools"}
            there = {one.name for one in desk.holdfast.tools}
            assert {*pressure["recommended_tools"]} <= there
            is_low = pressure["level"] == "low"
            assert (not pressure["reasons"], not pressure["recommended_tools"]) == (is_low, is_low)
            levels.add(pressure["level"])
    assert levels == {"low", "moderate", "high"}
