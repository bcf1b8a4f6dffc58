"""Sessions that were left in the middle, limits over several runs, and other odd places."""

import json
from pathlib import Path
from typing import Any

import pytest
from agents_at_work import at_work, calls

from holdfast import Answer, tool
from holdfast.agent.endings import Ended, Rest, pause_behind
from holdfast.agent.models.scripted import Played
from holdfast.app.settings import Surroundings
from holdfast.contract.agents import Agent
from holdfast.contract.events import CallSettled, CustomToolUse, StatusIdle, ToolUse
from holdfast.contract.session_state import due_micros
from holdfast.contract.wake_events import WakeQueued

BOSS = Agent(id="boss", instructions="b", directives=True)
ORDER = (
    'bye <holdfast-session-loop>{"custom_tool_request":{"name":"order","input":{}}}'
    "</holdfast-session-loop>"
)


class _Gone(Exception):
    """The program ends here."""


async def test_an_interrupted_run_whose_program_is_gone_comes_to_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(*_given: object) -> None:
        raise _Gone

    async with at_work(tmp_path, ["hi"], agent=BOSS) as desk:
        await desk.told("Go.")
        await desk.session.interrupt()
        with monkeypatch.context() as patch:
            patch.setattr(Rest, "__call__", gone)
            with pytest.raises(_Gone):
                await desk.told()
    async with at_work(tmp_path, [], agent=BOSS, session=desk.session.id) as desk:
        assert (await desk.state()).status == "running"
        await desk.told()
        state = await desk.state()
        assert (state.status, due_micros(state)) == ("idle", None)


async def test_a_request_whose_program_is_gone_is_told_as_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_outside = Rest._asked_outside  # pyright: ignore[reportPrivateUsage] - where it is killed

    async def gone(rest: Rest, *given: object) -> StatusIdle:
        await asked_outside(rest, *given)  # pyright: ignore[reportArgumentType] - as they came
        raise _Gone

    equipment = {"directives": True}
    async with at_work(tmp_path, [ORDER], agent=BOSS, equipment=equipment) as desk:
        with monkeypatch.context() as patch:
            patch.setattr(Rest, "_asked_outside", gone)
            with pytest.raises(_Gone):
                await desk.told("Go.")
    options: dict[str, Any] = {"session": desk.session.id}
    async with at_work(tmp_path, ["it came"], agent=BOSS, equipment=equipment, **options) as desk:
        await desk.told()
        state = await desk.state()
        assert (state.status, state.stop_reason) == ("requires_action", "requires_action")
        idle = (await desk.payloads(StatusIdle))[-1]
        used = next(one for one in await desk.events() if isinstance(one.payload, CustomToolUse))
        assert idle.blocking_event_ids == (used.id,)
        request = await desk.session.request()
        assert request is not None
        await desk.session.give(request, "tea")
        await desk.told()
        assert desk.session.last is not None
        assert desk.session.last.response == "it came"


@tool(ownership="custom", parallel_safe=True)
def order(item: str) -> str:
    """Order."""
    raise NotImplementedError(item)


async def test_two_calls_for_the_application_wait_one_after_the_other(tmp_path: Path) -> None:
    asked = calls(("order", '{"item": "tea"}'), ("order", '{"item": "milk"}'))
    async with at_work(tmp_path, [asked, "both came"], tools=[order]) as desk:
        for item in ("tea", "milk"):
            await desk.told(None if item == "milk" else "Order.")
            request = await desk.session.request()
            assert request is not None
            assert request.input == {"item": item}
            await desk.session.give(request, f"{item} comes")
        await desk.told()
        assert desk.session.last is not None
        assert desk.session.last.response == "both came"


@tool(read_only=False)
def change() -> str:
    """Change the file."""
    FILE[0].write_text("new\n")
    return "changed"


FILE: list[Path] = []


