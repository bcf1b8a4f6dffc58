"""What goes along with a step and is kept nowhere, and what a loop does with a turn of calls."""

from pathlib import Path

import pytest
from agents_at_work import at_work, calls

from holdfast import RunLimits, tool
from holdfast.contract.chunks import ToolResultChunk
from holdfast.contract.errors import Unavailable
from holdfast.contract.events import CallIntended, CallSettled, ModelRequested

pytestmark = pytest.mark.anyio

RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool(read_only=True, inline=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    RAN.append("add")
    return a + b


def numbered(number: int) -> object:
    def body() -> None:
        """Be one of many."""

    body.__name__ = f"tool_{number}"
    return tool(body)


MANY = [numbered(number) for number in range(30)]
NAMES = [f"tool_{number}" for number in range(30)]
ADD = ("add", '{"a": 1, "b": 2}')


@pytest.mark.req("OSA-KND-11")
async def test_after_a_path_that_is_not_there_the_next_step_is_steered(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "notes.txt").write_text("hello", "utf-8")
    missing = ("read", '{"path": "note.txt"}')
    listing = ("read", '{"path": "."}')
    turns = [calls(missing), calls(listing), calls(missing), "I give up."]
    async with at_work(tmp_path, turns, profile="locked", workspace=workspace) as desk:
        await desk.told("Read my note.")
        told = [" ".join(one.notices) for one in desk.model.requests]
        assert "The path was not found" not in told[0]
        assert "List its parent directory" in told[1]
        assert "The path was not found" not in told[2]
        assert "Choose one from result.entries of the most recent listing" in told[3]
        assert "list the parent directory" in told[3]


@pytest.mark.req("OSA-DRV-01")
async def test_advice_goes_along_with_one_step_and_is_written_nowhere(tmp_path: Path) -> None:
    item = '{"content": "Count", "active_form": "Counting", "status": "pending"}'
    todo = ("todo", f'{{"todos": [{item}]}}')
    turns = [calls(todo), *[calls(("add", f'{{"a": {n}, "b": 1}}')) for n in range(5)], "done"]
    limits = RunLimits(rounds=7)
    async with at_work(
        tmp_path, turns, profile="locked", tools=[add], equipment={"limits": limits}
    ) as desk:
        await desk.told("Count.")
        told = [" ".join(one.notices) for one in desk.model.requests]
        assert [("steps remain" in one or "last step" in one) for one in told] == [
            *[False] * 4,
            *[True] * 3,
        ]
        assert [("to-do list has 1 item open" in one) for one in told].count(True) == 1
        rows = " ".join(str(row) for row in desk.rows())
        assert "steps remain" not in rows
        assert "to-do list has" not in rows
        kept = (one.payload for one in await desk.events())
        # What a request was is kept with it, for whoever replays it; the transcript has none of it.
        written = " ".join(str(one) for one in kept if not isinstance(one, ModelRequested))
        assert "steps remain" not in written


async def test_a_call_made_again_and_again_is_nudged_in_the_next_step_alone(tmp_path: Path) -> None:
    turns = [calls(ADD), calls(ADD), calls(ADD), calls(("add", '{"a": 2, "b": 2}')), "done"]
    async with at_work(tmp_path, turns, tools=[add]) as desk:
        await desk.told("Count.")
        told = ["3 times in a row" in " ".join(one.notices) for one in desk.model.requests]
        assert told == [False, False, False, True, False]


@pytest.mark.req("OSA-DRV-06")
async def test_a_turn_stops_behind_the_call_that_ends_it(tmp_path: Path) -> None:
    done = ("complete", '{"summary": "Added one and two; their sum is three."}')
    async with at_work(
        tmp_path, [calls(ADD, done, ADD)], profile="host", tools=[add], workspace=tmp_path
    ) as desk:
        await desk.told("Add.")
        answers = [bytes(one.envelope).decode() for one in await desk.payloads(CallSettled)]
        assert len(answers) == 3
        assert '"ok":true' in answers[0]
        assert '"ok":true' in answers[1], answers[1]
        assert "ended the turn" in answers[2]
        assert RAN == ["add"]
        assert len(desk.model.requests) == 1


@pytest.mark.req("OSA-DRV-07")
async def test_what_has_ended_is_recorded_before_a_run_is_given_up(tmp_path: Path) -> None:
    async with at_work(tmp_path, []) as desk:

        @tool
        async def work() -> str:
            """Somebody interrupts meanwhile, too late for this call."""
            await desk.session.interrupt()
            RAN.append("work")
            return "worked"

    both = calls(("work", "{}"), ("add", '{"a": 1, "b": 2}'))
    async with at_work(tmp_path, [both, "never"], tools=[work, add]) as desk:
        await desk.told("Work.")
        assert desk.session.last is not None
        assert desk.session.last.ended == "cancelled"
        answers = {
            one.tool: bytes(one.envelope).decode() for one in await desk.payloads(CallSettled)
        }
        assert RAN == ["work"]
        assert "worked" in answers["work"]
        assert '"ok":true' not in answers.get("add", "")
        assert len(desk.model.requests) == 1


@pytest.mark.req("OSA-DRV-11")
async def test_a_tool_that_was_found_can_be_called_in_the_same_turn(tmp_path: Path) -> None:
    found = calls(("tool_search", '{"query": "add two numbers"}'))
    turns = [found, calls(("add", '{"a": "1", "b": 2}')), "3"]
    async with at_work(
        tmp_path, turns, profile="locked", tools=[add, *MANY], on_demand=["add", *NAMES]
    ) as desk:
        await desk.told("1 + 2?")
        offered = [{one.name: one.schema for one in asked.tools} for asked in desk.model.requests]
        assert "add" not in offered[0]
        assert set(offered[1]["add"]["properties"]) == {"a", "b"}  # pyright: ignore[reportArgumentType] - a schema
        answer = desk.rows()[-1]
        assert isinstance(answer, ToolResultChunk)
        assert '"result":3' in answer.content
        intended = (await desk.payloads(CallIntended))[-1]
        assert intended.repairs


@pytest.mark.req("OSA-DRV-13")
async def test_no_tools_are_sent_where_they_are_off(tmp_path: Path) -> None:
    async with at_work(tmp_path, ["3"], tools=[add], equipment={"tools_off": True}) as desk:
        await desk.told("1 + 2?")
        assert desk.model.requests[0].tools == ()


@pytest.mark.req("OSA-FAI-12")
async def test_a_failure_that_may_pass_is_the_models_to_try_again(tmp_path: Path) -> None:
    @tool
    async def flaky() -> str:
        """Fails for now."""
        RAN.append("flaky")
        raise Unavailable("Nobody is there. Try again in a minute.")

    async with at_work(tmp_path, [calls(("flaky", "{}")), "Later."], tools=[flaky]) as desk:
        await desk.told("Go.")
        answer = desk.rows()[-1]
        assert isinstance(answer, ToolResultChunk)
        assert '"retryable":true' in answer.content
        assert RAN == ["flaky"]


@pytest.mark.parametrize("guided", [True, False])
async def test_where_guidance_is_off_no_step_is_advised_and_every_call_runs(
    tmp_path: Path, guided: bool
) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "notes.txt").write_text("hello", "utf-8")
    turns = [*[calls(("read", '{"path": "notes.txt"}'))] * 3, "done"]
    equipment = {"guidance": guided, "limits": RunLimits(rounds=4)}
    async with at_work(
        tmp_path, turns, profile="locked", workspace=workspace, equipment=equipment
    ) as desk:
        await desk.told("Read my notes.")
        assert any(one.notices for one in desk.model.requests) is guided
        assert len(await desk.payloads(CallIntended)) == (1 if guided else 3)
        answers = [row for row in desk.rows() if isinstance(row, ToolResultChunk)]
        assert ["hello" in row.content for row in answers] == [True] * 3
