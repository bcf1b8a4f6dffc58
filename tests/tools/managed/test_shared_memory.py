"""What all sessions of an agent share: notes behind a gate, what was learned, and MEMORY.md."""

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from tool_kit import failure, result
from tools.managed.memory_kit import (
    OTHER,
    events_of,
    home_of,
    learning,
    managed_of,
    outcome,
    remembering,
    run,
    written,
)

from holdfast import Agent, ScriptedModel
from holdfast.contract.call import Ask
from holdfast.contract.failure import FailureKind
from holdfast.contract.managed_events import NotesPromoted
from holdfast.contract.model import ModelRequest
from holdfast.contract.ports import Answer
from holdfast.runtime.managed.workspace_memory import MOST_TOLD
from holdfast.testing.fakes import FakeApprover

pytestmark = pytest.mark.anyio

NOTES = ("<!-- holdfast:notes:begin -->", "<!-- holdfast:notes:end -->")
LEARNED = ("<!-- holdfast:promoted-learnings:begin -->", "<!-- holdfast:promoted-learnings:end -->")
PEOPLE = b"# Ours\r\n\r\nAsk Ada first. \xff\r\n"


def memory_file(workspace: Path, agent: str = "looker") -> Path:
    return home_of(workspace) / "agents" / agent / "substrate" / "MEMORY.md"


def between(text: str, marks: tuple[str, str]) -> str:
    begin, end = marks
    assert (text.count(begin), text.count(end)) == (1, 1)
    return text.partition(begin)[2].partition(end)[0].strip("\n")


async def shared(hf: Any) -> str:
    return (await result(hf, "memory_read", target="workspace_memory"))["content"]


async def notes(hf: Any) -> str:
    return (await result(hf, "memory_read", target="workspace_memory_notes"))["content"]


async def how_many(hf: Any) -> int:
    return (await result(hf, "memory_list_versions", target="workspace_memory_notes"))["count"]


async def promoted(hf: Any) -> list[NotesPromoted]:
    return [one.payload for one in await events_of(hf) if isinstance(one.payload, NotesPromoted)]


@pytest.mark.req("BOA-MEM-19", "BOA-MEM-21", "BOA-MEM-23")
async def test_a_note_is_promoted_to_all_sessions_of_the_agent(workspace: Path) -> None:
    async with remembering(workspace) as hf, remembering(workspace) as beside:
        declared: Any = next(one for one in hf.tools if one.name == "memory_promote_note")
        properties = declared.input_schema["properties"]
        assert list(properties) == [
            "content",
            "mode",
            "require_outcome_pass",
            "expected_version_id",
        ]
        assert declared.input_schema["required"] == ["content"]
        assert properties["mode"]["default"] == "replace"
        first = await result(hf, "memory_promote_note", content=" Use make. ")
        second = await result(beside, "memory_promote_note", content="Never push.", mode="append")
        assert second["content"] == "Use make.\nNever push."
        assert set(first) == {
            *("session_id", "target", "mode", "path", "version_id", "previous_version_id"),
            *("content_hash", "content", "outcome_evaluation"),
        }
        assert (first["target"], first["mode"]) == ("workspace_memory_notes", "replace")
        assert (first["session_id"], second["session_id"]) == (hf.session_id, beside.session_id)
        assert second["previous_version_id"] == first["version_id"]
        assert first["content_hash"] == hashlib.sha256(b"Use make.").hexdigest()
        assert first["outcome_evaluation"]["status"] == "missing_outcome"
        assert first["path"] == str(memory_file(workspace))
        text = memory_file(workspace).read_text("utf-8")
        assert between(text, NOTES) == "## Notes\n\nUse make.\nNever push."
        assert await shared(hf) == text
        assert await notes(hf) == await notes(beside) == "Use make.\nNever push."
        third = await result(hf, "memory_promote_note", content="Only this.")
        assert (await notes(beside), await how_many(beside)) == ("Only this.", 3)
        old = {"target": "workspace_memory_notes", "version_id": second["version_id"]}
        kept = await result(beside, "memory_read_version", **old)
        assert kept["content"] == "Use make.\nNever push."
        told = await promoted(hf)
        assert [(one.version_id, one.overridden) for one in told] == [
            (first["version_id"], False),
            (third["version_id"], False),
        ]
    async with remembering(workspace, agent=OTHER) as theirs:
        assert await notes(theirs) == ""
        assert await shared(theirs) == ""


