"""Sessions as one of them sees the others: what is told of each, in which order, of whom not."""

from typing import Any

import pytest
from runtime.managed.grounds import BUSY, ME, Given, Place, placed
from session_stories import ASKS_OUTSIDE, Story, add, call, evaluated, run, tell
from support import make_tool

from holdfast.contract.events import StatusIdle, UserMessage
from holdfast.contract.managed.sessions import SessionFilter, SessionSummary
from holdfast.contract.mounts import Mount
from holdfast.contract.outcomes import EvaluationStatus, Trend
from holdfast.contract.steps import Step
from holdfast.contract.tool import Tool

pytestmark = pytest.mark.anyio

ANY = SessionFilter(limit=50)


def named(sessions: tuple[SessionSummary, ...]) -> list[str]:
    return [one.session_id for one in sessions]


async def seen(place: Place, session_id: str | None = None) -> SessionSummary:
    return await place.book.snapshot(session_id)


@pytest.mark.req("BOA-SESS-11", "BOA-SESS-12")
async def test_those_most_like_it_come_first_and_its_own_place_is_among_them() -> None:
    stories = {
        "ses_same": Story(setup="same", outcome="Green", trend="improving"),
        ME: Story(setup="same", outcome="Green", parent="ses_top"),
        "ses_steady": Story(setup="same", outcome="Green", trend="stable"),
        "ses_setup": Story(setup="same", outcome="Red", trend="regressing"),
        "ses_goal": Story(setup="else", outcome="Green", trend="regressing"),
        "ses_waits": Story(waits=True),
        "ses_better": Story(outcome="Red", trend="improving"),
        "ses_first": Story(outcome="Red", trend="first_iteration"),
        "ses_stable": Story(outcome="Red", trend="stable"),
        "ses_top": Story(outcome="Red", trend="regressing"),
        "ses_sister": Story(parent="ses_top"),
        "ses_new": Story(),
        "ses_old": Story(),
    }
    async with placed() as place:
        for name in reversed(stories):
            await tell(place.journal, name, stories[name])
            place.clock.advance(1)
        found = await place.book.sessions(ANY)
        assert named(found.sessions) == list(stories)
        assert (found.agent_id, found.count) == ("looker", len(stories))
        assert named((await place.book.sessions(SessionFilter(limit=3))).sessions) == [*stories][:3]


async def test_what_is_asked_for_is_asked_of_the_calling_session_as_well() -> None:
    async with placed() as place:
        await tell(place.journal, ME, Story(parent="ses_top", outcome="Green", wake="wak_1"))
        place.clock.advance(600)
        await place.journal.append(ME, [UserMessage(message="and now?")])
        asked: list[tuple[SessionFilter, bool]] = [
            (SessionFilter(), True),
            (SessionFilter(include_current=False), False),
            (SessionFilter(lineage="related"), False),
            (SessionFilter(has_outcome=True), True),
            (SessionFilter(has_outcome=False), False),
            (SessionFilter(outcome_status="not_ready"), True),
            (SessionFilter(outcome_status="pass"), False),
            (SessionFilter(outcome_trend="first_iteration"), True),
            (SessionFilter(outcome_trend="stable"), False),
            (SessionFilter(promotion_ready=False), True),
            (SessionFilter(promotion_ready=True), False),
            (SessionFilter(status="rescheduling"), True),
            (SessionFilter(status="running"), False),
            (SessionFilter(active_minutes=1), True),
        ]
        for wanted, is_there in asked:
            found = await place.book.sessions(wanted)
            assert (ME in named(found.sessions)) is is_there, wanted


async def test_children_of_another_session_are_told_as_such() -> None:
    async with placed() as place:
        await tell(place.journal, ME, Story(parent="ses_top"))
        for name, parent in (
            ("ses_top", None),
            ("ses_sister", "ses_top"),
            ("ses_child", ME),
            ("ses_below", "ses_child"),
        ):
            await tell(place.journal, name, Story(parent=parent))
        own = await place.book.children(None, ANY)
        assert (own.parent_session_id, own.count, named(own.sessions)) == (ME, 1, ["ses_child"])
        assert own.sessions[0].child_count == 1
        above = await place.book.children("ses_top", ANY)
        assert sorted(named(above.sessions)) == [ME, "ses_sister"]
        below = await place.book.children("ses_child", ANY)
        for found in (own, above, below):
            assert {one.relation_to_current for one in found.sessions} == {"child"}
        assert (await seen(place)).child_count == 1
        related = await place.book.sessions(SessionFilter(lineage="related"))
        assert {one.session_id: one.relation_to_current for one in related.sessions} == {
            "ses_top": "parent",
            "ses_sister": "sibling",
            "ses_child": "child",
        }
        assert (await seen(place, "ses_below")).relation_to_current is None
        assert (await seen(place)).relation_to_current == "self"


