"""Who is looked through, who else can look, and what a run recalls by itself."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from retrieval_kit import (
    OUTCOME,
    SEARCHES,
    begun,
    journal_of,
    managed_of,
    rested,
    under,
    wanted,
)
from tool_kit import opened, result

from holdfast import Holdfast
from holdfast.contract.events import (
    ChildCreated,
    OutcomeDefined,
    UserMessage,
)
from holdfast.contract.vectors import Pointed, Pointer, Question
from holdfast.contract.wake_events import LearningCaptured
from holdfast.runtime.managed.recall import Recall
from holdfast.runtime.managed.retrieval.finding import Finding

pytestmark = pytest.mark.anyio


class Meaning:
    """Points at whatever it is told to."""

    def __init__(self, *pointers: Pointer) -> None:
        self.pointers = pointers
        self.asked: list[Question] = []

    async def nearest(self, asked: Question, /) -> Pointed:
        self.asked.append(asked)
        return Pointed(pointers=self.pointers)


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


@pytest.mark.req("BOA-RETR-30")
async def test_a_run_recalls_three_candidates_or_else_two_recent_sessions(
    workspace: Path,
) -> None:
    async with under(workspace) as hf:
        await result(hf, "memory_search", query="begin")
        recall: Recall = managed_of(hf).recall
        for number in range(4):
            await begun(hf, f"ses_{number}", UserMessage(message=f"till {number}"))
        found = await recall.recalled(("the till",))
        assert len(found.candidates) == 3
        assert found.sessions == ()
        assert found.plan
        nothing = await recall.recalled(("zebra",))
        assert nothing.candidates == ()
        assert [one.step.args for one in nothing.sessions] == [
            {"session_id": "ses_3"},
            {"session_id": "ses_2"},
        ]
        unasked = await recall.recalled(())
        assert (unasked.candidates, len(unasked.sessions)) == ((), 2)


async def test_where_nothing_is_kept_nothing_is_recalled(workspace: Path) -> None:
    async with opened(workspace, "managed") as hf:
        found = await managed_of(hf).recall.recalled(("till",))
        assert (found.candidates, found.sessions) == ((), ())
