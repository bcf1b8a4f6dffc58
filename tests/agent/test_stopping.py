"""Who stops a run stops all of it, and what was stopped begins by nobody's hand again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from agents_at_work import at_work, calls

from holdfast import Answer, tool
from holdfast.agent.models.scripted import ScriptedModel
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.who_answers import answered_elsewhere
from holdfast.contract.agents import Agent
from holdfast.contract.call import Ask
from holdfast.contract.events import (
    ApprovalAnswered,
    CallIntended,
    CallSettled,
    Event,
    ModelRequested,
    SpanStarted,
    UserInterrupt,
)
from holdfast.contract.journal import EventQuery, Journal, JournalUnavailable
from holdfast.contract.model import Heard, ModelReply, ModelRequest
from holdfast.contract.session_state import due_micros

CODER = Agent(id="coder")
RAN: list[str] = []


@tool(permission_policy="always_ask")
def deploy(place: str) -> str:
    """Deploy."""
    RAN.append(place)
    return "deployed"


def at_home_with(folder: Path, secret: str) -> Surroundings:
    return Surroundings(data_home=folder / "data", state_home=folder / "state", secrets=(secret,))


class Waiting(ScriptedModel):
    """Waits before it says anything, until it may."""

    def __init__(self, turns: Sequence[ModelReply | str]) -> None:
        super().__init__(turns)
        self.asked = anyio.Event()
        self.goes = anyio.Event()

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        self.asked.set()
        await self.goes.wait()
        return await super().complete(request, heard)


async def test_a_run_that_nobody_listens_to_is_not_followed_by_another(tmp_path: Path) -> None:
    async with at_work(tmp_path, ["first", "second"], agent=CODER) as desk:
        run = desk.session.run("Hi")
        async for one in run:
            if isinstance(one, Event) and one.type == "model.requested":
                await desk.session.send("and one more thing")
            if isinstance(one, Event) and one.type == "session.status_idle":
                break
        with anyio.fail_after(10):
            await run.aclose()
        began = [one for one in await desk.payloads(SpanStarted) if one.span_kind == "wake"]
        assert len(began) == 1, "another run followed"
        assert len(await desk.payloads(ModelRequested)) == len(desk.model.requests) == 1
        assert len((await desk.state()).pending) == 1, "its words wait for whoever runs it next"


async def test_who_leaves_before_the_run_begins_waits_for_no_model(tmp_path: Path) -> None:
    model = Waiting(["never"])
    async with at_work(tmp_path, [], equipment={"model": model}, agent=CODER) as desk:
        with anyio.fail_after(10):
            with anyio.move_on_after(0):
                await desk.told("Hi")
        assert not desk.session.running
        assert model.requests == []


@pytest.mark.req("BOA-INT-05")
async def test_nothing_runs_that_was_allowed_right_before_an_interrupt(tmp_path: Path) -> None:
    RAN.clear()
    turns = [calls(("deploy", '{"place": "x"}')), "never"]
    options: dict[str, Any] = {"tools": [deploy], "approver": answered_elsewhere, "agent": CODER}
    asked = anyio.Event()
    async with at_work(tmp_path, turns, equipment={"interactive": True}, **options) as desk:

        async def both() -> None:
            await asked.wait()
            open_ones = await desk.holdfast.questions()
            log = desk.holdfast.parts.log
            assert log is not None
            journal = await log.journal()
            first = open_ones[0]
            yes = ApprovalAnswered(
                approval_id=first.approval_id, call_id=first.call_id, allowed=True, by="ada"
            )
            await journal.append(desk.session.id, [yes, UserInterrupt()])

        async with anyio.create_task_group() as group:
            group.start_soon(both)
            async for one in desk.session.run("Deploy"):
                if isinstance(one, Event) and one.type == "approval.asked":
                    asked.set()
        assert RAN == []
        assert await desk.payloads(CallIntended) == []
        assert desk.session.last is not None
        assert desk.session.last.ended == "cancelled"
        assert len(desk.model.requests) == 1


async def test_what_a_person_stopped_is_not_due_and_goes_on_when_it_is_told_to(
    tmp_path: Path,
) -> None:
    model = Waiting(["done after all"])
    async with at_work(tmp_path, [], equipment={"model": model}, agent=CODER) as desk:
        async with anyio.create_task_group() as group:
            group.start_soon(desk.told, "Delete everything.")
            await model.asked.wait()
            await desk.session.interrupt()
        state = await desk.state()
        assert (state.pending, due_micros(state)) == ((), None)
        model.goes.set()
        end = await desk.session.wake(goes_on=True)
        assert end.response == "done after all"
        assert "Delete everything." in str(desk.rows())


async def test_a_run_that_is_told_what_to_do_instead_goes_on_with_that(tmp_path: Path) -> None:
    model = Waiting(["a poem"])
    async with at_work(tmp_path, [], equipment={"model": model}, agent=CODER) as desk:

        async def redirect() -> None:
            await model.asked.wait()
            await desk.session.interrupt("Write a poem instead.")
            model.goes.set()

        async with anyio.create_task_group() as group:
            group.start_soon(redirect)
            await desk.told("Deploy.")
        assert desk.session.last is not None
        assert desk.session.last.response == "a poem"
        assert "Write a poem instead." in str(desk.rows())


async def test_a_store_that_cannot_be_asked_for_interrupts_once_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.app.run_watch.LOOK_SECONDS", 0.01)
    model = Waiting(["first"])
    async with at_work(tmp_path, [], equipment={"model": model}, agent=CODER) as desk:
        log = desk.holdfast.parts.log
        assert log is not None
        journal = await log.journal()
        find = journal.find
        failed: list[EventQuery] = []

        async def failing(session_id: str, query: EventQuery, /) -> tuple[Event, ...]:
            if query.types == ("user.interrupt",) and not failed:
                failed.append(query)
                raise JournalUnavailable("database is locked")
            if failed:
                model.goes.set()
            return await find(session_id, query)

        shaky: Journal = journal
        monkeypatch.setattr(shaky, "find", failing)
        with anyio.fail_after(10):
            await desk.told("Hi")
        assert failed
        assert desk.session.last is not None
        assert desk.session.last.ended == "final_response"


async def test_an_approved_call_with_a_secret_runs_as_it_was_written(tmp_path: Path) -> None:
    RAN.clear()
    secret = "hunter2-very-secret-value-99"
    around = at_home_with(tmp_path, secret)
    turns = [calls(("deploy", f'{{"place": "{secret}"}}')), "done"]
    async with at_work(tmp_path, turns, tools=[deploy], surroundings=around, agent=CODER) as desk:
        await desk.told("Deploy.")
        (asked,) = await desk.holdfast.questions()
        await desk.session.answer(asked, Answer(allowed=True, by="ada"))
        await desk.told()
        assert [secret] == RAN
        assert secret not in str(await desk.events())


async def test_after_a_restart_it_is_to_be_made_again_and_nobody_is_asked_twice(
    tmp_path: Path,
) -> None:
    RAN.clear()
    secret = "hunter2-very-secret-value-99"
    around = at_home_with(tmp_path, secret)
    turns = [calls(("deploy", f'{{"place": "{secret}"}}'))]
    options: dict[str, Any] = {"tools": [deploy], "surroundings": around, "agent": CODER}
    async with at_work(tmp_path, turns, **options) as desk:
        await desk.told("Deploy.")
        (asked,) = await desk.holdfast.questions()
        await desk.session.answer(asked, Answer(allowed=True, by="ada"))
        session_id = desk.session.id
    async with at_work(tmp_path, ["I see."], session=session_id, **options) as desk:
        await desk.told()
        assert RAN == []
        assert await desk.holdfast.questions() == ()
        assert "Make the call again" in str(desk.rows()[-1])


async def test_the_commands_of_a_turn_are_counted_anew_with_what_a_person_says(
    tmp_path: Path,
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    settings = msgspec.convert({"profile": {"code": {"commands_per_turn": 1}}}, Settings)
    command = ("bash", '{"command": "echo hello"}')

    async def yes(_ask: Ask, /) -> Answer:
        return Answer(allowed=True, by="ada")

    turns = [calls(command), calls(command), "one", calls(command), "two"]
    options: dict[str, Any] = {
        "workspace": work,
        "settings": settings,
        "approver": yes,
        "agent": CODER,
    }
    async with at_work(tmp_path, turns, profile="code", **options) as desk:
        await desk.told("Run it.")
        await desk.told("Once more.")
        said = [str(bytes(one.envelope)) for one in await desk.payloads(CallSettled)]
        assert ["This turn has made its 1 calls" in one for one in said] == [False, True, False]
