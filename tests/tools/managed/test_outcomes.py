"""`outcome_*`: what a session is to achieve, defined and read; nothing is begun by that."""

from pathlib import Path
from typing import Any

import pytest
from tool_kit import failure, opened, result

from holdfast import Agent, Holdfast, Visibility
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.events import Event, EventsProcessed, OutcomeDefined, WantedOutcome
from holdfast.contract.failure import FailureKind
from holdfast.contract.journal import Journal

pytestmark = pytest.mark.anyio

LOOKER = Agent(id="looker", description="Looks.", instructions="Look.")
TILL = {"title": "The till adds up", "detail": "Cents, too.", "success_criteria": ["cents add up"]}
NAMES = (
    *("outcome_read", "outcome_grade", "outcome_evaluate"),
    *("outcome_history", "outcome_define"),
)


def kept(workspace: Path, **options: Any) -> Any:
    return opened(workspace, "managed", settings=Settings(), **options)


async def journal_of(hf: Holdfast) -> Journal:
    assert hf.parts.log is not None
    return await hf.parts.log.journal()


async def defined(hf: Holdfast, session_id: str | None = None) -> list[Event]:
    events = await (await journal_of(hf)).events(session_id or hf.session_id)
    return [one for one in events if isinstance(one.payload, OutcomeDefined)]


def schema_of(hf: Holdfast, name: str) -> Any:
    return next(one for one in hf.tools if one.name == name).input_schema


@pytest.mark.req("BOA-OUT-01", "BOA-OUT-02")
async def test_what_is_defined_is_read_again_by_whoever_takes_the_session_up(
    workspace: Path,
) -> None:
    async with kept(workspace, agent=LOOKER) as hf:
        assert list(schema_of(hf, "outcome_read")["properties"]) == ["session_id"]
        declared = schema_of(hf, "outcome_define")
        assert list(declared["properties"]) == ["title", "detail", "success_criteria", "session_id"]
        assert declared["required"] == ["title"]
        found = await result(hf, "outcome_read")
        assert (found["session_id"], found["active_outcome"]) == (hf.session_id, None)
        await result(hf, "outcome_define", **TILL)
        session = hf.session_id
    async with kept(workspace, agent=LOOKER, session=session) as hf:
        found = await result(hf, "outcome_read")
        assert (found["session_id"], found["active_outcome"]) == (session, TILL)


@pytest.mark.req("BOA-OUT-03")
async def test_an_outcome_is_written_down_as_taken_into_account(workspace: Path) -> None:
    async with kept(workspace, agent=LOOKER) as hf:
        made = await result(
            *(hf, "outcome_define"),
            title="  Green ",
            detail=" ",
            success_criteria=[" tests pass", "tests pass ", "", "  ", "lint is clean"],
        )
        outcome = {"title": "Green", "detail": None}
        criteria = ["tests pass", "lint is clean"]
        assert made["active_outcome"] == {**outcome, "success_criteria": criteria}
        assert made["session_id"] == hf.session_id
        (event,) = await defined(hf)
        assert made["event_id"] == event.id
        assert event.processed_at is not None
        wanted = WantedOutcome(title="Green", success_criteria=tuple(criteria))
        assert event.payload == OutcomeDefined(outcome=wanted, known=True)
        journal = await journal_of(hf)
        state = (await journal.session(hf.session_id)).state
        assert (state.status, state.stop_reason, state.pending) == ("idle", "idle", ())
        assert await journal.next_due() is None
        events = await journal.events(hf.session_id)
        (marked,) = [one for one in events if isinstance(one.payload, EventsProcessed)]
        assert marked.sequence == event.sequence + 1


@pytest.mark.parametrize(
    ("criteria", "warned"),
    [
        (["All invoices reconciled"], ["'All invoices reconciled' is met only by a line"]),
        (["tests pass", "ruff check is clean"], ["'tests pass'", "'ruff check is clean'"]),
        (["pytest exits with 0"], ["its words give 2 of the 4 points"]),
        ([], ["It has no success_criteria, so it never counts as reached"]),
        (['The check prints "3 steps"', "every customer ledger test passes"], []),
    ],
)
async def test_criteria_that_can_hardly_be_shown_are_told_with_what_to_write_instead(
    workspace: Path, criteria: list[str], warned: list[str]
) -> None:
    async with kept(workspace) as hf:
        made = await result(hf, "outcome_define", title="Green", success_criteria=criteria)
        assert len(made["warnings"]) == len(warned)
        for one, said in zip(made["warnings"], warned, strict=True):
            assert said in one
            assert "'The check prints \"3 steps\"'" in one


