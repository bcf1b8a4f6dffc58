"""Kill the program of an agent at any moment, have another take the session up, and look on.

People answer from here, in another process, whether a program runs or not. What must hold after
every round is in `looking`.
"""

import os
import random
import signal
import time
from pathlib import Path
from typing import NamedTuple

import anyio
import msgspec
from agent_chaos.looking import check_round, last_moment
from agent_chaos.worker import Job
from forked_workers import Workers, lives

from holdfast import (
    Answer,
    Inquiry,
    Question,
    Replies,
    answer_inquiry,
    answer_question,
    open_inquiries,
    open_questions,
)
from holdfast.app.session_store import NothingStored, opened_store
from holdfast.app.settings import Settings
from holdfast.contract.archive import SessionQuery
from holdfast.contract.events import CustomToolResult, UserInterrupt
from holdfast.contract.journal import NotFitting

WORKER = Path(__file__).parent / "worker.py"
LONGEST_LAST_RUN = 40.0
_SECONDS_TO_GO = 5.0


class Round(NamedTuple):
    """One session that is killed again and again."""

    job: Job
    at_work: Workers
    dice: random.Random

    async def kill_one(self) -> None:
        """Start a program, kill it somewhere, and see what it leaves behind."""
        dice, job = self.dice, self.job
        alone = dice.random() < 0.6
        if alone:
            changed = {"die": dice.choice(["before", "after"]), "die_on": dice.randrange(1, 25)}
            job = msgspec.convert({**msgspec.to_builtins(job), **changed}, Job)
        number = self.at_work.start(job)
        until = time.monotonic() + (3 if alone else dice.random() * 0.6)
        await self._live(number, until)
        os.kill(number, signal.SIGKILL)  # its number is its own until its end is asked for
        status = self.at_work.ended()
        assert status in {0, signal.SIGKILL}, f"a program failed: {job}"
        self.check_nobody_is_left()
        if dice.random() < 0.15:
            await self._interrupt()

    async def run_to_the_end(self) -> None:
        """A program that nobody kills comes to the end of it."""
        number = self.at_work.start(self.job)
        await self._live(number, time.monotonic() + LONGEST_LAST_RUN)
        late = lives(number)
        if late:
            os.kill(number, signal.SIGKILL)
        status = self.at_work.ended()
        if late:
            raise AssertionError(f"the session never came to rest: {await last_moment(self.job)}")
        assert status == 0, "taking the session up failed"
        self.check_nobody_is_left()

    def check_nobody_is_left(self) -> None:
        until = time.monotonic() + _SECONDS_TO_GO
        while left := _running(self.job.marker):
            if time.monotonic() > until:
                for number in left:
                    os.kill(number, signal.SIGKILL)
                raise AssertionError(f"processes outlived their program: {left}")
            time.sleep(0.01)

    async def _live(self, number: int, until: float) -> None:
        """Be there for what it asks, until it ends or has had its time."""
        while lives(number) and time.monotonic() < until:
            await self._answer_what_waits()
            await anyio.sleep(0.02)

    async def _answer_what_waits(self) -> None:
        options = self.job.store
        for question in await open_questions(None, **options):
            await self._decide(question)
        for inquiry in await open_inquiries(None, **options):
            await self._reply(inquiry)
        await self._fulfil()

    async def _decide(self, question: Question) -> None:
        """Two may answer at once; the first counts."""
        options = self.job.store
        both = self.dice.random() < 0.3
        refused = 0
        for _ in range(1 + both):
            answer = Answer(allowed=self.dice.random() < 0.8, by="ada")
            try:
                await answer_question(question.session_id, question.approval_id, answer, **options)
            except NotFitting:
                refused += 1
        assert refused >= both, "two answers to one question counted"

    async def _reply(self, inquiry: Inquiry) -> None:
        replies = Replies(answers=(("blue",),), by="ada")
        options = self.job.store
        try:
            await answer_inquiry(inquiry.session_id, inquiry.call_id, replies, **options)
        except NotFitting:
            return  # it has ended meanwhile

    async def _fulfil(self) -> None:
        """What the application is asked for."""
        try:
            async with opened_store(Settings(), surroundings=self.job.surroundings) as store:
                for one in await store.archive.sessions(SessionQuery(limit=100)):
                    wanted = one.state.custom
                    if wanted is None or wanted.answered_by is not None:
                        continue
                    given = CustomToolResult(
                        request_id=wanted.id, tool_name=wanted.name, output="ordered"
                    )
                    try:
                        await store.journal.append(one.id, [given])
                    except NotFitting:
                        continue  # it was given up meanwhile
        except NothingStored:
            return

    async def _interrupt(self) -> None:
        """Somebody wants something else, while no program runs."""
        if self.job.session.exists():
            async with opened_store(Settings(), surroundings=self.job.surroundings) as store:
                session = self.job.session.read_text("utf-8")
                await store.journal.append(session, [UserInterrupt(note="Another way, please.")])


def _running(marker: str) -> list[int]:
    """The processes whose command line holds the marker."""
    found: list[int] = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                line = (place / "cmdline").read_bytes()
            except OSError:
                continue  # it has ended
            if marker.encode() in line:
                found.append(int(place.name))
    return found


async def killed_again_and_again(folder: Path, at_work: Workers, seed: int, kills: int) -> int:
    """One session from its beginning to its end, over several dead programs; its effects."""
    marker = f"{os.getpid()}{seed:06}"
    job = Job(home=str(folder), seed=seed, marker=marker)
    job.workspace.mkdir(parents=True)
    one = Round(job, at_work, random.Random(seed))
    try:
        begun: dict[str, bool] = {}
        for _ in range(kills):
            await one.kill_one()
            begun |= await last_moment(job)
        await one.run_to_the_end()
        return await check_round(job, begun)
    except AssertionError as problem:
        problem.add_note(f"seed {seed}, in {folder}")
        raise
