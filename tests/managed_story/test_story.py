"""A whole story on real processes: an outcome, work, a refusal, evidence, a pass, what is shared
and brought back, children; and what a later session finds of it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from command import start
from forked_workers import Workers
from managed_story.looking import Call, calls_in, check_told, events_in, sessions_in, store_of
from managed_story.rounds import Round, prepared
from managed_story.script import ASKS, BROKEN, KEY, NOTE, OUTCOME
from managed_story.worker import Job

from holdfast import Question
from holdfast.contract.managed.spaces import substrate_space

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]


async def calls_of(job: Job) -> list[Call]:
    async with store_of(job) as store:
        return calls_in(await events_in(store, job.session.read_text("utf-8")))


def only(calls: list[Call], tool: str) -> list[Call]:
    return [one for one in calls if one.tool == tool]


async def test_an_outcome_is_reached_and_only_then_shared(tmp_path: Path, at_work: Workers) -> None:
    job = prepared(tmp_path)
    told = Round(job, at_work)
    asked: list[str] = []

    async def person(question: Question) -> None:
        asked.append(question.tool)
        if len(asked) == 1:
            words = ("sessions", "answer", question.session_id, question.approval_id, "--allow")
            assert start(*words, home=job.folder / "home").status == 0
            return
        if question.tool == "shell_run":  # right behind the refusal
            await check_nothing_shared(job)
        await told.allow(question)

    await told.to_the_end(person)
    assert asked == [
        *("shell_exec", "shell_run"),  # what is refused whoever says yes is put to nobody
        *("resources_promote_to_substrate",) * 2,
        *("resources_restore_version", "memory_promote_note"),
    ]
    await check_told(job)
    calls = await calls_of(job)
    check_shared(calls)
    check_work(calls)
    check_verbs(job)


async def check_nothing_shared(job: Job) -> None:
    assert (job.shared / "till.py").read_text("utf-8") == BROKEN
    async with store_of(job) as store:
        assert not await store.versions.history(substrate_space("keeper"), "till.py", limit=9)


def check_shared(calls: list[Call]) -> None:
    """Refused, then promoted twice, and the first of both brought back."""
    refused, first, second = only(calls, "resources_promote_to_substrate")
    check_refused(calls, refused)
    assert (first.came.ok, second.came.ok) == (True, True)
    assert second.args["expected_version_id"] == first.came.result["version_id"]
    (restored,) = only(calls, "resources_restore_version")
    found = restored.came.result
    assert found["restored_from_version_id"] == first.came.result["version_id"]
    assert found["content_hash"] == first.came.result["content_hash"]
    for one in (first, second, restored, *only(calls, "memory_promote_note")):
        assert one.came.result["outcome_evaluation"]["status"] == "pass"


def check_work(calls: list[Call]) -> None:
    (failed,), (passed,) = only(calls, "shell_exec"), only(calls, "shell_run")
    assert failed.came.result["output"]["exit_code"] == 1
    assert passed.came.result["output"]["stdout"] == "both tills add up\n"
    kept = only(calls, "memory_read")[0]  # a run later
    assert "The last coin is lost." in kept.came.result["content"]
    (shown,) = only(calls, "bash")
    assert "REDACTED" in shown.came.result["stdout"]
    (ran,) = only(calls, "session_run_child")
    assert ran.came.result["response"] == "The till was looked at: one function, total."
    children = only(calls, "session_list_children")[-1].came.result["sessions"]
    assert [one["relation_to_current"] for one in children] == ["child", "child"]


def check_refused(calls: list[Call], refused: Call) -> None:
    """Told why, and what to do, which can be called as it stands."""
    came = refused.came
    assert (came.ok, came.kind, came.outcome_status) == (False, "rejected", "not_ready")
    assert "requires outcome_evaluate to return status=pass; it returns not_ready" in came.message
    assert f"Next: {came.next_step['tool']}." in came.message
    follows = calls[calls.index(refused) + 1]
    assert (follows.tool, follows.args) == (came.next_step["tool"], came.next_step["args"])
    assert follows.came.ok


def check_verbs(job: Job) -> None:
    """The program's own verbs find everything in order, and show no secret."""
    home = job.folder / "home"
    session = job.session.read_text("utf-8")
    replayed = start("replay", session, "--run", home=home)
    verified = start("audit", "verify", home=home)
    shown = start("sessions", "show", session, home=home)
    for one in (replayed, verified, shown):
        assert one.status == 0, one.err
        assert KEY not in one.out + one.err
    assert "all as written" in verified.out + verified.err