async def test_an_agent_with_few_tools_is_led_to_none_that_it_has_not(workspace: Path) -> None:
    few = Agent(
        id="few",
        description="Few.",
        instructions="Few.",
        tools=Visibility(allow=("outcome_*", "permissions_check")),
    )
    async with kept(workspace, agent=few) as hf:
        grade = (await result(hf, "outcome_evaluate"))["grade"]
        assert grade["next_suggested_tool"]["tool"] == "outcome_define"
        await result(hf, "outcome_define", **TILL)
        assert (await result(hf, "outcome_evaluate"))["grade"]["next_suggested_tool"] is None


@pytest.mark.req("BOA-OUT-04")
async def test_the_newest_outcome_is_the_active_one_and_the_others_stay_written(
    workspace: Path,
) -> None:
    async with kept(workspace) as hf:
        await result(hf, "outcome_define", **TILL)
        await result(hf, "outcome_define", title="Another one")
        found = await result(hf, "outcome_read")
        assert found["active_outcome"]["title"] == "Another one"
        assert len(await defined(hf)) == 2


@pytest.mark.parametrize("title", ["", "  \n "])
async def test_a_blank_title_is_none(workspace: Path, title: str) -> None:
    async with kept(workspace) as hf:
        refused = await failure(hf, "outcome_define", title=title)
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "title")
        assert refused.message == "outcome_define requires a non-empty title"
        assert await defined(hf) == []


async def test_secrets_are_not_kept_in_an_outcome(workspace: Path) -> None:
    home = workspace.parent / "home"
    around = Surroundings(
        data_home=home / "data", state_home=home / "state", secrets=("s3cr3t-of-the-house",)
    )
    async with kept(workspace, surroundings=around) as hf:
        said = "use s3cr3t-of-the-house"
        await result(hf, "outcome_define", title=said, detail=said, success_criteria=[said])
        (event,) = await defined(hf)
        assert "s3cr3t" not in str(event.payload)
        assert "use " in str(event.payload)


@pytest.mark.parametrize("name", NAMES)
async def test_another_session_of_the_same_agent_is_meant_by_its_id(
    workspace: Path, name: str
) -> None:
    more = {"title": "Theirs"} if name == "outcome_define" else {}
    async with kept(workspace, agent=LOOKER) as other:
        theirs = other.session_id
        await result(other, "outcome_define", title="Before")
    async with kept(workspace, agent=LOOKER) as hf:
        found = await result(hf, name, session_id=f" {theirs} ", **more)
        assert found["session_id"] == theirs
        assert found["active_outcome"]["title"] == ("Theirs" if more else "Before")
        folder = str(workspace.resolve() / ".holdfast-runtime" / theirs)
        assert {str(Path(one).parent) for one in found["artifact_paths"]} == {folder}
        assert await defined(hf) == []


@pytest.mark.parametrize("name", NAMES)
async def test_nothing_is_told_of_a_session_of_another_agent(workspace: Path, name: str) -> None:
    more = {"title": "Mine now"} if name == "outcome_define" else {}
    async with kept(workspace, agent=Agent(id="hidden", description="x")) as other:
        await result(other, "outcome_define", title="Hidden away")
        async with kept(workspace, agent=LOOKER) as hf:
            for session_id in (other.session_id, "ses_nobody"):
                refused = await failure(hf, name, session_id=session_id, **more)
                assert refused.kind is FailureKind.REJECTED
                assert refused.message == f"Session {session_id} is not available to agent looker"
        assert len(await defined(other)) == 1


@pytest.mark.parametrize("name", NAMES)
async def test_without_a_journal_nothing_is_known(workspace: Path, name: str) -> None:
    more = {"title": "x"} if name == "outcome_define" else {}
    async with opened(workspace, "managed") as hf:
        refused = await failure(hf, name, **more)
        assert (refused.kind, "store.kind" in refused.message) == (FailureKind.UNAVAILABLE, True)


async def test_only_defining_writes(workspace: Path) -> None:
    async with kept(workspace) as hf:
        tools = {one.name: one for one in hf.tools}
        assert [tools[name].read_only for name in NAMES] == [True, True, True, True, False]
        assert all(tools[name].effects for name in NAMES)
        assert not any(tools[name].destructive for name in NAMES)
