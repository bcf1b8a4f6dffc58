"""The ends of a run, each as it comes about; `ended_by_surface` comes about nowhere so far."""

from pathlib import Path
from typing import Any, get_args

import anyio
import pytest
from agents_at_work import at_work, calls
from model_server import chat_events
from raw_http import LAST, STREAM, chunked, raw_server

from holdfast import Answer, tool
from holdfast.agent import asking
from holdfast.agent.models import openai_chat
from holdfast.agent.models.http_model import HttpModel
from holdfast.agent.models.scripted import Played, Turn
from holdfast.agent.models.setup import ModelSetup
from holdfast.contract.agents import RunLimits
from holdfast.contract.call import Ask
from holdfast.contract.events import ModelRequested
from holdfast.contract.model import ModelError, ModelReply, ModelUsage
from holdfast.contract.wake_events import ModelFailed
from holdfast.contract.wakes import RunEnd

pytestmark = pytest.mark.anyio


@tool(read_only=True, inline=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(permission_policy="always_ask")
def deploy() -> str:
    """Deploy."""
    raise AssertionError("nobody allowed it")


async def refuse(_ask: Ask, /) -> Answer:
    return Answer(allowed=False, by="ada")


ADD = calls(("add", '{"a": 1, "b": 2}'))
DEPLOY = calls(("deploy", "{}"))
DEAR = ModelReply(calls=ADD.calls, usage=ModelUsage(output_tokens=9), finish="tool_calls")
ENDS: dict[RunEnd, tuple[list[Played], dict[str, Any], dict[str, Any]]] = {
    "final_response": ([ADD, "3"], {}, {}),
    "iteration_cap": ([ADD] * 3, {"limits": RunLimits(rounds=2)}, {}),
    "tool_rejected": ([DEPLOY, "never"], {"interactive": True}, {"approver": refuse}),
    "over_budget": ([DEAR, "never"], {"limits": RunLimits(tokens=9)}, {}),
    "requires_action": ([DEPLOY, "never"], {}, {}),
    "failed": ([ModelError("authentication", "the key is refused")], {}, {}),
}


@pytest.mark.parametrize("ended", ENDS)
async def test_a_run_ends_for_one_of_a_few_reasons(tmp_path: Path, ended: RunEnd) -> None:
    turns, equipment, options = ENDS[ended]
    async with at_work(
        tmp_path, turns, tools=[add, deploy], equipment=equipment, **options
    ) as desk:
        await desk.told("Go.")
        assert desk.session.last is not None
        assert desk.session.last.ended == ended


async def test_a_run_that_is_stopped_is_cancelled(tmp_path: Path) -> None:
    begun = anyio.Event()

    @tool(interrupt_behavior="cancel")
    async def wait() -> str:
        """Wait to be stopped."""
        begun.set()
        await anyio.sleep_forever()
        return "never"

    async with at_work(tmp_path, [calls(("wait", "{}")), "never"], tools=[wait]) as desk:
        async with anyio.create_task_group() as group:
            group.start_soon(desk.told, "Go.")
            await begun.wait()
            await desk.session.interrupt()
        assert desk.session.last is not None
        assert desk.session.last.ended == "cancelled"


async def test_without_anybody_there_a_refusal_ends_no_run(tmp_path: Path) -> None:
    async with at_work(tmp_path, [DEPLOY, "Then not."], tools=[deploy], approver=refuse) as desk:
        await desk.told("Go.")
        assert desk.session.last is not None
        assert desk.session.last.response == "Then not."


def test_every_end_that_there_is_is_shown_here() -> None:
    assert {*ENDS, "cancelled", "ended_by_surface"} == {*get_args(RunEnd)}


async def test_a_reply_that_breaks_off_on_its_way_is_asked_for_again_and_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "FIRST_PAUSE", 0.001)
    whole = "".join(chat_events(Turn(text="Here it is, whole."))).encode()
    half = whole[: len(whole) // 2]
    scripts = (
        [STREAM + chunked(half) + LAST],
        [STREAM + chunked(half) + LAST],
        [STREAM + chunked(whole) + LAST],
    )
    async with raw_server(*scripts) as (_, url):
        model = HttpModel(ModelSetup(model="m", url=url), openai_chat.FORM)
        equipment = {"model": model, "limits": RunLimits(rounds=1)}
        async with at_work(tmp_path, [], equipment=equipment) as desk:
            await desk.told("Tell me.")
            end = desk.session.last
            assert end is not None
            assert (end.ended, end.response) == ("final_response", "Here it is, whole.")
            assert len(await desk.payloads(ModelFailed)) == 2
            assert len(await desk.payloads(ModelRequested)) == 3
        await model.close()
