"""The tools that look for what an agent did and knows, through an opened session."""

from pathlib import Path

import pytest
from retrieval_kit import (
    OUTCOME,
    SEARCHES,
    Shells,
    begun,
    evaluated,
    finding_of,
    journal_of,
    rested,
    under,
    wanted,
    with_everything,
)
from tool_kit import failure, opened, result

from holdfast.app.settings import Settings
from holdfast.contract.events import (
    OutcomeDefined,
    Payload,
    UserMessage,
)
from holdfast.contract.managed.retrieval import Candidate
from holdfast.contract.wake_events import LearningCaptured

pytestmark = pytest.mark.anyio


def expansion_of(one: Candidate) -> str:
    assert one.expansion is not None
    return one.expansion.tool


@pytest.mark.req("BOA-MEM-01", "BOA-LRN-04", "BOA-MEM-02")
async def test_memory_is_searched_store_by_store(workspace: Path, tmp_path: Path) -> None:
    async with under(workspace) as hf:
        await with_everything(hf)
        (tmp_path / "shared").mkdir()
        (tmp_path / "shared" / "MEMORY.md").write_text("# Memory\nCount the till twice.\n")
        made = finding_of(hf, shells=Shells(), folder=tmp_path / "shared")
        assert made is not None
        found = await made.memory(wanted("till", limit=20))
        assert (found.agent_id, found.query, found.count) == ("looker", "till", len(found.hits))
        told = {one.source: one for one in found.hits}
        assert set(told) >= {
            *("learning", "workspace_memory", "workspace_memory_notes", "session_checkpoint"),
            *("session_evaluation", "session_outcome", "session_state", "working_buffer"),
            "shell_state",
        }
        assert expansion_of(told["learning"]) == "learning_list"
        assert told["workspace_memory"].snippet == "# Memory Count the till twice."
        assert told["workspace_memory_notes"].session_id is None
        of_session = [one for one in found.hits if one.session_id == "ses_past"]
        assert {one.outcome_status for one in of_session if one.source != "learning"} == {
            "not_ready"
        }


async def test_without_anything_shared_memory_is_searched_all_the_same(
    workspace: Path, tmp_path: Path
) -> None:
    async with under(workspace) as hf:
        await with_everything(hf)
        (tmp_path / "MEMORY.md").symlink_to(tmp_path / "elsewhere")
        (tmp_path / "elsewhere").write_text("till")
        for folder in (None, tmp_path):
            found = await finding_of(hf, shells=Shells(used=False), folder=folder).memory(
                wanted("till", limit=20)
            )
            told = {one.source: one for one in found.hits}
            assert "workspace_memory" not in told
            assert expansion_of(told["shell_state"]) == "shell_describe"


@pytest.mark.req("BOA-SESS-39", "BOA-SESS-40")
async def test_context_is_events_and_memory_or_events_of_some_types(workspace: Path) -> None:
    async with under(workspace) as hf:
        await with_everything(hf)
        await (await journal_of(hf)).append("ses_past", [UserMessage(message="Mend the till.")])
        found = await result(hf, "session_search_context", query="till", limit=20)
        assert (found["agent_id"], found["query"]) == ("looker", "till")
        assert found["count"] == len(found["hits"])
        assert {one["backend"] for one in found["hits"]} == {"session_context", "memory"}
        said = await result(
            *(hf, "session_search_context"), query="till", types=["user.message", " "]
        )
        (one,) = said["hits"]
        assert (one["title"], one["snippet"]) == ("user.message", "Mend the till.")
        assert one["expansion"]["tool"] == "agent_compare_setup" or one["expansion"]["args"] == {
            "session_id": "ses_past",
            "around_event_id": one["event_id"],
            "before_limit": 2,
            "after_limit": 2,
        }


@pytest.mark.req("BOA-SESS-37", "BOA-SESS-38")
async def test_traces_are_runs_with_all_that_happened_in_them(workspace: Path) -> None:
    async with under(workspace) as hf:
        await begun(hf, "ses_past")
        journal = await journal_of(hf)
        await journal.append("ses_past", rested("wak_1", "The till rounds."), wake_id="wak_1")
        await journal.append("ses_past", rested("wak_2", "All is well."), wake_id="wak_2")
        found = await result(hf, "session_search_traces", query="till well")
        assert (found["session_id"], found["count"]) == (hf.session_id, 2)
        assert {one["wake_id"] for one in found["hits"]} == {"wak_1", "wak_2"}
        one = next(one for one in found["hits"] if one["wake_id"] == "wak_1")
        assert (one["source"], one["title"]) == ("wake_trace", "The till rounds.")
        assert one["expansion"]["tool"] == "session_get_trace"
        assert one["expansion"]["args"] == {"session_id": "ses_past", "wake_id": "wak_1"}