@pytest.mark.req("BOA-SESS-13", "BOA-SESS-23")
@pytest.mark.parametrize("trend", ["improving", "stable"])
async def test_a_command_that_runs_holds_what_was_reached(trend: Trend) -> None:
    """As the evaluator of the live shell says it: in its own summary, wherever that is shown."""
    busy = [None, BUSY]
    given = Given(live_shell=lambda: busy[-1], tools=lambda: (make_tool(name="look"),))
    async with placed(given) as place:
        story = Story(outcome="Green", criteria=("counts every file",), wake="wak_1")
        await tell(place.journal, ME, story)
        shown = [*call("look", "It counts every file there is."), *run("wak_2", "Done.")]
        await place.journal.append(ME, shown, wake_id="wak_2")
        await place.journal.append(ME, [evaluated(story, trend, "wak_1")])
        for found in (
            await seen(place),
            (await place.book.sessions(ANY)).sessions[0],
            (await place.book.sessions(SessionFilter(outcome_status="not_ready"))).sessions[0],
        ):
            assert (found.session_id, found.outcome_status) == (ME, "not_ready")
            assert not found.promotion_ready
            assert found.outcome_evaluation is not None
            assert found.outcome_evaluation.status == "not_ready"
            assert found.next_outcome_step is not None
            assert (found.next_outcome_step.tool, found.next_outcome_step.args) == (
                "shell_wait",
                {"timeout_ms": 1000},
            )
        ready = SessionFilter(promotion_ready=True)
        assert (await place.book.sessions(ready)).count == 0
        busy.append(None)
        free = await seen(place)
        assert (free.outcome_status, free.promotion_ready, free.next_outcome_step) == (
            "pass",
            True,
            None,
        )
        assert named((await place.book.sessions(ready)).sessions) == [ME]


@pytest.mark.req("BOA-SESS-23")
async def test_a_command_that_runs_changes_nothing_about_what_is_missing_or_waits() -> None:
    async with placed(Given(live_shell=lambda: BUSY)) as place:
        await tell(place.journal, ME, Story())
        assert (await seen(place)).outcome_status == "missing_outcome"
        assert (await seen(place)).next_outcome_step is None
        await add(place.journal, ME, Story(outcome="Green", waits=True))
        blocked = await seen(place)
        assert blocked.outcome_status == "blocked"
        assert blocked.next_outcome_step is not None
        assert blocked.next_outcome_step.tool == "permissions_check"
        await tell(
            place.journal, "ses_other", Story(outcome="Green", status="pass", trend="stable")
        )
        assert (await seen(place, "ses_other")).outcome_status == "pass"


@pytest.mark.req("BOA-SESS-09")
@pytest.mark.parametrize(
    ("status", "trend", "step", "tool"),
    [
        ("not_ready", "stable", None, "outcome_history"),
        ("not_ready", "regressing", None, "outcome_history"),
        (
            "not_ready",
            "improving",
            ("session_get_trace", {"wake_id": "wak_1"}),
            "session_get_trace",
        ),
        ("blocked", "improving", ("permissions_check", {"tool_name": "x"}), "session_get_trace"),
        ("pass", "stable", None, None),
    ],
)
async def test_a_step_of_another_session_can_be_taken_from_here(
    status: EvaluationStatus, trend: Trend, step: Any, tool: str | None
) -> None:
    suggested = None if step is None else Step(tool=step[0], args=step[1], rationale="See.")
    story = Story(
        outcome="Green", status=status, trend=trend, step=suggested, wake="wak_1", setup="same"
    )
    async with placed(Given(tools=declared)) as place:
        await tell(place.journal, ME, Story(setup="same"))
        await tell(place.journal, "ses_other", story)
        others = await place.book.sessions(SessionFilter(include_current=False))
        for found in (await seen(place, "ses_other"), *others.sessions):
            assert found.session_id == "ses_other"
            assert (found.outcome_status, found.outcome_trend) == (status, trend)
            assert found.outcome_trend_summary == f"It is {trend}."
            taken = found.next_outcome_step
            if tool is None:
                assert taken is None
                continue
            assert taken is not None
            assert (taken.tool, taken.args["session_id"]) == (tool, "ses_other")
            assert found.outcome_evaluation is not None
            told = found.outcome_evaluation.next_suggested_tool
            assert told is None or told.args["session_id"] == "ses_other"