@pytest.mark.parametrize("first", [("change", "{}"), ("write", "")])
async def test_behind_a_change_in_the_same_reply_a_file_is_read_anew(
    tmp_path: Path, first: tuple[str, str]
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    FILE[:] = [work / "a.txt"]
    FILE[0].write_text("old\n")
    read = ("read", '{"path": "a.txt"}')
    written = json.dumps({"path": "a.txt", "content": "new\n"})
    change_it = (first[0], first[1] or written)
    turns: list[Played] = [calls(read), calls(change_it, read), "read"]
    options: dict[str, Any] = {"profile": "code", "workspace": work}
    async with at_work(tmp_path, turns, tools=[change], **options) as desk:
        await desk.told("Go.")
        *_, answer = await desk.payloads(CallSettled)
        assert "new" in bytes(answer.envelope).decode()


ASKED: list[str] = []


@tool(permission_policy="always_ask")
def deploy() -> str:
    """Deploy."""
    ASKED.append("deployed")
    return "deployed"


@tool(read_only=False)
def effect() -> str:
    """Do something."""
    ASKED.append("effect")
    return "done"


async def test_approvals_come_first_also_where_the_reply_ends_the_turn(tmp_path: Path) -> None:
    ASKED.clear()
    asked = calls(("effect", "{}"), ("deploy", "{}"), ("complete", '{"summary": "all is done"}'))
    options: dict[str, Any] = {"profile": "host", "workspace": tmp_path}
    async with at_work(tmp_path, [asked], tools=[effect, deploy], **options) as desk:
        await desk.told("Go.")
        assert desk.session.last is not None
        assert (desk.session.last.ended, ASKED) == ("requires_action", [])


async def test_a_call_that_nests_without_end_is_answered(tmp_path: Path) -> None:
    deep = '{"a":' * 5_000 + "1" + "}" * 5_000
    async with at_work(tmp_path, [calls(("effect", deep)), "I see"], tools=[effect]) as desk:
        await desk.told("Go.")
        assert desk.session.last is not None
        assert desk.session.last.response == "I see"
        (settled,) = await desk.payloads(CallSettled)
        assert "invalid_args" in bytes(settled.envelope).decode()


async def test_half_a_character_of_a_model_ends_no_run(tmp_path: Path) -> None:
    odd = calls(("effect", '{"a": "\ud83d"}'), text="half \ud83d")
    async with at_work(tmp_path, [odd, "whole"], tools=[effect]) as desk:
        await desk.told("Go.")
        assert desk.session.last is not None
        assert desk.session.last.response == "whole"


SECRET = "hunter2-TOPSECRET-9"


async def test_a_managed_call_tells_no_secret(tmp_path: Path) -> None:
    around = Surroundings(
        data_home=tmp_path / "data", state_home=tmp_path / "state", secrets=(SECRET,)
    )
    asked = calls(("say", json.dumps({"text": f"key={SECRET}"})))
    equipment = {"managed": True}
    async with at_work(
        tmp_path, [asked, "said"], tools=[say], equipment=equipment, surroundings=around
    ) as desk:
        await desk.told("Go.")
        (used,) = await desk.payloads(ToolUse)
        assert "key=" in str(used.input)
        assert SECRET not in str(await desk.events())


@tool
def say(text: str) -> str:
    """Say it."""
    return text


async def test_a_summary_tells_no_secret(tmp_path: Path) -> None:
    around = Surroundings(
        data_home=tmp_path / "data", state_home=tmp_path / "state", secrets=(SECRET,)
    )
    long = "word " * 3_000
    turns: list[Played] = [long, long, f"the key is {SECRET}", "here"]
    options: dict[str, Any] = {"window": 10_000, "max_output_tokens": 1_000, "surroundings": around}
    async with at_work(tmp_path, turns, **options) as desk:
        for words in ("One " + long, "Two", "Three"):
            await desk.told(words)
        assert SECRET not in str(await desk.events())


def test_a_pause_grows_with_failures_and_is_never_shorter_than_asked_for() -> None:
    fails = Ended(ending="failed", again=True)
    assert [pause_behind(fails, attempt) for attempt in (1, 2, 3, 9, 90)] == [5, 10, 20, 300, 300]
    asked = Ended(ending="failed", again=True, not_before=600.0)
    assert pause_behind(asked, 1) == 600
    endless = Ended(ending="failed", again=True, not_before=float("inf"))
    assert pause_behind(endless, 1) == 86_400
    wrong = Ended(ending="failed")
    assert [pause_behind(wrong, attempt) for attempt in (1, 2, 4, 9)] == [2, 4, 16, 30]


async def test_the_commands_of_a_turn_are_counted_after_a_restart(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    run = ("shell_run", '{"command": "true"}')
    options: dict[str, Any] = {"profile": "host", "workspace": work, "agent": BOSS}
    async with at_work(tmp_path, [calls(("deploy", "{}"))], tools=[deploy], **options) as desk:
        await desk.told("Go.")
        (question,) = await desk.session.questions()
        await desk.session.answer(question, Answer(allowed=True, by="ada"))
        session = desk.session.id
    turns: list[Played] = [calls(*[run] * 14), "done"]
    async with at_work(tmp_path, turns, tools=[deploy], session=session, **options) as desk:
        await desk.told()
        told = [bytes(one.envelope).decode() for one in await desk.payloads(CallSettled)]
        assert sum("calls that run commands" in one for one in told) == 4


async def test_wakes_that_an_agent_asks_for_have_a_bound(tmp_path: Path) -> None:
    def block(number: int) -> str:
        wakes = [{"reason": f"r{number}-{one}", "delay_seconds": 5_000} for one in range(3)]
        said = json.dumps({"outcome": "sleep", "queued_wakes": wakes})
        return f"bye <holdfast-session-loop>{said}</holdfast-session-loop>"

    turns = [block(number) for number in range(40)]
    async with at_work(tmp_path, turns, agent=BOSS, equipment={"directives": True}) as desk:
        for _ in range(40):
            await desk.told("More.")
        assert len((await desk.state()).wakes) == 100
        assert len(await desk.payloads(WakeQueued)) == 100
