"""The same story, whose program is killed with -9 where it hurts: it comes to the same end."""

import os
import random
from pathlib import Path

import pytest
from agent_chaos.rounds import processes_with
from forked_workers import Workers
from managed_story.looking import check_told
from managed_story.rounds import Round, nobody, prepared, random_kills
from managed_story.script import HELD
from managed_story.worker import Moment

from holdfast import open_questions

pytestmark = pytest.mark.anyio

SEED = int(os.environ.get("SEED", "1"))
PROMOTE, RESTORE = "resources_promote_to_substrate", "resources_restore_version"


async def test_a_command_that_ran_when_its_program_was_killed_is_not_run_again(
    tmp_path: Path, at_work: Workers
) -> None:
    job = prepared(tmp_path)
    told = Round(job, at_work)
    (job.workspace / HELD).touch()
    ran = job.workspace / "ran.txt"
    assert await told.killed(Moment(), until=ran.exists)
    (job.workspace / HELD).unlink()
    await told.to_the_end()
    await check_told(job)