async def test_a_later_session_finds_what_was_done_and_where_it_stands(
    tmp_path: Path, at_work: Workers
) -> None:
    job = prepared(tmp_path)
    await Round(job, at_work).to_the_end()
    later = msgspec.structs.replace(job, message=ASKS)
    await Round(later, at_work).to_the_end()
    calls = await calls_of(later)
    assert [one for one in calls if not one.came.ok] == []
    root = job.session.read_text("utf-8")
    check_hits(calls, root)
    check_listed(calls, root)
    memory = only(calls, "memory_read")[-1]
    assert NOTE in memory.came.result["content"]
    learned = only(calls, "learning_list")[-1]
    assert [one["title"] for one in learned.came.result["learnings"]] == ["Coins"]
    stranger = msgspec.structs.replace(later, agent="stranger")
    await Round(stranger, at_work).to_the_end()
    check_stranger(await calls_of(stranger), stranger.session.read_text("utf-8"))
    async with store_of(job) as store:
        assert len(await sessions_in(store)) == 5


SEARCHES = ("memory_search", "session_search_context", "session_search_traces", "retrieval_search")


def check_hits(calls: list[Call], root: str) -> None:
    """Each search finds it, and each hit leads to what it tells of."""
    answers = {(one.tool, str(one.args)): one.came.result for one in calls}
    for search in SEARCHES:
        hits = only(calls, search)[0].came.result["hits"]
        assert root in {one.get("session_id") for one in hits}, search
        for hit in hits:
            step = hit["expansion"]
            check_led(hit, answers[step["tool"], str(step["args"])], step)


def check_led(hit: dict[str, Any], answer: Any, step: dict[str, Any]) -> None:
    """To the very event, or the very run."""
    match step["tool"]:
        case "session_get_events":
            assert hit["event_id"] in {one["id"] for one in answer["events"]}
        case "session_get_trace":
            assert {one["wake_id"] for one in answer["events"]} == {hit["wake_id"]}
        case tool:
            assert tool.startswith(("memory_", "outcome_", "session_", "learning_", "shell_"))


def check_listed(calls: list[Call], root: str) -> None:
    (listed,) = only(calls, "session_list")
    summary = next(one for one in listed.came.result["sessions"] if one["session_id"] == root)
    assert (summary["relation_to_current"], summary["child_count"]) == (None, 2)
    assert (summary["setup_matches_current"], summary["outcome_matches_current"]) == (True, True)
    assert (summary["outcome_status"], summary["promotion_ready"]) == ("pass", True)
    assert summary["active_outcome"]["title"] == OUTCOME["title"]
    history = next(
        one.came.result
        for one in only(calls, "outcome_history")
        if one.args == {"session_id": root}
    )
    statuses = [one["evaluation"]["status"] for one in history["evaluations"]]
    assert (statuses[0], statuses[-1]) == ("blocked", "pass")
    assert "not_ready" in statuses
    compared = next(
        one.came.result
        for one in only(calls, "agent_compare_setup")
        if one.args == {"session_id": root}
    )
    assert (compared["same_setup"], compared["changed_sections"]) == (True, [])


def check_stranger(calls: list[Call], own: str) -> None:
    """A session of another agent finds nothing."""
    for search in SEARCHES:
        assert [one.came.result["hits"] for one in only(calls, search)] == [[]]
    (listed,) = only(calls, "session_list")
    assert [one["session_id"] for one in listed.came.result["sessions"]] == [own]
    (memory,) = only(calls, "memory_read")
    assert NOTE not in memory.came.result["content"]
    (learned,) = only(calls, "learning_list")
    assert learned.came.result["learnings"] == []
