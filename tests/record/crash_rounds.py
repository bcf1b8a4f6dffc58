"""Kill workers at random moments, have others take everything up, and look at what is left."""

import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import anyio
import msgspec
from forked_workers import Workers, lives
from record.crash_stores import Place, store_at
from record.crash_worker import Job, Line
from record.store_places import EVERY_EVENT

from holdfast.contract.archive import SessionQuery
from holdfast.contract.events import (
    CallAsked,
    CallIntended,
    CallSettled,
    Event,
)
from holdfast.record.codec import GENESIS, Chain, Stored, event_of, is_genuine

WORKER = Path(__file__).parent / "crash_worker.py"
KILLS_A_HOME = 15
"""After so many, another begins: what is checked stays small."""
_DEATHS = (
    ("before", "call.intended"),
    ("after", "call.intended"),
    ("before", "approval.answered"),
    ("after", "approval.answered"),
    ("after", "approval.asked"),
    ("before", "call.settled"),
    ("after", "call.settled"),
    ("commit", ""),
    ("commit", ""),
)


def lines(path: Path) -> list[Line]:
    if not path.exists():
        return []
    told = path.read_bytes()
    return [msgspec.json.decode(one, type=Line) for one in told.split(b"\n")[:-1]]


class Round(NamedTuple):
    """One home that workers are killed over, again and again."""

    place: Place
    at_work: Workers
    dice: random.Random

    @property
    def told(self) -> Path:
        return Path(self.place.home) / "told"

    @property
    def effects(self) -> Path:
        return Path(self.place.home) / "effects"

    def job(self, do: str, sessions: Iterable[str]) -> Job:
        return Job(
            place=self.place,
            told=str(self.told),
            effects=str(self.effects),
            seed=self.dice.randrange(1 << 30),
            do="work" if do == "work" else "take_up",
            sessions=tuple(sessions),
        )

    def kill_one(self, sessions: list[str]) -> None:
        """Start a worker, and kill it: by itself at a place, or from here at a moment."""
        dice = self.dice
        job = self.job(dice.choice(["work"] * 4 + ["take_up"]), self._some(sessions))
        if dice.random() < 0.4:
            die, die_of = dice.choice(_DEATHS)
            changed = {"die": die, "die_of": die_of, "die_on": dice.randrange(1, 12)}
            job = msgspec.convert({**msgspec.to_builtins(job), **changed}, Job)
        before = len(lines(self.told))
        number = self.at_work.start(job)
        if not job.die:
            said, longest = dice.choice([("opening", 0.03), ("ready", 0.08), ("ready", 0.2)])
            self._wait_for(said, before)
            time.sleep(dice.random() * longest)
        else:
            self._let_die(number)
        os.kill(number, signal.SIGKILL)  # its number is its own until its end is asked for
        status = self.at_work.ended()
        assert status in {0, signal.SIGKILL}, f"a worker failed: {job}"

    def take_all_up(self) -> list[Line]:
        """Have a process that is not killed take up every session; what it told."""
        before = len(lines(self.told))
        self.at_work.start(self.job("take_up", ()))
        assert self.at_work.ended() == 0, "taking sessions up failed"
        return lines(self.told)[before:]

    def _some(self, sessions: list[str]) -> list[str]:
        return self.dice.sample(sessions, min(len(sessions), 3))

    def _wait_for(self, said: str, before: int) -> None:
        until = time.monotonic() + 5
        while not any(line.said in {said, "done"} for line in lines(self.told)[before:]):
            assert time.monotonic() < until, f"a worker never said {said!r}"
            time.sleep(0.002)

    def _let_die(self, number: int) -> None:
        """It may never come to the place it would die at."""
        until = time.monotonic() + 0.3
        while time.monotonic() < until and lives(number):
            time.sleep(0.005)


def killed_again_and_again(place: Place, at_work: Workers, seed: int, kills: int) -> int:
    """Kill workers over one home, and look after each; how many effects there were."""
    one = Round(place, at_work, random.Random(seed))
    sessions: list[str] = []
    effects: list[str] = []
    for number in range(kills):
        try:
            one.kill_one(sessions)
            last = one.take_all_up()
            effects = one.effects.read_text("utf-8").split() if one.effects.exists() else []
            calls = anyio.run(check, place, lines(one.told), effects)
            check_taken_up(last, {name for name, key in calls.keys.items() if key in effects})
        except AssertionError as problem:
            problem.add_note(f"seed {seed}, kill {number + 1}, in {place.home}")
            raise
        sessions = calls.sessions
    return len(effects)


async def check(place: Place, told: list[Line], effects: list[str]) -> "Calls":
    """Look at all that is left after a kill, and after it was taken up."""
    async with store_at(place) as (_journal, archive, parts):
        rows = [Stored(*row) for row in parts.reader.rows(EVERY_EVENT, ())]
        sessions = [one.id for one in await archive.sessions(SessionQuery(limit=10_000))]
        for session_id in sessions:
            assert await archive.rebuild(session_id, repair=False) == ()
    by_session: dict[str, list[Stored]] = {name: [] for name in sessions}
    for row in rows:
        by_session[row.session_id].append(row)
    for of_one in by_session.values():
        check_chain(of_one, place.chain)
    calls = Calls([event_of(row) for row in rows], sessions)
    assert max(Counter(effects).values(), default=1) == 1, "an effect happened twice"
    assert set(effects) <= calls.intended_keys, "an effect without an intent"
    for line in told:
        if line.said == "answer":
            assert calls.answers[line.session, line.call] == line.envelope
            happened = line.key in effects
            assert not line.key or happened is ('"ok":true' in line.envelope)
    return calls


def check_chain(rows: list[Stored], chain: Chain) -> None:
    assert [row.sequence for row in rows] == list(range(1, len(rows) + 1))
    assert rows[0].previous == GENESIS
    assert all(is_genuine(row, chain) for row in rows)
    assert all(later.previous == row.hash for row, later in pairwise(rows))


class Calls:
    """What journals tell of calls."""

    def __init__(self, events: list[Event], sessions: list[str]) -> None:
        self.sessions = sessions
        self.keys: dict[str, str] = {}
        self.intended_keys: set[str] = set()
        self.answers: dict[tuple[str, str], str] = {}
        for event in events:
            match event.payload:
                case CallAsked(call_id=call_id, arguments=arguments):
                    assert call_id not in self.keys
                    self.keys[call_id] = json.loads(arguments)["key"]
                case CallIntended(call_id=call_id):
                    assert self.keys[call_id] not in self.intended_keys
                    self.intended_keys.add(self.keys[call_id])
                case CallSettled(call_id=call_id, envelope=envelope):
                    assert (event.session_id, call_id) not in self.answers
                    self.answers[event.session_id, call_id] = bytes(envelope).decode()
                case _:
                    pass


def check_taken_up(told: list[Line], calls_with_effect: set[str]) -> None:
    """Only questions wait; they were answered once; what was allowed has run, and told its end."""
    ended = {line.call for line in told if line.said == "answer" and '"ok":true' in line.envelope}
    for line in told:
        match line.said:
            case "loaded":
                assert set(line.open_calls.values()) <= {"waiting None", "answered True"}
                for call, stage in line.open_calls.items():
                    assert stage == "waiting None" or call in ended & calls_with_effect
            case "resumed":
                assert set(line.open_calls.values()) <= {"waiting None"}
            case "second":
                assert line.key == "1", "both answers to one question counted, or none"
            case _:
                pass