@pytest.mark.req("BOA-RETR-01", "BOA-RETR-03", "BOA-BND-08")
async def test_everything_is_searched_at_once_and_leads_to_rereads(workspace: Path) -> None:
    async with under(workspace) as hf:
        await with_everything(hf)
        found = await result(hf, "retrieval_search", query="till", limit=3)
        assert set(found) == {
            *("agent_id", "query", "count", "backend_summary", "expansion_plan", "hits"),
        }
        assert found["count"] == len(found["hits"]) == 3
        assert [one["backend"] for one in found["backend_summary"]] == [
            *("memory", "session_context", "session_trace"),
        ]
        assert all(one["candidates"] for one in found["backend_summary"])
        for step in (*found["expansion_plan"], *(one["expansion"] for one in found["hits"])):
            assert {"tool", "args", "rationale"} <= set(step)
        merged = next(one for one in found["hits"] if one["wake_id"] == "wak_1")
        assert {piece["source"] for piece in merged["evidence"]} >= {"session_event", "wake_trace"}
        assert merged["confidence"] == "high"
        again = await result(hf, "retrieval_search", query="till", limit=3)
        assert again == found


@pytest.mark.req("BOA-RETR-02")
async def test_a_backend_without_a_provider_selects_nothing_and_says_so(workspace: Path) -> None:
    async with under(workspace) as hf:
        await with_everything(hf)
        found = await result(hf, "retrieval_search", query="till", backends=["vector"])
        assert (found["count"], found["expansion_plan"]) == (0, [])
        (summary,) = found["backend_summary"]
        assert (summary["backend"], summary["available"]) == ("vector", False)
        assert "No provider" in summary["note"]


@pytest.mark.parametrize("tool", SEARCHES)
async def test_sessions_of_other_agents_are_never_found(workspace: Path, tool: str) -> None:
    async with under(workspace) as hf:
        await begun(hf, "ses_other", UserMessage(message="secret till"), agent="other")
        await (await journal_of(hf)).append(
            "ses_other", rested("wak_1", "secret till"), wake_id="wak_1"
        )
        lesson = LearningCaptured(learning_kind="lesson", title="secret", detail="till")
        await (await journal_of(hf)).append("ses_other", [lesson])
        assert (await result(hf, tool, query="secret till"))["count"] == 0


@pytest.mark.parametrize("tool", SEARCHES[1:])
async def test_the_calling_session_is_left_out_unless_it_is_asked_for(
    workspace: Path, tool: str
) -> None:
    async with under(workspace) as hf:
        await result(hf, "memory_search", query="begin")
        said: list[Payload] = [*rested("wak_1", "The till rounds."), UserMessage(message="till")]
        await (await journal_of(hf)).append(hf.session_id, said, wake_id="wak_1")
        assert (await result(hf, tool, query="till"))["count"] == 0
        found = await result(hf, tool, query="till", include_current=True)
        assert {one["session_id"] for one in found["hits"]} == {hf.session_id}
        assert all("memory_search" not in one["title"] for one in found["hits"])


@pytest.mark.parametrize("tool", SEARCHES)
async def test_a_query_of_blanks_is_none(workspace: Path, tool: str) -> None:
    async with under(workspace) as hf:
        problem = await failure(hf, tool, query="  ")
        assert problem.message == f"{tool} requires a non-empty query"
        assert problem.field == "query"


@pytest.mark.parametrize("tool", ["memory_search", "retrieval_search", "session_search_context"])
async def test_a_query_is_said_again_as_far_as_it_is_looked_for(workspace: Path, tool: str) -> None:
    async with opened(workspace, "managed", settings=Settings()) as hf:
        found = await result(hf, tool, query="till " * 20_000)
        assert found["query"] == ("till " * 400)[:2_000]


async def test_where_nothing_is_kept_nothing_can_be_searched(workspace: Path) -> None:
    async with opened(workspace, "managed") as hf:
        problem = await failure(hf, "retrieval_search", query="till")
        assert problem.kind == "unavailable"


@pytest.mark.req("BOA-RETR-08", "BOA-RETR-09")
async def test_while_an_outcome_is_not_reached_its_history_comes_before_rereads(
    workspace: Path,
) -> None:
    async with under(workspace) as hf:
        await result(hf, "memory_search", query="begin")
        journal = await journal_of(hf)
        await journal.append(
            hf.session_id, [OutcomeDefined(outcome=OUTCOME), evaluated("wak_9", "nothing")]
        )
        await begun(hf, "ses_past", OutcomeDefined(outcome=OUTCOME), UserMessage(message="till"))
        for wake in ("wak_1", "wak_2"):
            done: list[Payload] = [*rested(wake, "The till rounds."), evaluated(wake)]
            await journal.append("ses_past", done, wake_id=wake)
        found = await result(hf, "retrieval_search", query="till", limit=20)
        plan = [(one["tool"], one["urgency"]) for one in found["expansion_plan"]]
        assert plan[0] == ("outcome_history", 5)
        tools = [tool for tool, _ in plan]
        assert tools.index("outcome_read") < tools.index("session_get_events")
        (outcome,) = [one for one in found["hits"] if one["source"] == "session_outcome"]
        assert "outcome:same_title" in outcome["reasons"]
