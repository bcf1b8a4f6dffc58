"""The same story, whose program is killed with -9 where it hurts: it comes to the same end."""

import os
from pathlib import Path

import pytest
from forked_workers import Workers
from managed_story.looking import check_told
from managed_story.rounds import Round, nobody, prepared, told_over_kills
from managed_story.script import HELD
from managed_story.worker import Moment

from holdfast import open_questions

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

SEED = int(os.environ.get("SEED", "1"))
PROMOTE, RESTORE = "resources_promote_to_substrate", "resources_restore_version"
NOTE, DELEGATE = "memory_promote_note", "session_delegate"


async def test_a_command_that_ran_when_its_program_was_killed_is_not_run_again(
    tmp_path: Path, at_work: Workers
) -> None:
    job = prepared(tmp_path)
    told = Round(job, at_work)
    (job.workspace / HELD).touch()
    assert await told.killed(Moment(), until=(job.workspace / "ran.txt").exists)
    (job.workspace / HELD).unlink()
    await told.to_the_end()
    await check_told(job)


@pytest.mark.parametrize(
    "moments",
    [
        [
            Moment(at="after", kind="call.intended", tool="shell_run"),
            Moment(at="after", kind="call.intended", tool=PROMOTE),
            Moment(at="put", tool=PROMOTE),
            Moment(at="after", kind="resource.promoted", tool=PROMOTE),
        ],
        [
            Moment(at="before", kind="resource.promoted", tool=PROMOTE),
            Moment(at="after", kind="call.intended", tool=RESTORE),
            Moment(at="before", kind="resource.promoted", tool=RESTORE),
            Moment(at="after", kind="call.intended", tool=NOTE),
            Moment(at="before", kind="memory.promoted", tool=NOTE),
        ],
        [
            Moment(at="put", tool=RESTORE),
            Moment(at="after", kind="memory.promoted", tool=NOTE),
            Moment(at="before", kind="session.child_created", tool=DELEGATE),
            Moment(at="after", kind="session.child_created", tool=DELEGATE),
        ],
        [
            Moment(at="before", kind="call.settled", tool=DELEGATE),
            Moment(at="before", kind="session.child_idle"),
            Moment(at="before", kind="call.settled", tool=DELEGATE),
            Moment(at="before", kind="session.status_idle", number=2),
        ],
    ],
    ids=["promoted", "restored", "not in place", "handed on"],
)
async def test_a_story_goes_on_from_its_journal(
    tmp_path: Path, at_work: Workers, moments: list[Moment]
) -> None:
    job = prepared(tmp_path)
    told = Round(job, at_work)
    for moment in moments:
        assert await told.killed(moment), f"it never came to {moment}"
    await told.to_the_end()
    await check_told(job)


async def test_a_question_outlives_its_program_and_its_answer_counts_once(
    tmp_path: Path, at_work: Workers
) -> None:
    job = prepared(tmp_path)
    told = Round(job, at_work)
    for tool in ("shell_exec", "shell_run", PROMOTE):
        before = (job.shared / "till.py").read_bytes()
        assert await told.killed(Moment(at="after", kind="approval.asked", tool=tool), nobody)
        (question,) = await open_questions(None, **job.store)
        assert question.tool == tool
        assert (job.shared / "till.py").read_bytes() == before
        await told.allow(question)  # while no program runs
        assert await open_questions(None, **job.store) == ()
        if tool == "shell_run":
            assert await told.killed(Moment(at="before", kind="call.intended"))
    await told.to_the_end()
    await check_told(job)


@pytest.mark.parametrize("seed", range(SEED * 100, SEED * 100 + 3))
async def test_a_story_that_is_killed_anywhere_comes_to_the_same_end(
    tmp_path: Path, at_work: Workers, seed: int
) -> None:
    assert await told_over_kills(tmp_path / "story", at_work, seed)