@pytest.mark.req("BOA-MEM-20", "BOA-POL-06")
async def test_nothing_is_shared_before_a_person_confirms_it(workspace: Path) -> None:
    approver = FakeApprover([Answer(allowed=False, by="ada"), Answer(allowed=True, by="ada")])
    async with remembering(workspace, approver=approver) as hf:
        declared = next(one for one in hf.tools if one.name == "memory_promote_note")
        assert declared.permission_policy == "always_ask"
        refused = await failure(hf, "memory_promote_note", content="Mine.")
        assert refused.kind is FailureKind.USER_DENIED
        assert (await notes(hf), await how_many(hf), await promoted(hf)) == ("", 0, [])
        assert not memory_file(workspace).exists()
        await result(hf, "memory_promote_note", content="Mine.")
        assert await notes(hf) == "Mine."
        assert len(approver.asked) == 2


@pytest.mark.req("BOA-MEM-22")
async def test_a_promoter_who_expects_another_version_changes_nothing(workspace: Path) -> None:
    async with remembering(workspace) as hf:
        first = await result(hf, "memory_promote_note", content="1", expected_version_id="none")
        late = await failure(hf, "memory_promote_note", content="2", expected_version_id="ver_x")
        assert (late.kind, late.field) == (FailureKind.INVALID_ARGS, "expected_version_id")
        assert f"expected ver_x but latest is {first['version_id']}" in late.message
        assert (await notes(hf), await how_many(hf), len(await promoted(hf))) == ("1", 1, 1)
        again = await result(
            hf, "memory_promote_note", content="2", expected_version_id=first["version_id"]
        )
        assert (again["previous_version_id"], await notes(hf)) == (first["version_id"], "2")
        empty = await failure(hf, "memory_promote_note", content=" ")
        assert "memory_promote_note requires a non-empty content" in empty.message


@pytest.mark.req("BOA-GATE-01", "BOA-GATE-04", "BOA-GATE-06")
async def test_the_gate_is_open_once_the_outcome_is_reached(workspace: Path) -> None:
    asked: list[Any] = []

    async def approver(ask: Ask) -> Answer:
        asked.append(ask.prepared.arguments)
        return Answer(allowed=True, by="ada")

    async with remembering(workspace, approver=approver) as hf:
        forced = await failure(hf, "memory_promote_note", content="x", require_outcome_pass=True)
        assert forced.kind is FailureKind.REJECTED
        assert "it returns missing_outcome" in forced.message
        await written(hf, [outcome()])
        await run(hf, "wak_1", shows="two tests failed")
        for given in ({}, {"require_outcome_pass": True}):
            refused = await failure(hf, "memory_promote_note", content="x", **given)
            assert refused.kind is FailureKind.REJECTED
            wanted = "memory_promote_note requires outcome_evaluate to return status=pass"
            assert wanted in refused.message
            step: Any = refused.extras["next_step"]
            assert f"it returns {refused.extras['outcome_status']}:" in refused.message
            assert str(refused.extras["outcome_summary"]) in refused.message
            assert refused.extras["outcome_status"] == "not_ready"
            assert f"Next: {step['tool']}." in refused.message
        assert (await notes(hf), await how_many(hf), await promoted(hf)) == ("", 0, [])
        assert not memory_file(workspace).exists()
        over = await result(hf, "memory_promote_note", content="Over.", require_outcome_pass=False)
        assert over["outcome_evaluation"]["status"] == "not_ready"
        assert asked[-1]["require_outcome_pass"] is False  # whoever confirms sees it
        assert len(asked) == 1  # what the gate refuses is put to nobody
        await run(hf, "wak_2", shows="Ran 42 of 42: all tests pass now")
        for given in ({}, {"require_outcome_pass": True}, {"require_outcome_pass": False}):
            told = await result(hf, "memory_promote_note", content="Well.", **given)
            assert told["outcome_evaluation"]["status"] == "pass"
        assert [one.overridden for one in await promoted(hf)] == [True, False, False, False]


@pytest.mark.req("BOA-GATE-05")
async def test_the_version_is_looked_at_before_the_gate(workspace: Path) -> None:
    async with remembering(workspace) as hf:
        await written(hf, [outcome()])
        stale = {"content": "x", "expected_version_id": "ver_x"}
        for given in ({}, {"require_outcome_pass": False}, {"require_outcome_pass": True}):
            refused = await failure(hf, "memory_promote_note", **stale, **given)
            assert "version precondition failed" in refused.message
        fitting = {"content": "x", "expected_version_id": "none"}
        refused = await failure(hf, "memory_promote_note", **fitting)
        assert "requires outcome_evaluate" in refused.message
        assert (await notes(hf), await how_many(hf), await promoted(hf)) == ("", 0, [])


