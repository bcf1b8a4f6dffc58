"""Sessions with five wakes each on the trial that `holdfast cluster up` starts, whose parts are
killed and stopped meanwhile: all run to completion, each word is taken up once, and all verify.

SEED chooses what is hit, SESSIONS how many sessions there are, WORDS how many wakes each has.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import anyio
import psycopg
import pytest
from agent_scripts import says, script
from command import HOLDFAST

from holdfast import Holdfast
from holdfast.contract.events import UserMessage
from holdfast.contract.journal import Journal, JournalUnavailable

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(0)]

SEED = int(os.environ.get("SEED", "1"))
SESSIONS = int(os.environ.get("SESSIONS", "10000"))
WORDS = int(os.environ.get("WORDS", "5"))
LEASE_SECONDS = 6
LONGEST_STANDSTILL = 900.0
"""Nothing comes to its end for so long: something is stuck."""
_NOBODY_RUNS_IT = (
    "(holder IS NULL OR until <= CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint))"
)
_PROGRAMS = ("worker-1", "worker-2", "nats-1", "nats-2", "nats-3")


class Up(NamedTuple):
    """A trial that runs."""

    folder: Path
    url: str

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("SET search_path = holdfast")
            return connection.execute(statement.encode()).fetchall()

    def program(self, name: str) -> int | None:
        """The process that writes to a log, and is no shell that waits for it."""
        log = str(self.folder / f"{name}.log")
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if str((place / "fd" / "1").readlink()) != log:
                    continue
                if (place / "comm").read_text("utf-8").strip() not in {"sh", "unshare"}:
                    return int(place.name)
        return None


@contextmanager
def trial(home: Path, workspace: Path) -> Generator[Up]:
    settings = (f"engine.lease_seconds={LEASE_SECONDS}", "engine.heartbeat_seconds=1")
    sets = [word for one in settings for word in ("--set", one)]
    with (
        (home.parent / "up.log").open("wb") as told_there,
        subprocess.Popen(
            [str(HOLDFAST), "cluster", "up", "--json", "--workspace", str(workspace), *sets],
            stdout=subprocess.PIPE,
            stderr=told_there,
            env={**os.environ, "HOLDFAST_HOME": str(home)},
        ) as process,
    ):
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            config = Path(told["config"])
            shutil.copy(config, home / "config.toml")
            found = re.search(r'url = "(.*)"', config.read_text("utf-8"))
            assert found is not None
            yield Up(config.parent, found.group(1))
            assert process.poll() is None
        finally:
            process.terminate()
            process.wait(60)


@pytest.fixture
def up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Generator[Up]:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a long run; --run-soak")
    home, workspace = tmp_path / "home", tmp_path / "work"
    workspace.mkdir()
    home.mkdir(mode=0o700)
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    with trial(home, workspace) as up:
        yield up


async def test_every_session_comes_to_its_end_whatever_is_killed(up: Up, tmp_path: Path) -> None:
    dice = random.Random(SEED)
    # A worker that keeps a session open goes on with the script where it was.
    model = script(tmp_path, *[says("Done.")] * 2 * WORDS)
    hits: Counter[str] = Counter()
    began = time.monotonic()
    async with Holdfast(workspace=str(tmp_path / "work"), profile="bare") as hf:
        names = await begun(hf, model)
        report(f"{len(names)} sessions after {time.monotonic() - began:.0f} s")
        journal = (await hf.agents.all_sessions()).journal
        async with anyio.create_task_group() as group:
            group.start_soon(troubled, up, dice, hits)
            await talked_to(up, journal, names)
            group.cancel_scope.cancel()
    passed = time.monotonic() - began
    report(f"{len(names) * WORDS} wakes, {passed:.0f} s, hit: {dict(hits)}")
    assert hits.total() >= 3
    for name, count in hits.items():
        assert count, name
    check(up, names)


async def begun(hf: Holdfast, model: str) -> list[str]:
    """Sessions in which nothing was said yet."""
    names: list[str] = []

    async def one() -> None:
        session = await hf.new_session(model=model)
        await session.send("1")
        names.append(session.id)
        await session.close()

    for _ in range(0, SESSIONS, 50):
        await together(one for _ in range(min(50, SESSIONS - len(names))))
    return names


async def together(works: Iterable[Callable[[], Coroutine[object, object, object]]]) -> None:
    async with anyio.create_task_group() as group:
        for work in works:
            group.start_soon(work)


async def talked_to(up: Up, journal: Journal, names: Sequence[str]) -> None:
    """Each hears its next word once it has come to rest from the one before."""
    said = dict.fromkeys(names, 1)
    changed = time.monotonic()
    while True:
        await anyio.sleep(0.5)
        try:
            at_rest = await anyio.to_thread.run_sync(resting, up)
        except psycopg.Error:
            continue  # it is being started again
        over = [name for name in names if said[name] == WORDS and at_rest.get(name) == WORDS]
        if len(over) == len(names):
            return
        free = [name for name in names if said[name] < WORDS and at_rest.get(name) == said[name]]
        if free:
            changed = time.monotonic()
        assert time.monotonic() - changed < LONGEST_STANDSTILL, "something is stuck"
        for first in range(0, len(free), 200):
            await together(Saying(journal, name, said) for name in free[first : first + 200])


class Saying(NamedTuple):
    """The next word, said once: what may have been lost is said again under its id."""

    journal: Journal
    name: str
    said: dict[str, int]

    async def __call__(self) -> None:
        number = self.said[self.name] + 1
        while True:
            with suppress(JournalUnavailable):
                await self.journal.append(
                    self.name, [UserMessage(message=str(number))], ids=[f"evt_{self.name}_{number}"]
                )
                self.said[self.name] = number
                return
            await anyio.sleep(0.2)


def resting(up: Up) -> dict[str, int]:
    """Sessions that nobody runs and nothing is due in, and how many words were answered there."""
    rows = up.rows(
        "SELECT s.id, count(e.id) FROM chat_sessions s LEFT JOIN session_events e"
        " ON e.session_id = s.id AND e.type = 'user.message'"
        f" WHERE s.due IS NULL AND {_NOBODY_RUNS_IT} GROUP BY s.id"
    )
    return {str(name): int(str(count)) for name, count in rows}


async def troubled(up: Up, dice: random.Random, hits: "Counter[str]") -> None:
    """Hit something every few seconds: a worker, a server of NATS, all of PostgreSQL."""
    while True:
        await anyio.sleep(dice.uniform(3, 8))
        kind = dice.choice(("kill worker", "stop worker", "kill nats", "kill postgres"))
        name = dice.choice(_PROGRAMS[:2] if "worker" in kind else _PROGRAMS[2:])
        pid = up.program("postgres" if kind == "kill postgres" else name)
        if pid is None:
            continue
        with suppress(ProcessLookupError):
            if kind == "stop worker":
                os.kill(pid, signal.SIGSTOP)
                await anyio.sleep(dice.uniform(0.5, 1.5) * LEASE_SECONDS)
                os.kill(pid, signal.SIGCONT)
            else:
                os.kill(pid, signal.SIGKILL)
            hits[kind] += 1
        await anyio.sleep(4)


def check(up: Up, names: Sequence[str]) -> None:
    """Every word was said once, taken up once, answered; and every journal is whole."""
    done = subprocess.run(
        [str(HOLDFAST), "audit", "verify", "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    rows = up.rows("SELECT session_id, type, count(*) FROM session_events GROUP BY 1, 2")
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for name, kind, count in rows:
        counts[str(name)][str(kind)] = int(str(count))
    report(str(Counter(json.dumps(sorted(one.items())) for one in counts.values()).most_common(3)))
    for name, found in counts.items():
        assert found["user.message"] == found["agent.message"] == WORDS, (name, found)
        assert found["model.failed"] == 0, (name, found)
    (left,) = up.rows(
        f"SELECT count(*) FROM chat_sessions WHERE due IS NOT NULL OR NOT {_NOBODY_RUNS_IT}"
    )
    assert left == (0,)


def report(text: str) -> None:
    sys.stderr.write(f"cluster trial, seed {SEED}: {text}\n")
