"""A hand that is made when somebody first reaches for something, and not before."""

import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from holdfast import Holdfast, Runtime, tool
from holdfast.app.later_hand import LaterHand
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.errors import Unavailable
from holdfast.execution.processes.hand import SessionHand

pytestmark = pytest.mark.anyio


@tool(read_only=True)
async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool(requires={"fs": {"write": ["**"]}}, uses={"path": "fs.write"}, read_only=False)
def note(rt: Runtime, path: str) -> str:
    """Write a note. path: where, e.g. 'a.txt'."""
    rt.fs.write(path, b"noted")
    return "noted"


def opened(tmp_path: Path) -> Holdfast:
    around = Surroundings(data_home=tmp_path / "data", state_home=tmp_path / "state")
    workspace = tmp_path / "workspace"
    workspace.mkdir(exist_ok=True)
    return Holdfast(
        tools=[add, note], workspace=workspace, settings=Settings(), surroundings=around
    )


def hand_of(hf: Holdfast) -> LaterHand:
    return hf._hand  # pyright: ignore[reportPrivateUsage] - what is looked at is inside


def made(hand: LaterHand) -> SessionHand | None:
    return hand._hand  # pyright: ignore[reportPrivateUsage] - what is looked at is inside


async def test_a_call_that_reaches_for_nothing_makes_none(tmp_path: Path) -> None:
    hf = opened(tmp_path)
    async with hf:
        assert (await hf.settle("add", {"a": 1, "b": 2})).result == 3
        assert made(hand_of(hf)) is None
    assert made(hand_of(hf)) is None


async def test_the_first_that_reaches_makes_it_for_all(tmp_path: Path) -> None:
    hf = opened(tmp_path)
    async with hf:
        assert (await hf.settle("note", {"path": "a.txt"})).ok
        first = made(hand_of(hf))
        assert first is not None
        assert (await hf.settle("note", {"path": "b.txt"})).ok
        assert made(hand_of(hf)) is first
        assert hf.commands.all() == ()
    async with hf:
        assert (await hf.settle("note", {"path": "c.txt"})).ok
        assert made(hand_of(hf)) is first


async def test_what_is_noticed_is_told_with_the_answer(tmp_path: Path) -> None:
    async with opened(tmp_path) as hf:
        hand = hand_of(hf)
        assert hand.noticed("cal_1") == ()
        hand.notice("cal_1", ["careful"])
        assert (hand.noticed("cal_1"), hand.noticed("cal_1")) == (("careful",), ())


async def test_one_made_after_closing_starts_nothing(tmp_path: Path) -> None:
    handed: list[Runtime] = []

    @tool
    async def keeps(rt: Runtime) -> str:
        """Keep what it was handed."""
        handed.append(rt)
        return "kept"

    around = Surroundings(data_home=tmp_path / "data", state_home=tmp_path / "state")
    hf = Holdfast(tools=[keeps], settings=Settings(), surroundings=around)
    async with hf:
        assert (await hf.settle("keeps")).ok
        assert made(hand_of(hf)) is None
    with pytest.raises(Unavailable, match="session is closed"):
        _ = handed[0].shell


class Watched:
    """A lock that says when somebody else than who made it comes to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._own = threading.get_ident()
        self.came = threading.Event()

    def __enter__(self) -> None:
        if threading.get_ident() != self._own:
            self.came.set()
        self._lock.acquire()

    def __exit__(self, *_problem: object) -> None:
        self._lock.release()


def test_one_that_is_made_while_the_session_closes_is_closed(tmp_path: Path) -> None:
    hand = hand_of(opened(tmp_path))
    lock, make = Watched(), hand.make

    def close() -> None:
        anyio.run(hand.close)
        lock.came.set()

    closing_thread = threading.Thread(target=close)

    def make_meanwhile(*, closed: bool) -> SessionHand:
        closing_thread.start()
        assert lock.came.wait(20)
        return make(closed=closed)

    vars(hand).update(_making=lock, make=make_meanwhile)
    assert hand.commands.all() == ()
    closing_thread.join(20)
    found = made(hand)
    assert found is not None
    assert found._closed  # pyright: ignore[reportPrivateUsage] - what is looked at is inside


KILLED = """
import os, signal, sys
from pathlib import Path
import anyio
from holdfast import Holdfast, tool
from holdfast.app.settings import Settings, Surroundings

async def dies() -> None:
    'Die.'
    os.kill(os.getpid(), signal.SIGKILL)

async def main() -> None:
    home = Path(sys.argv[1])
    given = {"read_only": True} if sys.argv[2] == "pure" else {}
    async with Holdfast(
        tools=[tool(**given)(dies)],
        settings=Settings(),
        surroundings=Surroundings(data_home=home / "data", state_home=home / "state"),
    ) as hf:
        await hf.settle("nobody")
        await hf.settle("dies")

anyio.run(main)
"""


@pytest.mark.parametrize(
    ("kind", "left"), [("pure", []), ("unknown", ["call.asked", "call.intended"])]
)
def test_of_a_call_that_a_kill_ended_stands_what_it_may_have_done(
    tmp_path: Path, kind: str, left: list[str]
) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), kind], check=False)
    assert killed.returncode == -signal.SIGKILL
    with closing(sqlite3.connect(tmp_path / "data" / "holdfast.db")) as connection:
        rows = connection.execute("SELECT type FROM events ORDER BY place").fetchall()
    before = ["session.created", "call.asked", "call.settled"]
    assert [row[0] for row in rows] == before + left