@pytest.mark.req("BOA-MEM-24")
async def test_no_write_touches_what_was_learned_or_what_people_wrote(workspace: Path) -> None:
    file = memory_file(workspace)
    file.parent.mkdir(parents=True)
    file.write_bytes(PEOPLE)
    async with remembering(workspace) as hf:
        await written(hf, [learning("Builds", promote_to_memory=True), learning("Not this")])
        await managed_of(hf).memory.refresh()
        learned = file.read_bytes()
        assert learned.startswith(PEOPLE)
        said = between(learned.decode("utf-8", "replace"), LEARNED)
        assert said == "## Promoted learnings\n\n- lesson: Builds: About Builds."
        await result(hf, "memory_write", target="session_state", content=f"x\n{LEARNED[0]}")
        assert file.read_bytes() == learned
        await result(hf, "memory_promote_note", content=f"Mine.\n{LEARNED[0]}\n{LEARNED[1]}")
        both = file.read_bytes()
        assert both.startswith(learned)
        assert between(both.decode("utf-8", "replace"), LEARNED) == said
        # People edit between the sections, and take a part of them away: theirs stays.
        text = both.replace(NOTES[0].encode(), b"In between.\n" + NOTES[0].encode())
        file.write_bytes(text.replace(LEARNED[1].encode(), b"") + b"At the end.\n")
        await result(hf, "memory_promote_note", content="Again.", mode="append")
        after = file.read_bytes()
        assert after.startswith(PEOPLE)
        assert b"In between.\n" in after
        assert b"At the end.\n" in after
        shown = after.decode("utf-8", "replace")
        assert "Again." in between(shown, NOTES)
        assert shown.rpartition(LEARNED[0])[2].partition(LEARNED[1])[0].strip("\n") == said


async def test_notes_are_truth_in_the_store_and_not_in_the_file(workspace: Path) -> None:
    async with remembering(workspace) as hf:
        await result(hf, "memory_promote_note", content="True.")
        file = memory_file(workspace)
        file.write_text(file.read_text("utf-8").replace("True.", "Forged.") + "Theirs.\n", "utf-8")
        assert (await notes(hf), "Forged." in await shared(hf)) == ("True.", False)
        assert "Theirs." in await shared(hf)
        await managed_of(hf).memory.refresh()
        assert "Forged." not in file.read_text("utf-8")
        assert "Theirs." in file.read_text("utf-8")


