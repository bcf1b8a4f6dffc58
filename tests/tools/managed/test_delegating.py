"""`session_delegate` and `session_run_child`: sessions of the same agent that outlive a call."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from agents_at_work import calls
from tool_kit import failure, opened, result

from holdfast import Abort, Agent, Holdfast, ScriptedModel, Subagent, tool
from holdfast.app.settings import Settings
from holdfast.contract.delegation import MOST_CYCLES, MOST_DEPTH
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import (
    ChildCreated,
    ChildIdle,
    EventsProcessed,
    OutcomeDefined,
    SessionCreated,
    UserMessage,
    WantedOutcome,
)
from holdfast.contract.failure import FailureKind
from holdfast.contract.journal import Journal, Session
from holdfast.contract.model import ModelRequest
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio

LOOKER = Agent(id="looker", description="Looks.", instructions="Look.")


@asynccontextmanager
async def under(workspace: Path, turns: list[Any], **options: Any) -> AsyncGenerator[Holdfast]:
    """A session of an agent, whose calls a test makes itself."""
    given: dict[str, Any] = {
        "settings": Settings(),
        "agent": LOOKER,
        "model": ScriptedModel(turns),
        **options,
    }
    async with opened(workspace, "managed", **given) as hf:
        yield hf


async def journal_of(hf: Holdfast) -> Journal:
    assert hf.parts.log is not None
    return await hf.parts.log.journal()


async def events_of(hf: Holdfast, session_id: str | None = None) -> list[Any]:
    found = await (await journal_of(hf)).events(session_id or hf.session_id)
    return [one.payload for one in found]


async def child_of(hf: Holdfast, session_id: str) -> Session:
    return await (await journal_of(hf)).session(session_id)


async def delegated(hf: Holdfast, message: str = "Look at it.", **more: Any) -> str:
    made = await result(hf, "session_delegate", message=message, **more)
    return made["child_session"]["session_id"]


@pytest.mark.req("BOA-DELEG-01", "BOA-DELEG-02", "BOA-DELEG-03")
async def test_a_child_is_of_the_same_agent_and_holds_its_task(workspace: Path) -> None:
    async with under(workspace, []) as hf:
        declared = next(one for one in hf.tools if one.name == "session_delegate")
        properties: Any = declared.input_schema["properties"]
        assert list(properties) == ["message", "title", "detail", "success_criteria"]
        assert declared.input_schema["required"] == ["message"]
        made = await result(
            *(hf, "session_delegate"),
            message="Look at it.",
            title="A look",
            detail="All of it.",
            success_criteria=["seen", " seen", ""],
        )
        child = made["child_session"]["session_id"]
        assert made["parent_session_id"] == hf.session_id
        assert made["child_session"] == await result(hf, "session_get_snapshot", session_id=child)
        summary = made["child_session"]
        assert (summary["status"], summary["stop_reason"]) == ("rescheduling", "rescheduling")
        assert (summary["agent_id"], summary["parent_session_id"]) == ("looker", hf.session_id)
        begun, wanted, said = await events_of(hf, child)
        (own,) = [one for one in await events_of(hf) if isinstance(one, SessionCreated)]
        assert begun == SessionCreated(
            agent_id="looker",
            profile=own.profile,
            workspace=str(workspace.resolve()),
            parent_id=hf.session_id,
            metadata={"delegated": True, "depth": 1},
        )
        outcome = WantedOutcome(title="A look", detail="All of it.", success_criteria=("seen",))
        assert (wanted, said) == (
            OutcomeDefined(outcome=outcome),
            UserMessage(message="Look at it."),
        )
        state = (await child_of(hf, child)).state
        assert made["seeded_event_ids"] == list(state.pending)
        (told,) = [one for one in await events_of(hf) if isinstance(one, ChildCreated)]
        assert told == ChildCreated(
            child_session_id=child, outcome_title="A look", message="Look at it.", lasting=True
        )


@pytest.mark.req("BOA-DELEG-08", "BOA-SESS-08", "BOA-SESS-09", "BOA-SESS-10")
async def test_where_a_child_stands_is_told_as_of_any_session(workspace: Path) -> None:
    async with under(workspace, ["Two of them."]) as hf:
        made = await result(hf, "session_delegate", message="Count.", title="A count")
        child = made["child_session"]["session_id"]
        told = await result(hf, "session_run_child", session_id=child)
        (listed,) = (await result(hf, "session_list_children"))["sessions"]
        before, after = made["child_session"], told["child_session"]
        for summary in (before, after, listed):
            assert (summary["relation_to_current"], summary["child_count"]) == ("child", 0)
            assert (summary["promotion_ready"], summary["outcome_status"]) == (False, "not_ready")
            assert (summary["requires_action"], summary["pending_action_kind"]) == (False, None)
            step = summary["next_outcome_step"]
            assert (await hf.settle(step["tool"], step["args"])).failure is None
        assert (before["outcome_trend"], after["outcome_trend"]) == (None, "first_iteration")
        for shared in ("agent_setup_fingerprint", "resource_contract_fingerprint"):
            assert before[shared] is None  # no run has said what it is set up as
            assert after[shared] == listed[shared] is not None
        assert after["outcome_evaluation"]["status"] == "not_ready"


async def test_what_is_missing_of_a_task_is_said(workspace: Path) -> None:
    async with under(workspace, []) as hf:
        for given, field in (
            ({"message": " "}, "message"),
            ({"message": "x", "detail": "y"}, "title"),
        ):
            refused = await failure(hf, "session_delegate", **given)
            assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, field)
        assert not [one for one in await events_of(hf) if isinstance(one, ChildCreated)]


@pytest.mark.req("BOA-DELEG-04", "BOA-DELEG-05")
async def test_a_child_is_run_in_place_and_keeps_its_context_to_itself(workspace: Path) -> None:
    seen: list[ModelRequest] = []

    def turn(request: ModelRequest) -> str:
        seen.append(request)
        return "Two of them."

    async with under(workspace, [turn]) as hf:
        declared = next(one for one in hf.tools if one.name == "session_run_child")
        properties: Any = declared.input_schema["properties"]
        assert properties["max_cycles"]["default"] == 3
        assert properties["max_cycles"]["maximum"] == MOST_CYCLES
        made = await result(hf, "session_delegate", message="Count.", title="A count")
        child = made["child_session"]["session_id"]
        told = await result(hf, "session_run_child", session_id=child)
        assert told == {
            "parent_session_id": hf.session_id,
            "child_session": await result(hf, "session_get_snapshot", session_id=child),
            "executed_cycles": 1,
            "loop_stop_reason": "idle",
            "child_stop_reason": "idle",
            "response": "Two of them.",
            "queued_wake_ids": [],
            "processed_event_ids": made["seeded_event_ids"],
        }
        assert told["child_session"]["status"] == "idle"
        words = [row.content for row in seen[0].rows[1:]]
        assert words == ["[outcome wanted] A count", "Count."]
        rested = [one for one in await events_of(hf) if isinstance(one, ChildIdle)]
        assert rested == [
            ChildIdle(
                child_session_id=child,
                child_stop_reason="idle",
                summary="Two of them.",
                executed_cycles=1,
            )
        ]
        assert not [one for one in await events_of(hf) if isinstance(one, EventsProcessed)]


@pytest.mark.req("BOA-DELEG-07")
async def test_a_run_stops_where_nothing_is_left_or_after_so_many_wakes(workspace: Path) -> None:
    goes_on = Agent(id="looker", description="Looks.", directives=True)
    clock, seconds = FakeClock(), [600, 600, 0]

    def half(_request: ModelRequest) -> str:
        clock.advance(seconds.pop(0))
        return 'Half. <holdfast-session-loop>{"outcome": "continue"}</holdfast-session-loop>'

    async with under(workspace, [half] * 3, agent=goes_on, clock=clock) as hf:
        child = await delegated(hf)
        told = await result(hf, "session_run_child", session_id=child, max_cycles=2)
        assert (told["executed_cycles"], told["loop_stop_reason"]) == (2, "max_cycles")
        assert told["child_stop_reason"] == "rescheduling"
        assert len(told["queued_wake_ids"]) == 1
        later = await result(hf, "session_run_child", session_id=child, max_cycles=2)
        assert (later["executed_cycles"], later["loop_stop_reason"]) == (1, "idle")
    async with under(workspace, ["One.", "Two."]) as hf:
        child = await delegated(hf)
        await result(hf, "session_run_child", session_id=child)
        again = await result(hf, "session_run_child", session_id=child)
        assert (again["executed_cycles"], again["loop_stop_reason"]) == (0, "idle")
        assert again["response"] == "One."  # what it said when it came to rest


@pytest.mark.req("BOA-DELEG-06")
async def test_only_what_this_session_delegated_is_run(workspace: Path) -> None:
    async def run(_child: Holdfast, prompt: str) -> str:
        return prompt

    below = {"helper": Subagent(run=run, description="Helps.")}
    async with under(workspace, [], subagents=below) as hf:
        await result(hf, "task", subagent_type="helper", prompt="x", background=True)
        (of_task,) = [one for one in await events_of(hf) if isinstance(one, ChildCreated)]
        async with under(workspace, []) as other:
            theirs = await delegated(other)
        for session in ("ses_none", hf.session_id, of_task.child_session_id, theirs):
            refused = await failure(hf, "session_run_child", session_id=session)
            assert refused.kind is FailureKind.REJECTED
            assert session in refused.message


@pytest.mark.req("BOA-DELEG-10")
async def test_it_goes_as_deep_as_task_does(workspace: Path) -> None:
    async def nested(hf: Holdfast, depth: int) -> None:
        if depth == MOST_DEPTH:
            refused = await failure(hf, "session_delegate", message="Look.")
            assert refused.kind is FailureKind.REJECTED
            assert f"{MOST_DEPTH} are the most" in refused.message
            assert (await failure(hf, "task", subagent_type="x", prompt="y")).kind != "ok"
            return
        child = await delegated(hf)
        async with under(workspace, [], session=child) as taken_up:
            assert not [one for one in taken_up.remarks if "subagent" in one]
            await nested(taken_up, depth + 1)

    async with under(workspace, []) as hf:
        await nested(hf, 0)


async def test_nothing_outlives_a_subagent(workspace: Path) -> None:
    found: list[Any] = []

    async def run(child: Holdfast, _prompt: str) -> str:
        found.append(await failure(child, "session_delegate", message="Go on."))
        return "no"

    agent = Agent(id="below", description="Works.", mode="subagent")
    helper = Subagent(run=run, description="Helps.")
    async with under(workspace, [], agents=[agent], subagents={"helper": helper}) as hf:
        await result(hf, "task", subagent_type="helper", prompt="x")
    runner: Callable[[Any], Any] = lambda _agent: run  # noqa: E731 - a few words
    async with under(workspace, [], agents=[agent], runner=runner) as hf:
        await result(hf, "task", subagent_type="below", prompt="x")
    assert [one.kind for one in found] == [FailureKind.UNAVAILABLE, FailureKind.REJECTED]
    assert "ends with it" in found[1].message


async def test_without_an_agent_or_a_journal_nothing_is_delegated(workspace: Path) -> None:
    async with under(workspace, [], agent=None) as hf:
        refused = await failure(hf, "session_delegate", message="Look.")
        assert (refused.kind, "No agent" in refused.message) == (FailureKind.UNAVAILABLE, True)
    async with opened(workspace, "managed", agent=LOOKER) as hf:
        refused = await failure(hf, "session_delegate", message="Look.")
        assert (refused.kind, "written down" in refused.message) == (FailureKind.UNAVAILABLE, True)


async def test_a_child_that_somebody_else_runs_is_left_to_them(workspace: Path) -> None:
    async with under(workspace, ["Done."]) as hf:
        child = await delegated(hf)
        async with under(workspace, [], session=child):
            refused = await failure(hf, "session_run_child", session_id=child)
            assert refused.kind is FailureKind.UNAVAILABLE
            assert "look at it again later" in refused.message
        told = await result(hf, "session_run_child", session_id=child)
        assert told["response"] == "Done."


async def test_a_call_that_is_given_up_leaves_the_child_to_go_on(workspace: Path) -> None:
    begun = anyio.Event()
    ended: list[str] = []

    @tool(interrupt_behavior="cancel")
    async def wait() -> str:
        """Wait for ever, once."""
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("ended")
        raise AssertionError

    turns = [calls(("wait", "{}")), "It was stopped, and here I am."]
    async with under(workspace, turns, tools=[wait]) as hf:
        child = await delegated(hf)
        stop = Abort()
        given_up: Envelope | None = None
        async with anyio.create_task_group() as group:

            async def give_up() -> None:
                await begun.wait()
                stop.set()

            group.start_soon(give_up)
            call = {"session_id": child}
            given_up = await hf.settle("session_run_child", call, abort=stop)
        assert given_up is not None
        assert given_up.failure is not None
        assert ended == ["ended"]
        held = await child_of(hf, child)
        assert held.lease is None
        assert held.state.status != "running"
        told = await result(hf, "session_run_child", session_id=child)
        assert told["response"] == "It was stopped, and here I am."


async def test_what_a_session_writes_lands_where_it_works(workspace: Path) -> None:
    """Each has a hand of its own: a child's run changes nothing about where its parent writes."""
    writes = calls(("write", '{"path": "child.txt", "content": "theirs"}'))
    async with under(workspace, [writes, "Written."]) as hf:
        await result(hf, "write", path="before.txt", content="ours")
        child = await delegated(hf)
        await result(hf, "session_run_child", session_id=child)
        await result(hf, "write", path="after.txt", content="ours")
        files = {one.name: one.read_text("utf-8") for one in workspace.glob("*.txt")}
        assert files == {"before.txt": "ours", "child.txt": "theirs", "after.txt": "ours"}
