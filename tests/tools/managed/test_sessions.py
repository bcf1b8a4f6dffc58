"""The tools that list sessions of the same agent and show where each stands."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from session_stories import Story, add, tell
from tool_kit import failure, opened, result

from holdfast import Agent, Holdfast, ScriptedModel
from holdfast.app.settings import Settings
from holdfast.contract.failure import FailureKind
from holdfast.contract.journal import Journal
from holdfast.contract.managed_events import ShellChanged

pytestmark = pytest.mark.anyio

LOOKER = Agent(id="looker", description="Looks.", instructions="Look.")
READ = (
    "session_list",
    "session_list_children",
    "session_get_snapshot",
    "session_describe_context",
    "session_get_events",
    "session_get_trace",
    "session_list_traces",
)
IDENTITY = {
    *("session_id", "agent_id", "parent_session_id", "environment_id"),
    *("resource_contract_fingerprint", "agent_setup_fingerprint"),
    *("created_at", "updated_at", "last_activity_at"),
}
RUN = {
    *("status", "stop_reason", "requires_action", "pending_action_kind"),
    *("pending_action_tool_name", "pending_tool_confirmation_request"),
    *("pending_custom_tool_request", "turns", "resource_count", "pending_event_count"),
    *("checkpoint_updated_at", "last_wake_id", "latest_summary", "event_cursor"),
    *("shell_state", "artifact_paths"),
}
OUTCOME = {
    *("active_outcome", "outcome_grade", "outcome_status", "outcome_trend"),
    *("outcome_trend_summary", "promotion_ready", "outcome_evaluation", "next_outcome_step"),
    *("outcome_evaluation_history_count", "outcome_evaluation_latest_iteration"),
}
BESIDE = {
    *("relation_to_current", "child_count"),
    *("setup_matches_current", "outcome_matches_current"),
}


@asynccontextmanager
async def looking(workspace: Path, **options: Any) -> AsyncGenerator[Holdfast]:
    given: dict[str, Any] = {
        "settings": Settings(),
        "agent": LOOKER,
        "model": ScriptedModel([]),
        **options,
    }
    async with opened(workspace, "managed", **given) as hf:
        yield hf


async def journal_of(hf: Holdfast) -> Journal:
    assert hf.parts.log is not None
    return await hf.parts.log.journal()


def ids(found: dict[str, Any]) -> list[str]:
    return [one["session_id"] for one in found["sessions"]]


def declared(hf: Holdfast, name: str) -> Any:
    return next(one for one in hf.tools if one.name == name)


async def test_they_only_read_and_say_so(workspace: Path) -> None:
    async with looking(workspace) as hf:
        for name in READ:
            found = declared(hf, name)
            assert (found.read_only, found.destructive, found.effects) == (
                True,
                False,
                ("session_read",),
            )


@pytest.mark.req("BOA-SESS-01", "BOA-SESS-02", "BOA-SESS-06", "BOA-SESS-07", "BOA-SESS-08")
async def test_sessions_of_the_same_agent_are_listed(workspace: Path) -> None:
    async with looking(workspace) as hf:
        properties = declared(hf, "session_list").input_schema["properties"]
        assert properties["include_current"]["default"] is True
        assert properties["limit"]["default"] == 10
        journal, me = await journal_of(hf), hf.session_id
        await add(journal, me, Story(setup="same", outcome="Green"))
        await tell(journal, "ses_child", Story(parent=me, setup="same", outcome="Red"))
        await tell(journal, "ses_below", Story(parent="ses_child", setup="else", outcome="Green"))
        await tell(journal, "ses_theirs", Story(agent="other", parent=me))
        found = await result(hf, "session_list")
        assert (found["agent_id"], found["count"]) == ("looker", 3)
        assert ids(found) == [me, "ses_child", "ses_below"]
        seen = [
            (
                one["relation_to_current"],
                one["child_count"],
                one["setup_matches_current"],
                one["outcome_matches_current"],
                one["agent_setup_fingerprint"],
                one["resource_contract_fingerprint"],
            )
            for one in found["sessions"]
        ]
        assert seen == [
            ("self", 1, True, True, "same", "resources"),
            ("child", 1, True, False, "same", "resources"),
            (None, 0, False, True, "else", "resources"),
        ]
        (child,) = (await result(hf, "session_list_children"))["sessions"]
        assert (child["setup_matches_current"], child["outcome_matches_current"]) == (True, False)
        assert child["agent_setup_fingerprint"] == "same"
        assert child["resource_contract_fingerprint"] == "resources"
        others = await result(hf, "session_list", include_current=False)
        assert ids(others) == ["ses_child", "ses_below"]
        assert ids(await result(hf, "session_list", limit=1)) == [me]
        for number in range(12):
            await tell(journal, f"ses_more{number}", Story())
        assert (await result(hf, "session_list"))["count"] == 10


@pytest.mark.req("BOA-SESS-03", "BOA-SESS-04", "BOA-SESS-05")
async def test_what_does_not_fit_is_left_out(workspace: Path) -> None:
    async with looking(workspace) as hf:
        journal, me = await journal_of(hf), hf.session_id
        stories = {
            "ses_done": Story(parent=me, outcome="A", status="pass", trend="improving"),
            "ses_same": Story(parent=me, outcome="B", trend="stable", wake="wak_1"),
            "ses_less": Story(parent=me, outcome="B", trend="regressing"),
            "ses_once": Story(parent=me, outcome="B", trend="first_iteration"),
            "ses_asks": Story(parent=me, waits=True),
            "ses_else": Story(),
        }
        for name, story in stories.items():
            await tell(journal, name, story)
        children = set(stories) - {"ses_else"}
        filters: list[tuple[dict[str, Any], set[str]]] = [
            ({"has_outcome": True}, children - {"ses_asks"}),
            ({"has_outcome": False}, {"ses_asks"}),
            ({"outcome_status": "pass"}, {"ses_done"}),
            ({"outcome_status": "missing_outcome"}, {"ses_asks"}),
            ({"promotion_ready": True}, {"ses_done"}),
            ({"promotion_ready": False, "has_outcome": True}, children - {"ses_asks", "ses_done"}),
            ({"status": "requires_action"}, {"ses_asks"}),
            ({"active_minutes": 60}, children),
        ]
        for asked, found in filters:
            below = await result(hf, "session_list_children", **asked)
            assert set(ids(below)) == found, asked
            every = await result(hf, "session_list", include_current=False, **asked)
            assert set(ids(every)) - {"ses_else"} == found, asked
        for trend, name in (
            ("improving", "ses_done"),
            ("stable", "ses_same"),
            ("regressing", "ses_less"),
            ("first_iteration", "ses_once"),
        ):
            assert ids(await result(hf, "session_list", outcome_trend=trend)) == [name]
        assert set(ids(await result(hf, "session_list", lineage="children"))) == children
        assert set(ids(await result(hf, "session_list", lineage="related"))) == children
        for lineage in ("parent", "siblings"):
            assert ids(await result(hf, "session_list", lineage=lineage)) == []
    async with looking(workspace, session="ses_same") as hf:
        assert ids(await result(hf, "session_list", lineage="parent")) == [me]
        beside = await result(hf, "session_list", lineage="siblings")
        assert set(ids(beside)) == children - {"ses_same"}
        assert set(ids(await result(hf, "session_list", lineage="related"))) == (
            children - {"ses_same"} | {me}
        )


async def test_a_filter_that_nobody_knows_is_refused_with_those_there_are(workspace: Path) -> None:
    async with looking(workspace) as hf:
        refused = await failure(hf, "session_list", lineage="cousins")
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "lineage")
        assert "siblings" in (refused.expected or "")


@pytest.mark.req("BOA-SESS-14", "BOA-SESS-15")
async def test_direct_children_are_listed(workspace: Path) -> None:
    async with looking(workspace) as hf:
        properties = declared(hf, "session_list_children").input_schema["properties"]
        every = set(declared(hf, "session_list").input_schema["properties"])
        assert set(properties) == every - {"include_current", "lineage"} | {"session_id"}
        assert properties["limit"]["default"] == 10
        journal, me = await journal_of(hf), hf.session_id
        for name, parent in (("ses_1", me), ("ses_2", me), ("ses_3", "ses_1"), ("ses_4", None)):
            await tell(journal, name, Story(parent=parent))
        found = await result(hf, "session_list_children")
        assert (found["parent_session_id"], found["count"]) == (me, 2)
        assert ids(found) == ["ses_2", "ses_1"]
        below = await result(hf, "session_list_children", session_id="ses_1")
        assert (below["parent_session_id"], ids(below)) == ("ses_1", ["ses_3"])
        for one in (*found["sessions"], *below["sessions"]):
            assert one["relation_to_current"] == "child"
        assert ids(await result(hf, "session_list_children", limit=1)) == ["ses_2"]


@pytest.mark.req(
    "BOA-SESS-09", "BOA-SESS-10", "BOA-SESS-24", "BOA-SESS-25", "BOA-SESS-26", "BOA-BND-08"
)
async def test_a_summary_has_these_fields_wherever_it_is(workspace: Path) -> None:
    story = Story(
        outcome="Green", trend="stable", waits=True, wake="wak_1", setup="same", status="blocked"
    )
    async with looking(workspace) as hf:
        journal = await journal_of(hf)
        story.parent = hf.session_id
        await tell(journal, "ses_child", story)
        summaries = [
            (await result(hf, "session_list", lineage="children"))["sessions"][0],
            (await result(hf, "session_list_children"))["sessions"][0],
            await result(hf, "session_get_snapshot", session_id="ses_child"),
        ]
        for one in summaries:
            assert set(one) == IDENTITY | RUN | OUTCOME | BESIDE
            assert (one["outcome_trend"], one["outcome_status"]) == ("stable", "blocked")
            assert one["promotion_ready"] is False
            step = one["next_outcome_step"]
            assert set(step) == {"tool", "args", "rationale"}
            assert (await hf.settle(step["tool"], step["args"])).failure is None
            assert (one["requires_action"], one["pending_action_kind"]) == (
                True,
                "tool_confirmation",
            )
            assert one["pending_action_tool_name"] == "shell_run"
            assert one["last_wake_id"] == "wak_1"
            assert one["latest_summary"] == "It went on. It rests."
            assert one["checkpoint_updated_at"] == one["last_activity_at"]
            assert (one["turns"], one["pending_event_count"]) == (1, 1)
            assert one["active_outcome"]["title"] == "Green"
            assert one["outcome_evaluation_history_count"] == 1
            assert one["outcome_evaluation_latest_iteration"] == 0


@pytest.mark.req("BOA-SESS-16", "BOA-SESS-18", "BOA-SESS-19", "BOA-SESS-21", "BOA-SESS-22")
async def test_a_snapshot_shows_one_session(workspace: Path) -> None:
    async with looking(workspace) as hf:
        journal, me = await journal_of(hf), hf.session_id
        own = await result(hf, "session_get_snapshot")
        assert (own["session_id"], own["relation_to_current"]) == (me, "self")
        assert (own["outcome_status"], own["next_outcome_step"]) == ("missing_outcome", None)
        await add(journal, me, Story(setup="same", outcome="Green"))
        await tell(journal, "ses_1", Story(parent=me, setup="same", outcome="B", trend="improving"))
        await tell(journal, "ses_2", Story(parent="ses_1"))
        shown = await result(hf, "session_get_snapshot", session_id="ses_1")
        assert (shown["session_id"], shown["relation_to_current"]) == ("ses_1", "child")
        assert (shown["child_count"], shown["setup_matches_current"]) == (1, True)
        assert shown["agent_setup_fingerprint"] == "same"
        assert (shown["outcome_trend"], shown["outcome_status"]) == ("improving", "not_ready")
        assert (shown["promotion_ready"], shown["next_outcome_step"]["tool"]) == (
            False,
            "outcome_evaluate",
        )
        again = await result(hf, "session_get_snapshot")
        assert (again["child_count"], again["agent_setup_fingerprint"]) == (1, "same")
        assert again["next_outcome_step"] is not None


@pytest.mark.req("BOA-SESS-27")
async def test_names_of_variables_are_shown_and_no_values(workspace: Path) -> None:
    async with looking(workspace) as hf:
        set_env = (("TOKEN", "hunter2-hunter2"),)
        await tell(await journal_of(hf), "ses_1", Story(parent=hf.session_id))
        await (await journal_of(hf)).append("ses_1", [ShellChanged(set_env=set_env)])
        summary = await result(hf, "session_get_snapshot", session_id="ses_1")
        assert set(summary["shell_state"]["env"]) == {"count", "keys", "to_set_again"}
        for found in (summary, await result(hf, "session_list_children")):
            assert "hunter2" not in str(found)


@pytest.mark.req("BOA-SESS-29")
async def test_a_context_that_was_not_measured_is_told_so(workspace: Path) -> None:
    async with looking(workspace) as hf:
        found = await result(hf, "session_describe_context")
        assert set(found) == {
            *("session_id", "available", "artifact_paths"),
            *("context_budget", "pressure", "reason"),
        }
        assert (found["session_id"], found["available"]) == (hf.session_id, False)


@pytest.mark.req("BOA-ARG-05", "BOA-ARG-06")
async def test_a_session_of_another_agent_is_as_one_that_is_not_there(workspace: Path) -> None:
    async with looking(workspace) as hf:
        await tell(await journal_of(hf), "ses_theirs", Story(agent="other", outcome="Secret"))
        of_one = {name for name in READ if name != "session_list"}
        for tool in of_one:
            more = {"wake_id": "wak_1"} if tool == "session_get_trace" else {}
            own = await result(hf, tool, **more)
            named = own.get("session_id") or own["parent_session_id"]
            assert named == hf.session_id
            assert await result(hf, tool, session_id="", **more)
            for other in ("ses_theirs", "ses_none"):
                refused = await failure(hf, tool, session_id=other, **more)
                assert refused.kind is FailureKind.REJECTED
                assert refused.message == f"Session {other} is not available to agent looker"
                assert "Secret" not in str(refused)


async def test_where_nothing_is_written_down_it_is_said(workspace: Path) -> None:
    async with opened(workspace, "managed", agent=LOOKER) as hf:
        for tool in ("session_list", "session_get_snapshot", "session_get_events"):
            refused = await failure(hf, tool)
            assert refused.kind is FailureKind.UNAVAILABLE
            assert "store.kind is none" in refused.message