def declared() -> tuple[Tool, ...]:
    """Tools of sessions and outcomes, as far as their arguments go."""
    schema: Any = {"type": "object", "properties": {"session_id": {"type": "string"}}}
    names = ("outcome_history", "session_get_trace", "session_get_events")
    return tuple(make_tool(name=name, schema=schema) for name in names)


async def test_one_that_never_ran_with_its_outcome_is_told_so() -> None:
    async with placed() as place:
        await tell(place.journal, ME, Story())
        stories = {"ses_waits": Story(outcome="G", waits=True), "ses_begun": Story(outcome="G")}
        for name, story in stories.items():
            await tell(place.journal, name, story)
        waits, begun = [await seen(place, name) for name in stories]
        assert (waits.outcome_grade, waits.outcome_status) == ("blocked", "blocked")
        assert (begun.outcome_grade, begun.outcome_status) == ("in_progress", "not_ready")
        for one in (waits, begun):
            assert (one.outcome_evaluation, one.outcome_trend) == (None, None)
            step = one.next_outcome_step
            assert step is not None
            assert (step.tool, step.args) == ("session_get_events", {"session_id": one.session_id})


@pytest.mark.req("BOA-SESS-20")
async def test_what_a_session_waits_for_is_told_with_its_arguments() -> None:
    async with placed() as place:
        await tell(place.journal, ME, Story(waits=True))
        await tell(place.journal, "ses_free", Story())
        await tell(place.journal, "ses_outside", Story())
        asks = StatusIdle(reason="requires_action", summary="It waits.")
        await place.journal.append("ses_outside", [ASKS_OUTSIDE, asks])
        own, free = await seen(place), await seen(place, "ses_free")
        assert own.requires_action
        assert (own.pending_action_kind, own.pending_action_tool_name) == (
            "tool_confirmation",
            "shell_run",
        )
        confirmed = own.pending_tool_confirmation_request
        assert confirmed is not None
        assert (confirmed.id, confirmed.input) == ("req_1", {"command": "make"})
        outside = await seen(place, "ses_outside")
        assert (outside.pending_action_kind, outside.pending_action_tool_name) == (
            "custom_tool",
            "weather",
        )
        assert outside.pending_custom_tool_request is not None
        assert outside.pending_custom_tool_request.input == {"city": "Ulm"}
        assert not free.requires_action
        assert (free.pending_action_kind, free.pending_tool_confirmation_request) == (None, None)


@pytest.mark.req("BOA-SESS-07")
async def test_a_setup_that_is_not_known_neither_matches_nor_differs() -> None:
    async with placed() as place:
        await tell(place.journal, ME, Story(setup="same", outcome="Green"))
        stories = {
            "ses_same": (Story(setup="same", outcome="Green"), True, True),
            "ses_else": (Story(setup="else", outcome="Red"), False, False),
            "ses_bare": (Story(), None, False),
        }
        for name, (story, _, _) in stories.items():
            await tell(place.journal, name, story)
        found = {one.session_id: one for one in (await place.book.sessions(ANY)).sessions}
        for name, (_, setup, outcome) in stories.items():
            told = found[name]
            assert (told.setup_matches_current, told.outcome_matches_current) == (setup, outcome)
        assert found[ME].setup_matches_current is True
        assert found[ME].outcome_matches_current is True


async def test_how_many_resources_there_are_is_told_of_those_that_have_the_same() -> None:
    mount = Mount(kind="vault", mount_path="/v", access="read_only", scope="agent", prompt="Keys.")
    async with placed(Given(mounts=(mount,))) as place:
        await tell(place.journal, ME, Story(setup="same"))
        await tell(place.journal, "ses_same", Story(setup="else"))
        await tell(place.journal, "ses_else", Story(setup="same", resources="others"))
        found = {one.session_id: one for one in (await place.book.sessions(ANY)).sessions}
        assert {name: one.resource_count for name, one in found.items()} == {
            ME: 1,
            "ses_same": 1,
            "ses_else": None,
        }
        assert found["ses_else"].resource_contract_fingerprint == "others"
