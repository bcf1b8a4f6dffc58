"""Play a story in a process, answer what it asks from outside, and kill it where a test wants.

A program stands still at the moment that was chosen for it, and is killed there with -9. What must
hold at the end is in `looking`.
"""

import os
import random
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import anyio
import msgspec
from forked_workers import Workers, lives, stands_still
from managed_story.looking import check_told
from managed_story.script import BROKEN, KEY
from managed_story.worker import Job, Moment

from holdfast import Answer, Question, answer_question, open_questions

WORKER = Path(__file__).parent / "worker.py"
LONGEST_RUN = 60.0
LOOK_SECONDS = 0.02
MOST_KILLS = 3

Answering = Callable[[Question], Awaitable[None]]


def prepared(folder: Path) -> Job:
    """A shared till that loses a coin, and an empty workspace but for a key."""
    job = Job(home=str(folder))
    job.workspace.mkdir(parents=True)
    (job.workspace / "key.txt").write_text(f"{KEY}\n", "utf-8")
    (folder / "home").mkdir(mode=0o700)
    job.shared.mkdir(parents=True)
    (job.shared / "till.py").write_text(BROKEN, "utf-8")
    return job


class Round(NamedTuple):
    """One story."""

    job: Job
    at_work: Workers

    async def to_the_end(self, answering: Answering | None = None) -> None:
        """Nobody kills it, and it comes to its end."""
        number = self.at_work.start(self.job)
        await self._live(number, answering or self.allow, lambda: False)
        late = lives(number)
        if late:
            os.kill(number, signal.SIGKILL)
        status = self.at_work.ended()
        assert (late, status) == (False, 0), "the story did not come to its end"

    async def killed(
        self,
        moment: Moment,
        answering: Answering | None = None,
        until: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Kill it at a moment, or once something is so; whether it came that far."""
        job = msgspec.structs.replace(self.job, moment=moment)
        number = self.at_work.start(job)
        await self._live(number, answering or self.allow, until)
        if lives(number):
            os.kill(number, signal.SIGKILL)
        status = self.at_work.ended()
        assert status in {0, signal.SIGKILL}, "a program failed"
        return status == signal.SIGKILL

    async def allow(self, question: Question) -> None:
        """A person says yes."""
        answer = Answer(allowed=True, by="ada")
        await answer_question(question.session_id, question.approval_id, answer, **self.job.store)

    async def _live(self, number: int, answering: Answering, until: Callable[[], bool]) -> None:
        over = time.monotonic() + LONGEST_RUN
        while lives(number) and not stands_still(number) and not until():
            if time.monotonic() > over:
                return
            for question in await open_questions(None, **self.job.store):
                await answering(question)
            await anyio.sleep(LOOK_SECONDS)


async def told_over_kills(folder: Path, at_work: Workers, seed: int) -> int:
    """Tell it over programs that are killed at moments that dice choose; how often one was."""
    job, dice, killed = prepared(folder), random.Random(seed), 0
    told = Round(job, at_work)
    try:
        for _ in range(MOST_KILLS):
            at, number = dice.choice(["before", "after"]), dice.randrange(1, 120)
            killed += await told.killed(msgspec.convert({"at": at, "number": number}, Moment))
        await told.to_the_end()
        await check_told(job)
    except AssertionError as problem:
        problem.add_note(f"seed {seed}, in {folder}")
        raise
    return killed


async def nobody(_question: Question) -> None:
    """No person is there."""