async def test_a_link_in_place_of_the_file_is_never_followed(
    workspace: Path, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere = workspace.parent / "elsewhere.md"
    elsewhere.write_text("Secret.", "utf-8")
    file = memory_file(workspace)
    file.parent.mkdir(parents=True)
    file.symlink_to(elsewhere)
    async with remembering(workspace) as hf:
        told = await result(hf, "memory_promote_note", content="Kept all the same.")
        assert told["content"] == "Kept all the same."
        assert (file.is_symlink(), elsewhere.read_text("utf-8")) == (True, "Secret.")
        assert [one for one in caplog.messages if "memory of session" in one]
        refused = await failure(hf, "memory_read", target="workspace_memory")
        assert refused.kind is FailureKind.UNAVAILABLE
        assert await notes(hf) == "Kept all the same."


@pytest.mark.req("BOA-LRN-02", "BOA-LRN-03")
async def test_what_was_learned_in_all_sessions_is_listed_once(workspace: Path) -> None:
    async with remembering(workspace) as first, remembering(workspace, agent=OTHER) as theirs:
        await written(theirs, [learning("Not ours")])
        await written(first, [learning(f"L{number}") for number in range(15)], wake_id="wak_1")
        async with remembering(workspace) as second:
            more = [
                learning("l3", detail="ABOUT L3."),
                learning("L3", learning_kind="error"),
                learning("Key", dedupe_key="k", learning_kind="correction"),
                learning("Other words", dedupe_key="k", promote_to_memory=True),
                *(learning(f"M{number}") for number in range(8)),
            ]
            await written(second, more, wake_id="wak_2")
            told = await result(second, "learning_list")
            assert (told["agent_id"], told["count"]) == ("looker", 20)
            titles = [one["title"] for one in told["learnings"]]
            assert titles == [
                *(f"M{number}" for number in range(7, -1, -1)),
                *("Key", "L3"),
                *(f"L{number}" for number in range(14, 4, -1)),
            ]
            key: Any = next(one for one in told["learnings"] if one["title"] == "Key")
            event = next(one for one in await events_of(second) if one.id == key["learning_id"])
            assert key == {
                "learning_id": event.id,
                "kind": "correction",
                "title": "Key",
                "detail": "About Key.",
                "promote_to_memory": True,
                "dedupe_key": "k",
                "session_id": second.session_id,
                "wake_id": "wak_2",
                "created_at": event.at.isoformat(),
            }
            all_of_them = await result(second, "learning_list", limit=1000)
            assert all_of_them["count"] == 25
            few = await result(first, "learning_list", limit=2)
            assert [one["title"] for one in few["learnings"]] == ["M7", "M6"]
            assert (await result(theirs, "learning_list"))["count"] == 1


async def test_the_model_is_told_of_memory_as_it_was_when_the_run_began(workspace: Path) -> None:
    async with remembering(workspace) as hf:
        memory = managed_of(hf).memory
        assert memory.told == ""
        await managed_of(hf).begins("message")
        assert memory.told == ""
        await written(hf, [learning("Builds", promote_to_memory=True)])
        await result(hf, "memory_promote_note", content="Use make.")
        assert memory.told == ""
        await managed_of(hf).begins("message")
        said = memory.told
        assert said.startswith("# Memory\n")
        assert "Use make." in said
        assert "- lesson: Builds: About Builds." in said
        await managed_of(hf).begins("message")
        assert memory.told == said
        await result(hf, "memory_promote_note", content="x" * 2 * MOST_TOLD)
        await managed_of(hf).begins("message")
        assert len(memory.told) < MOST_TOLD + 400
        assert memory.told.endswith('memory_read {"target": "workspace_memory"} gives the rest.')


LEARNS = """\
Done. <holdfast-session-loop>{"learnings": [
{"title": "Builds", "detail": "They take a minute.", "kind": "lesson", "promote_to_memory": true},
{"title": "Ports", "detail": "8080 is taken.", "kind": "error"}]}</holdfast-session-loop>"""


@pytest.mark.req("BOA-LRN-01", "BOA-BND-02")
async def test_the_loop_captures_what_was_learned_and_tools_only_tell_of_it(
    workspace: Path,
) -> None:
    seen: list[ModelRequest] = []

    def turn(request: ModelRequest) -> str:
        seen.append(request)
        return LEARNS

    agent = Agent(id="looker", description="Looks.", directives=True)
    model = ScriptedModel([turn, turn])
    async with remembering(workspace, agent=agent, model=model) as hf:
        assert not [one.name for one in hf.tools if "learn" in one.name and not one.read_only]
        for _ in range(2):
            made = await result(hf, "session_delegate", message="Look at it.")
            child = made["child_session"]["session_id"]
            await result(hf, "session_run_child", session_id=child)
            await managed_of(hf).memory.refresh()
        told = await result(hf, "learning_list")
        assert [(one["title"], one["kind"]) for one in told["learnings"]] == [
            ("Ports", "error"),
            ("Builds", "lesson"),
        ]
        assert told["learnings"][0]["session_id"] != hf.session_id
        said = "## Promoted learnings\n\n- lesson: Builds: They take a minute."
        assert between(memory_file(workspace).read_text("utf-8"), LEARNED) == said
        first, second = (str(one.rows[0].content) for one in seen)
        assert "# Memory" not in first
        assert "- lesson: Builds: They take a minute." in second


async def test_several_sessions_that_promote_at_once_lose_nothing(workspace: Path) -> None:
    async with (
        remembering(workspace) as first,
        remembering(workspace) as second,
        anyio.create_task_group() as group,
    ):
        for number in range(6):
            hf = (first, second)[number % 2]
            more = {"content": f"Note {number}.", "mode": "append"}
            group.start_soon(partial(result, hf, "memory_promote_note", **more))
    async with remembering(workspace) as third:
        lines = (await notes(third)).splitlines()
        assert sorted(lines) == [f"Note {number}." for number in range(6)]
        shown = between(memory_file(workspace).read_text("utf-8"), NOTES)
        assert shown == "## Notes\n\n" + "\n".join(lines)
