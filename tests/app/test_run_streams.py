"""Listening to a run: who stops listening stops it, and there is one at a time."""

import gc
from pathlib import Path

import anyio
import pytest
from agents_at_work import at_work, calls

from holdfast import tool
from holdfast.agent.models.scripted import Played
from holdfast.contract.events import Event

pytestmark = pytest.mark.anyio


@tool(interrupt_behavior="cancel")
async def forever() -> str:
    """Never end."""
    await anyio.sleep_forever()
    return "never"


async def test_who_lets_go_of_a_stream_stops_the_run_and_may_begin_another(tmp_path: Path) -> None:
    turns: list[Played] = [calls(("forever", "{}")), "I go on."]
    async with at_work(tmp_path, turns, tools=[forever]) as desk:
        async for one in desk.session.run("Begin."):
            if isinstance(one, Event) and one.type == "call.intended":
                break
        gc.collect()  # where nothing is counted, it is let go of here
        await desk.told("Instead, rest.")
        assert desk.session.last is not None
        assert desk.session.last.response == "I go on."


async def test_of_two_runs_at_once_one_is_refused_and_the_other_is_whole(tmp_path: Path) -> None:
    refused: list[str] = []
    async with at_work(tmp_path, ["heard"]) as desk:

        async def run(words: str) -> None:
            try:
                await desk.told(words)
            except RuntimeError as problem:
                refused.append(str(problem))

        async with anyio.create_task_group() as group:
            group.start_soon(run, "One")
            group.start_soon(run, "Two")
        assert len(refused) == 1
        assert "runs already" in refused[0]
        assert desk.session.last is not None
        assert (desk.session.last.ended, desk.session.last.response) == ("final_response", "heard")


async def test_a_wake_that_nobody_waits_for_is_stopped_in_order(tmp_path: Path) -> None:
    turns: list[Played] = [calls(("forever", "{}")), "I go on."]
    async with at_work(tmp_path, turns, tools=[forever]) as desk:
        await desk.session.send("Begin.")
        with anyio.move_on_after(0.3):
            await desk.session.wake()
        assert desk.session.last is not None
        assert desk.session.last.ended == "cancelled"
        assert not desk.session.running
