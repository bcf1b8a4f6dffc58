"""An agent that says that it is done while what it did says otherwise does not pass."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from outcomes_at_work import agent_of_the_till, asks, evaluation_of, managed_of
from session_stories import Story, tell
from tool_kit import failure, opened, result

from holdfast.app.holdfast import Holdfast
from holdfast.app.settings import Settings
from holdfast.contract.errors import PolicyDenied
from holdfast.contract.events import (
    OutcomeDefined,
    SessionCreated,
    SpanCompleted,
    SpanResult,
    StatusChanged,
    WantedOutcome,
)
from holdfast.contract.failure import FailureKind
from holdfast.contract.journal import Journal
from holdfast.contract.json_value import JsonObject
from holdfast.contract.ports import Answer
from holdfast.runtime.managed.gate import Gate

pytestmark = pytest.mark.anyio

WANTED = {"title": "The till adds up", "success_criteria": ["sh tests/till.sh passes"]}
DEFINE = asks("outcome_define", **WANTED)
CLAIM = "I ran it: sh tests/till.sh passes, all of it."
WRITE = asks("write", path="tests/till.sh", content="exit 3\n")
MEND = asks("write", path="tests/till.sh", content="echo till is well\n")
RUN = asks("shell_run", command="sh tests/till.sh")


async def journal_of(hf: Holdfast) -> Journal:
    assert hf.parts.log is not None
    return await hf.parts.log.journal()


async def allowing(_ask: Any) -> Answer:
    return Answer(allowed=True, by="ada")


async def denying(_ask: Any) -> Answer:
    return Answer(allowed=False, by="ada")


async def verdict(folder: Path, turns: list[Any], **options: Any) -> tuple[str, bool]:
    async with agent_of_the_till(folder, turns, **options) as desk:
        await desk.told("Mend the till.")
        found = await evaluation_of(desk)
        return found["status"], found["promotion_ready"]


async def test_a_command_that_failed_is_no_pass_whatever_is_said_of_it(tmp_path: Path) -> None:
    speaks = asks("read", path="tests/till.sh")
    turns = [DEFINE, MEND, speaks, WRITE, RUN, CLAIM]
    assert await verdict(tmp_path, turns, approver=allowing) == ("uncertain", False)


async def test_the_same_command_that_works_later_makes_up_for_it(tmp_path: Path) -> None:
    turns = [DEFINE, WRITE, RUN, MEND, RUN, CLAIM]
    assert await verdict(tmp_path, turns, approver=allowing) == ("pass", True)


async def test_a_command_that_nobody_allowed_is_no_pass(tmp_path: Path) -> None:
    turns = [DEFINE, MEND, asks("read", path="tests/till.sh"), RUN, CLAIM]
    assert await verdict(tmp_path, turns, approver=denying) == ("uncertain", False)


async def test_an_answer_about_something_else_backs_no_words(tmp_path: Path) -> None:
    elsewhere = asks("write", path="notes.md", content="Nothing.\n")
    assert await verdict(tmp_path, [DEFINE, elsewhere, CLAIM]) == ("not_ready", False)


async def test_an_action_that_says_it_failed_is_no_pass(tmp_path: Path) -> None:
    fails = asks("sandbox_execute", name="read_text", input={"path": "nowhere.txt"})
    turns = [DEFINE, MEND, asks("read", path="tests/till.sh"), fails, CLAIM]
    assert await verdict(tmp_path, turns) == ("uncertain", False)


FAILED_BEFORE = [
    DEFINE,
    asks("shell_run", command="echo sh tests/till.sh passes not; exit 3"),
    "Hm.",
]


@pytest.mark.parametrize(
    "retells",
    [
        asks("shell_set_cwd", path="."),
        asks("shell_set_env", key="A", value="b"),
        asks("sandbox_execute", name="inspect"),
        asks("sandbox_execute", name="inspect_persistent_shell"),
    ],
    ids=["set_cwd", "set_env", "inspect", "inspect_persistent_shell"],
)
async def test_a_failed_command_told_again_by_another_tool_shows_nothing(
    tmp_path: Path, retells: Any
) -> None:
    turns = [*FAILED_BEFORE, retells, CLAIM]
    async with agent_of_the_till(tmp_path, turns, approver=allowing) as desk:
        await desk.told("Mend the till.")
        await desk.told("Go on.")
        assert (await evaluation_of(desk))["status"] == "not_ready"


async def test_a_tool_that_was_looked_for_by_its_name_is_not_used_yet(tmp_path: Path) -> None:
    wanted = {"title": "Know the mounts", "success_criteria": ["resources_list is read"]}
    looks = asks("tool_search", query="resources_list")
    turns = [asks("outcome_define", **wanted), looks, "I used resources_list: it is read."]
    assert await verdict(tmp_path, turns) == ("not_ready", False)


async def test_a_record_of_the_outcome_shows_nothing_wherever_it_is_read(tmp_path: Path) -> None:
    kept = f'{{"a": "{WANTED["title"]}", "b": ["{WANTED["success_criteria"][0]} for ses_1"]}}'
    turns = [DEFINE, asks("write", path="x.json", content=kept), asks("read", path="x.json"), "So."]
    assert await verdict(tmp_path, turns) == ("not_ready", False)


async def test_a_session_below_shares_nothing_before_the_one_above_is_there(
    workspace: Path,
) -> None:
    async with opened(workspace, "managed", settings=Settings(), approver=allowing) as hf:
        above = "ses_above"
        journal = await journal_of(hf)
        wanted = WantedOutcome(title="T", success_criteria=("x y",))
        await journal.create(above, [SessionCreated(), OutcomeDefined(outcome=wanted)])
        ground = managed_of(hf).ground
        await result(hf, "memory_list")
        await journal.create("ses_below", [SessionCreated(parent_id=above)])
        below = Gate(managed_of(hf).judging, replace(ground, session_id="ses_below"))
        with pytest.raises(PolicyDenied, match="session ses_above, which this one works for"):
            await below.passed("memory_promote_note", required=None)
        found = await below.passed("memory_promote_note", required=False)
        assert found.status == "missing_outcome"
        await journal.create("ses_free", [SessionCreated()])
        await journal.create("ses_child", [SessionCreated(parent_id="ses_free")])
        free = Gate(managed_of(hf).judging, replace(ground, session_id="ses_child"))
        assert await free.passed("memory_promote_note", required=None)


SHARE = "resources_promote_to_substrate"


async def child_of(journal: Journal, agent: str = "default") -> None:
    """A session that was delegated, below one with an outcome."""
    wanted = OutcomeDefined(outcome=WantedOutcome(title="T", success_criteria=("x y",)))
    await journal.create("ses_above", [SessionCreated(agent_id=agent), wanted])
    metadata: JsonObject = {"delegated": True}
    below = SessionCreated(agent_id="default", parent_id="ses_above", metadata=metadata)
    await journal.create("ses_below", [below])


async def test_what_holds_a_session_below_is_known_beforehand(workspace: Path) -> None:
    async with opened(workspace, "managed", settings=Settings()) as hf:
        await child_of(await journal_of(hf))
    (workspace / "a.txt").write_text("a", "utf-8")
    options: dict[str, Any] = {"settings": Settings(), "approver": allowing}
    async with opened(workspace, "managed", session="ses_below", **options) as hf:
        checked = await result(hf, "permissions_check", tool_name=SHARE)
        assert checked["requires_outcome_pass"] is True
        step = checked["next_step"]
        assert (step["tool"], step["args"]) == ("outcome_evaluate", {"session_id": "ses_above"})
        assert (await result(hf, step["tool"], **step["args"]))["session_id"] == "ses_above"
        refused = await failure(hf, SHARE, source_path="a.txt")
        assert refused.extras["next_step"] == step
        override = {"require_outcome_pass": False}
        told = await result(hf, "permissions_check", tool_name=SHARE, tool_args=override)
        assert (told["requires_outcome_pass"], told["next_step"]["tool"]) == (
            *(False, "permissions_describe"),
        )


async def test_of_another_agents_session_above_no_step_is_told(workspace: Path) -> None:
    async with opened(workspace, "managed", settings=Settings()) as hf:
        await child_of(await journal_of(hf), agent="other")
    (workspace / "a.txt").write_text("a", "utf-8")
    options: dict[str, Any] = {"settings": Settings(), "approver": allowing}
    async with opened(workspace, "managed", session="ses_below", **options) as hf:
        checked = await result(hf, "permissions_check", tool_name=SHARE)
        assert (checked["requires_outcome_pass"], checked["next_step"]) == (True, None)
        assert "next_step" not in (await failure(hf, SHARE, source_path="a.txt")).extras


@pytest.mark.parametrize("ended", ["success", "error"])
async def test_what_fails_above_after_its_verdict_holds_a_session_below(
    workspace: Path, ended: SpanResult
) -> None:
    """The run above has not ended: it asked for the work below in it."""
    above = Story(agent="default", outcome="T", status="pass", trend="improving", wake="wak_1")
    async with opened(workspace, "managed", settings=Settings()) as hf:
        journal = await journal_of(hf)
        await tell(journal, "ses_above", above)
        begins = StatusChanged(from_status="idle", to_status="running", reason="a wake")
        tool = SpanCompleted(span_id="cal_9", span_kind="tool", name="look", result=ended)
        await journal.append("ses_above", [begins, tool], wake_id="wak_2")
        await tell(journal, "ses_below", Story(agent="default", parent="ses_above"))
    (workspace / "a.txt").write_text("a", "utf-8")
    options: dict[str, Any] = {"settings": Settings(), "approver": allowing}
    async with opened(workspace, "managed", session="ses_below", **options) as hf:
        shared = await hf.settle(SHARE, {"source_path": "a.txt"})
        assert shared.ok is (ended == "success"), shared.failure


async def test_a_session_above_that_was_taken_away_holds_nothing(workspace: Path) -> None:
    async with opened(workspace, "managed", settings=Settings()) as hf:
        await child_of(await journal_of(hf))
        await (await managed_of(hf).ground.stores()).archive.delete("ses_above")
    (workspace / "a.txt").write_text("a", "utf-8")
    options: dict[str, Any] = {"settings": Settings(), "approver": allowing}
    async with opened(workspace, "managed", session="ses_below", **options) as hf:
        assert (await result(hf, SHARE, source_path="a.txt"))["version_id"]


async def test_a_subagent_is_told_beforehand_that_it_shares_no_notes(workspace: Path) -> None:
    async with opened(workspace, "managed", settings=Settings()) as hf:
        journal = await journal_of(hf)
        await journal.create("ses_above", [SessionCreated(agent_id="default")])
        bound = SessionCreated(agent_id="default", parent_id="ses_above")
        await journal.create("ses_below", [bound])
    options: dict[str, Any] = {"settings": Settings(), "approver": allowing}
    async with opened(workspace, "managed", session="ses_below", **options) as hf:
        checked = await result(hf, "permissions_check", tool_name="memory_promote_note")
        assert (checked["exists"], checked["allowed"]) == (True, False)
        assert (await failure(hf, "memory_promote_note", content="x")).kind == FailureKind.REJECTED
        checked = await result(hf, "permissions_check", tool_name=SHARE)
        assert checked["allowed"] is True


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"title": "t" * 301}, "title"),
        ({"title": "t", "detail": "d" * 4_001}, "detail"),
        ({"title": "t", "success_criteria": [f"c {one}" for one in range(21)]}, "success_criteria"),
        ({"title": "t", "success_criteria": ["c" * 501]}, "success_criteria"),
    ],
    ids=["title", "detail", "too many", "too long"],
)
async def test_an_outcome_is_short(workspace: Path, more: dict[str, Any], field: str) -> None:
    async with opened(workspace, "managed", settings=Settings()) as hf:
        refused = await failure(hf, "outcome_define", **more)
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, field)
