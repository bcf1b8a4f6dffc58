"""The tools that look for what an agent did and knows, through an opened session."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tool_kit import failure, opened, result

from holdfast import Agent, Holdfast, ScriptedModel
from holdfast.app.managed.session import ManagedSession
from holdfast.app.settings import Settings
from holdfast.contract.events import (
    AgentMessage,
    CallAsked,
    ChildCreated,
    OutcomeDefined,
    Payload,
    SessionCreated,
    SpanCompleted,
    UserMessage,
    WantedOutcome,
)
from holdfast.contract.journal import Journal
from holdfast.contract.managed.retrieval import Pointer, Question, Wanted
from holdfast.contract.managed.shell_views import CommandPreview, ShellPosture, ShellState
from holdfast.contract.managed.spaces import agent_space, session_space
from holdfast.contract.managed_events import OutcomeEvaluated, SetupDescribed
from holdfast.contract.mounts import Mount
from holdfast.contract.outcomes import Evaluation, EvaluationRecord, outcome_fingerprint
from holdfast.contract.shell import PersistentFacts
from holdfast.contract.versions import Origin
from holdfast.contract.wake_events import LearningCaptured
from holdfast.runtime.managed.recall import Cues, Recall
from holdfast.runtime.managed.retrieval.finding import Finding

pytestmark = pytest.mark.anyio

SEARCHES = ("memory_search", "session_search_context", "session_search_traces", "retrieval_search")
OUTCOME = WantedOutcome(title="Fix the till", success_criteria=("src/till.py adds up",))


@asynccontextmanager
async def under(workspace: Path, **options: Any) -> AsyncGenerator[Holdfast]:
    given: dict[str, Any] = {
        "settings": Settings(),
        "agent": Agent(id="looker", description="Looks.", instructions="Look."),
        "model": ScriptedModel([]),
        **options,
    }
    async with opened(workspace, "managed", **given) as hf:
        yield hf


async def journal_of(hf: Holdfast) -> Journal:
    assert hf.parts.log is not None
    return await hf.parts.log.journal()


def managed_of(hf: Holdfast) -> ManagedSession:
    managed = hf.parts.own.managed
    assert managed is not None
    return managed


def setup(name: str) -> SetupDescribed:
    return SetupDescribed(
        fingerprint=name, resource_contract_fingerprint="r", environment_fingerprint="e", setup={}
    )


async def begun(
    hf: Holdfast, name: str, *said: Payload, parent: str | None = None, agent: str = "looker"
) -> None:
    created = SessionCreated(agent_id=agent, parent_id=parent)
    await (await journal_of(hf)).create(name, [created, *said])


def evaluated(wake_id: str, summary: str = "The till is off.") -> OutcomeEvaluated:
    return OutcomeEvaluated(
        record=EvaluationRecord(
            evaluated_at="2026-01-01T00:00:00+00:00",
            wake_id=wake_id,
            iteration=0,
            outcome_title=OUTCOME.title,
            outcome_fingerprint=outcome_fingerprint(OUTCOME),
            grade_status="in_progress",
            evaluation=Evaluation(
                status="not_ready", confidence="low", summary=summary, trend="stable"
            ),
        )
    )


def rested(wake_id: str, summary: str) -> list[Payload]:
    return [
        AgentMessage(message=summary, summary=summary),
        SpanCompleted(
            span_id=wake_id, span_kind="wake", name="run", summary=summary, result="success"
        ),
    ]


async def with_everything(hf: Holdfast, name: str = "ses_past") -> None:
    """A session of which something of each kind is remembered."""
    await begun(hf, name, setup("other"), OutcomeDefined(outcome=OUTCOME))
    journal = await journal_of(hf)
    done: list[Payload] = [*rested("wak_1", "The till rounds."), evaluated("wak_1")]
    await journal.append(name, done, wake_id="wak_1")
    asked = CallAsked(
        call_id="cal_1",
        tool="memory_write",
        arguments='{"target": "session_state", "content": "till notes"}',
    )
    run = CallAsked(call_id="cal_2", tool="shell_run", arguments='{"command": "cat till"}')
    learned = LearningCaptured(learning_kind="lesson", title="Till", detail="Tills round.")
    await journal.append(name, [asked, run, learned])
    versions = (await managed_of(hf).stores()).versions
    for space, target in (
        (session_space(name), "session_state"),
        (session_space(name), "working_buffer"),
        (agent_space("looker"), "workspace_memory_notes"),
    ):
        await versions.write(space, target, b"The till notes.", origin=Origin(source="test"))


class Shells:
    """Every shell ran one command."""

    def __init__(self, *, used: bool = True) -> None:
        self._used = used

    def live(self) -> PersistentFacts | None:
        return None

    async def state(self, session_id: str | None = None, /) -> ShellState:
        last = CommandPreview(
            command_id="c", command="cat", args=("till.txt",), cwd="/", updated_at="2026"
        )
        return ShellState(cwd="/till", last_command=last if self._used else None)

    async def posture(self, session_id: str | None = None, /) -> ShellPosture:
        raise NotImplementedError


def wanted(query: str, **more: Any) -> Wanted:
    return Wanted(query=query, **more)


def shared(folder: Path) -> tuple[Mount, ...]:
    return (
        Mount(
            kind="agent_substrate",
            mount_path=str(folder.resolve()),
            access="read_write",
            scope="agent",
            prompt="Shared.",
        ),
    )


def finding_of(hf: Holdfast, *, shells: Shells, folder: Path | None = None) -> Finding:
    ground = managed_of(hf).ground
    return Finding(replace(ground, mounts=shared(folder) if folder else ()), shells)


def by_source(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["source"]: one for one in found["hits"]}


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
        assert told["learning"].expansion.tool == "learning_list"
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
            assert told["shell_state"].expansion.tool == "shell_describe"


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


class Meaning:
    """Points at whatever it is told to."""

    def __init__(self, *pointers: Pointer) -> None:
        self.pointers = pointers
        self.asked: list[Question] = []

    async def nearest(self, asked: Question, /) -> Sequence[Pointer]:
        self.asked.append(asked)
        return self.pointers


def at(session_id: str, event_id: str, similarity: float = 0.8) -> Pointer:
    return Pointer(session_id=session_id, event_id=event_id, similarity=similarity)


@pytest.mark.req("BOA-RETR-02", "BOA-RETR-03")
async def test_a_provider_of_vectors_plugs_in_and_points_at_events(workspace: Path) -> None:
    async with under(workspace) as hf:
        journal = await journal_of(hf)
        await begun(hf, "ses_a", UserMessage(message="The register is off."))
        await begun(hf, "ses_b", UserMessage(message="Elsewhere."), agent="other")
        lesson = LearningCaptured(learning_kind="lesson", title="Tills", detail="They round.")
        await begun(hf, "ses_c", lesson)
        ours = (await journal.events("ses_a"))[1].id
        theirs = (await journal.events("ses_b"))[1].id
        learned = (await journal.events("ses_c"))[1].id
        provider = Meaning(
            *(at("ses_a", ours, 7.0), at("ses_b", theirs), at("ses_a", "evt_gone")),
            *(at("ses_gone", "evt_gone"), at("ses_c", learned)),
        )
        managed = managed_of(hf)
        finding = Finding(managed.ground, managed.shell, provider)
        found = await finding.everywhere(wanted("till"), ("vector",))
        assert [(one.event_id, one.source) for one in found.hits] == [
            *((learned, "learning"), (ours, "session_event")),
        ]
        assert found.hits[1].score == 12
        assert "vector:1.00" in found.hits[1].reasons
        assert provider.asked[0].without == hf.session_id
        in_none = await finding.everywhere(
            wanted("till", lineage="children"), ("vector", "session_context")
        )
        assert [one.source for one in in_none.hits] == ["learning"]
        assert {one.backend for one in in_none.backend_summary} == {"vector", "session_context"}
        assert len((await finding.everywhere(wanted("register"), ())).backend_summary) == 4


async def with_a_family(hf: Holdfast) -> None:
    """The calling session has a parent, a sibling and a child; a stranger belongs to nobody."""
    journal = await journal_of(hf)
    for name in ("ses_child", "ses_stranger"):
        parent = hf.session_id if name == "ses_child" else None
        await begun(hf, name, UserMessage(message="the till"), parent=parent)
    made = ChildCreated(child_session_id="ses_child", message="look")
    lesson = LearningCaptured(learning_kind="lesson", title="till", detail="rounds")
    await journal.append("ses_stranger", [OutcomeDefined(outcome=OUTCOME), lesson])
    await journal.append("ses_stranger", rested("wak_1", "the till"), wake_id="wak_1")
    await journal.append(hf.session_id, [made])


@pytest.mark.req("BOA-SESS-41", "BOA-SESS-42", "BOA-MEM-08")
@pytest.mark.parametrize("tool", SEARCHES)
async def test_a_lineage_bounds_sessions_in_every_backend_and_drops_no_lesson(
    workspace: Path, tool: str
) -> None:
    async with under(workspace) as hf:
        await result(hf, "memory_search", query="begin")
        await with_a_family(hf)
        everywhere = await result(hf, tool, query="till", limit=20)
        assert "ses_stranger" in {one["session_id"] for one in everywhere["hits"]}
        for lineage in ("related", "children"):
            found = await result(hf, tool, query="till", limit=20, lineage=lineage)
            of_sessions = [one for one in found["hits"] if one["source"] != "learning"]
            assert {one["session_id"] for one in of_sessions} <= {"ses_child"}
            if tool in {"session_search_context", "retrieval_search"}:
                assert {one["session_relation"] for one in of_sessions} == {"child"}
            learned = {one["source"] for one in found["hits"]} & {"learning"}
            assert learned == ({"learning"} if tool != "session_search_traces" else set())
        for lineage in ("parent", "siblings"):
            found = await result(hf, tool, query="till", limit=20, lineage=lineage)
            assert {one["source"] for one in found["hits"]} <= {"learning"}


async def test_a_child_sees_its_parent_and_its_siblings(workspace: Path) -> None:
    async with under(workspace) as hf:
        await begun(hf, "ses_parent", UserMessage(message="parent till"))
        journal = await journal_of(hf)
        for name in ("ses_one", "ses_two"):
            await begun(hf, name, UserMessage(message=f"{name} till"), parent="ses_parent")
            made = ChildCreated(child_session_id=name, message="look")
            await journal.append("ses_parent", [made])
        ground = replace(managed_of(hf).ground, session_id="ses_one")
        finding = Finding(ground, managed_of(hf).shell)
        for lineage, names in (
            ("parent", ["ses_parent"]),
            ("siblings", ["ses_two"]),
            ("related", ["ses_parent", "ses_two"]),
            ("children", []),
        ):
            found = await finding.everywhere(wanted("till", lineage=lineage), ())
            assert [one.session_id for one in found.hits] == names
            assert [one.session_relation for one in found.hits] == [
                "parent" if name == "ses_parent" else "sibling" for name in names
            ]


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


@pytest.mark.req("BOA-RETR-30", "BOA-RETR-07")
async def test_a_run_recalls_three_candidates_or_else_two_recent_sessions(
    workspace: Path,
) -> None:
    async with under(workspace) as hf:
        await result(hf, "memory_search", query="begin")
        recall: Recall = managed_of(hf).recall
        for number in range(4):
            await begun(hf, f"ses_{number}", UserMessage(message=f"till {number}"))
        found = await recall.recalled(Cues(message="the till"))
        assert len(found.candidates) == 3
        assert (found.query, found.sessions) == ("the till", ())
        assert found.plan
        nothing = await recall.recalled(Cues(message="zebra"))
        assert nothing.candidates == ()
        assert [one.session_id for one in nothing.sessions] == ["ses_3", "ses_2"]
        assert nothing.sessions[0].next_step.args == {"session_id": "ses_3"}
        unasked = await recall.recalled(Cues())
        assert (unasked.query, len(unasked.sessions)) == ("", 2)


async def test_where_nothing_is_kept_nothing_is_recalled(workspace: Path) -> None:
    async with opened(workspace, "managed") as hf:
        found = await managed_of(hf).recall.recalled(Cues(message="till"))
        assert (found.query, found.candidates, found.sessions) == ("till", (), ())
