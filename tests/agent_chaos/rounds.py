"""Kill the program of an agent at any moment, have another take the session up, and look on.

A program stands still at a moment that was chosen for it, or is stopped from outside, and is killed
there with -9: whether it was under way is known, and counted. People answer from here, in another
process, whether a program runs or not. What must hold after every round is in `looking`.
"""

import os
import random
import signal
import time
from collections import Counter
from itertools import count
from pathlib import Path
from typing import NamedTuple

import anyio
import msgspec
from agent_chaos.looking import check_round, children_under_way, last_moment
from agent_chaos.worker import Job, Moment
from forked_workers import Workers, lives, stands_still

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
LONGEST_RUN = 40.0
KILLS_OF_ONE = 5
"""How often the program of one session is killed at most."""
_SECONDS_TO_GO = 5.0


class Round(NamedTuple):
    """One session that is killed again and again."""

    job: Job
    at_work: Workers
    dice: random.Random
    killed: Counter[str]
    """What was under way, counted by kills."""

    async def kill_one(self, moment: Moment | None) -> bool:
        """Start a program, kill it at a moment, or at any without one; whether it still ran."""
        job = self.job
        if moment is not None:
            job = msgspec.structs.replace(job, moment=moment)
        number = self.at_work.start(job)
        seconds = LONGEST_RUN if moment is not None else self.dice.random() * 0.4
        await self._live(number, time.monotonic() + seconds)
        if lives(number):
            os.kill(number, signal.SIGSTOP)  # its number is its own until its end is asked for
        jobs = bool(_running(job.marker))
        os.kill(number, signal.SIGKILL)
        status = self.at_work.ended()
        assert status in {0, signal.SIGKILL}, f"a program failed: {job}"
        self.check_nobody_is_left()
        if status == 0:
            return False
        under_way = await children_under_way(job)
        self.killed.update(["kill", *under_way, *(["job"] if jobs else [])])
        return True

    async def run_to_the_end(self) -> None:
        """A program that nobody kills comes to the end of it."""
        number = self.at_work.start(self.job)
        await self._live(number, time.monotonic() + LONGEST_RUN)
        late = lives(number)
        if late:
            os.kill(number, signal.SIGKILL)
        status = self.at_work.ended()
        if late:
            raise AssertionError(f"the session never came to rest: {await last_moment(self.job)}")
        assert status == 0, "taking the session up failed"
        self.check_nobody_is_left()

    def moments(self) -> list[Moment | None]:
        """Where it is killed: first with a subagent under way, for such work comes only once."""
        dice = self.dice
        of = dice.choice(["blocking", "background"])
        first = {"at": dice.choice(["before", "after"]), "of": of, "number": dice.randrange(1, 9)}
        later: list[Moment | None] = [
            *(None, None),
            Moment(at="before", number=dice.randrange(1, 13)),
            Moment(at="after", number=dice.randrange(1, 13)),
            Moment(at="effect", number=dice.randrange(1, 4)),
        ]
        dice.shuffle(later)
        return [msgspec.convert(first, Moment), *later][:KILLS_OF_ONE]

    def check_nobody_is_left(self) -> None:
        until = time.monotonic() + _SECONDS_TO_GO
        while left := _running(self.job.marker):
            if time.monotonic() > until:
                for number in left:
                    os.kill(number, signal.SIGKILL)
                raise AssertionError(f"processes outlived their program: {left}")
            time.sleep(0.01)

    async def interrupt(self) -> None:
        """Somebody wants something else, while no program runs."""
        if self.job.session.exists():
            async with opened_store(Settings(), surroundings=self.job.surroundings) as store:
                session = self.job.session.read_text("utf-8")
                await store.journal.append(session, [UserInterrupt(note="Another way, please.")])

    async def _live(self, number: int, until: float) -> None:
        """Be there for what it asks, until it ends, stands still, or has had its time."""
        while lives(number) and not stands_still(number) and time.monotonic() < until:
            await self._answer_what_waits()
            await anyio.sleep(min(0.02, max(until - time.monotonic(), 0)))

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


async def killed_so_often(folder: Path, at_work: Workers, seed: int, kills: int) -> Counter[str]:
    """Sessions, each from its beginning to its end over several dead programs, until so many real
    kills; what was under way at them."""
    killed: Counter[str] = Counter()
    for number in count(seed):
        if killed["kill"] >= kills:
            return killed
        await one_session(folder / str(number), at_work, number, killed)
    raise AssertionError


async def one_session(folder: Path, at_work: Workers, seed: int, killed: Counter[str]) -> None:
    """One session from its beginning to its end, over several dead programs."""
    marker = f"{os.getpid()}{seed:06}"
    job = Job(home=str(folder), seed=seed, marker=marker)
    job.workspace.mkdir(parents=True)
    one = Round(job, at_work, random.Random(seed), killed)
    try:
        begun: dict[str, bool] = {}
        for moment in one.moments():
            if not await one.kill_one(moment):
                break  # it has come to its end
            begun |= await last_moment(job)
            if one.dice.random() < 0.15:
                await one.interrupt()
        await one.run_to_the_end()
        await check_round(job, begun)
    except AssertionError as problem:
        problem.add_note(f"seed {seed}, in {folder}")
        raise
