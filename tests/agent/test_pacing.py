"""How often and how far apart a model is tried, and how long a session is left alone: by values."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from agents_at_work import at_work, calls
from model_server import turn_server

from holdfast import tool
from holdfast.agent import asking
from holdfast.agent.asking import pause_before
from holdfast.agent.beginning import MOST_ATTEMPTS
from holdfast.agent.endings import (
    LONGEST_OBEYED,
    MOST_PASSING,
    Ended,
    pause_behind,
)
from holdfast.agent.models import openai_chat
from holdfast.agent.models.http_model import HttpModel
from holdfast.agent.models.scripted import ScriptedTrouble, Turn
from holdfast.agent.models.setup import ModelSetup
from holdfast.agent.spending import Spending
from holdfast.contract.agents import Agent, RunLimits
from holdfast.contract.events import StatusIdle
from holdfast.contract.model import ModelError, ModelReply, ModelUsage
from holdfast.contract.session_state import due_micros
from holdfast.contract.wake_events import PARKED_UNTIL, DirectiveTaken, ModelFailed, WakeDeferred
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio

CODER = Agent(id="coder")
BUSY = ModelError("overloaded", "come back later")
WRONG = ModelError("authentication", "the key is refused; set it again")


@tool(read_only=True, inline=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


ADD = ("add", '{"a": 1, "b": 2}')


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "FIRST_PAUSE", 0.001)


def test_pauses_before_another_attempt_double_up_to_half_a_minute() -> None:
    assert [pause_before(attempt, BUSY) for attempt in range(1, 8)] == [1, 2, 4, 8, 16, 30, 30]


@pytest.mark.parametrize(("asked", "pause"), [(0.5, 2.0), (2.0, 2.0), (45.0, 45.0)])
def test_a_provider_may_ask_for_a_longer_pause_and_for_no_shorter_one(
    asked: float, pause: float
) -> None:
    assert pause_before(2, ModelError("rate_limited", "slowly", retry_after=asked)) == pause


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("retries", [0, 1, 3])
async def test_a_model_is_asked_once_and_so_often_again_as_the_limits_say(
    tmp_path: Path, retries: int
) -> None:
    limits = RunLimits(retries=retries)
    async with at_work(tmp_path, [BUSY] * 9, equipment={"limits": limits}) as desk:
        await desk.told("Hello?")
        assert len(desk.model.requests) == retries + 1
        failed = await desk.payloads(ModelFailed)
        assert [one.attempt for one in failed] == list(range(1, retries + 2))
        goes_on = [one.retry_in_seconds is not None for one in failed]
        assert goes_on == [True] * retries + [False]


@pytest.mark.usefixtures("no_pauses")
async def test_requests_on_the_wire_are_counted_too(tmp_path: Path) -> None:
    turn = Turn(error=ScriptedTrouble(trouble="overloaded", status=529))
    async with turn_server([turn] * 9) as (server, url):
        model = HttpModel(ModelSetup(model="m", url=url), openai_chat.FORM)
        equipment: dict[str, Any] = {"model": model, "limits": RunLimits(retries=2)}
        async with at_work(tmp_path, [], equipment=equipment) as desk:
            await desk.told("Hello?")
        await model.close()
        assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("again", "pauses"),
    [(False, [2, 4, 8, 16, 30, 30]), (True, [5, 10, 20, 40, 80, 160, 300, 300])],
)
def test_a_session_is_left_alone_for_longer_with_every_failed_run(
    again: bool, pauses: list[float]
) -> None:
    failed = Ended(ending="failed", again=again)
    assert [pause_behind(failed, attempt) for attempt in range(1, len(pauses) + 1)] == pauses


@pytest.mark.parametrize(("asked", "pause"), [(1.0, 5.0), (90.0, 90.0), (1e9, LONGEST_OBEYED)])
def test_a_provider_says_when_to_come_back_within_a_day(asked: float, pause: float) -> None:
    assert pause_behind(Ended(ending="failed", again=True, not_before=asked), 1) == pause


@pytest.mark.req("BOA-WAKE-10")
async def test_a_provider_that_fails_for_now_defers_a_session_by_exactly_five_seconds(
    tmp_path: Path,
) -> None:
    clock = FakeClock()
    limits = RunLimits(retries=0)
    turns = [BUSY, "here I am"]
    equipment = {"limits": limits}
    async with at_work(tmp_path, turns, clock=clock, agent=CODER, equipment=equipment) as desk:
        await desk.told("Hello?")
        (deferred,) = await desk.payloads(WakeDeferred)
        assert deferred.until - clock.now() == timedelta(seconds=5)
        state = await desk.state()
        assert (state.status, len(state.pending)) == ("rescheduling", 1)
        due = due_micros(state)
        assert due == clock.unix_ns() // 1000 + 5_000_000
        clock.advance(5)
        await desk.told()
        assert desk.session.last is not None
        assert desk.session.last.response == "here I am"
        assert (await desk.state()).pending == ()


@pytest.mark.req("BOA-WAKE-13")
async def test_failed_runs_are_2_to_30_seconds_apart_and_then_a_person_has_to_look(
    tmp_path: Path,
) -> None:
    clock = FakeClock()
    turns = [WRONG] * MOST_ATTEMPTS
    async with at_work(tmp_path, turns, clock=clock, agent=CODER) as desk:
        for attempt in range(MOST_ATTEMPTS):
            await desk.told(None if attempt else "Hello?")
            state = await desk.state()
            assert state.attempts == attempt + 1
            assert (due_micros(state) is None) is (attempt + 1 == MOST_ATTEMPTS)
        deferred = await desk.payloads(WakeDeferred)
        assert [one.attempt for one in deferred] == [1, 2, 3, 4, 5]
        pauses = [(one.until - clock.now()).total_seconds() for one in deferred[:-1]]
        assert pauses == [2, 4, 8, 16]
        assert deferred[-1].until == PARKED_UNTIL
        state = await desk.state()
        assert (state.status, state.stop_reason) == ("requires_action", "requires_action")
        assert due_micros(state) is None
        idle = (await desk.payloads(StatusIdle))[-1]
        assert "Wake failed 5 times in a row" in idle.summary


async def test_what_may_pass_is_tried_for_longer_before_a_person_has_to_look() -> None:
    assert MOST_PASSING > MOST_ATTEMPTS
    total = sum(
        pause_behind(Ended(ending="failed", again=True), attempt)
        for attempt in range(1, MOST_PASSING)
    )
    assert total > 4 * 3600


@pytest.mark.parametrize(("used", "over"), [(99, False), (100, True), (101, True)])
def test_a_limit_is_reached_with_its_last_token(used: int, over: bool) -> None:
    spent = Spending(RunLimits(tokens=100), FakeClock())
    spent.charge(ModelUsage(input_tokens=used - 9, output_tokens=9))
    assert (spent.over() is not None) is over
    assert (spent.left() is None) is over


@pytest.mark.parametrize(("micros", "over"), [(499_999, False), (500_000, True)])
def test_a_limit_is_reached_with_the_last_of_its_money(micros: int, over: bool) -> None:
    spent = Spending(RunLimits(cost=0.5), FakeClock())
    spent.charge(ModelUsage(cost_micros=micros))
    assert (spent.over() is not None) is over
    assert (spent.left() is None) is over


async def test_a_run_that_has_used_exactly_its_tokens_asks_no_more(tmp_path: Path) -> None:
    usage = ModelUsage(input_tokens=90, output_tokens=10)
    first = ModelReply(calls=calls(ADD).calls, usage=usage, finish="tool_calls")
    equipment = {"limits": RunLimits(tokens=100)}
    async with at_work(tmp_path, [first, "never"], tools=[add], equipment=equipment) as desk:
        await desk.told("Go.")
        assert desk.session.last is not None
        assert desk.session.last.ended == "over_budget"
        assert len(desk.model.requests) == 1


@pytest.mark.req("BOA-DIR-13")
@pytest.mark.parametrize("most", [0, 1, 5])
async def test_how_often_an_agent_goes_on_by_itself_is_configured(
    tmp_path: Path, most: int
) -> None:
    clock = FakeClock()
    on = (
        'Done. <holdfast-session-loop>{"outcome": "continue", "follow_up_seconds": 10}'
        "</holdfast-session-loop>"
    )
    equipment = {"directives": True, "limits": RunLimits(continues=most)}
    async with at_work(tmp_path, [on] * 9, clock=clock, equipment=equipment) as desk:
        await desk.told("Go.")
        while (await desk.state()).wakes:
            clock.advance(11)
            await desk.told()
        said = [
            (one.outcome, one.enforced_by_runtime) for one in await desk.payloads(DirectiveTaken)
        ]
        assert said == [("continue", False)] * most + [("sleep", True)]


@pytest.mark.req("CLI-RUN-25")
async def test_without_another_limit_a_run_asks_its_model_64_times(tmp_path: Path) -> None:
    turns = [calls(("add", f'{{"a": {number}, "b": 2}}')) for number in range(70)]
    async with at_work(tmp_path, turns, tools=[add]) as desk:
        await desk.told("Go.")
        end = desk.session.last
        assert end is not None
        assert (end.ended, len(desk.model.requests)) == ("iteration_cap", 64)
        (idle,) = await desk.payloads(StatusIdle)
        assert "a person should review" in idle.summary
