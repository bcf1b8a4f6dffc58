"""Processes that run sessions, and what a test does to them from outside."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
from interrupts import until
from this_tree import this_tree

from holdfast.app.control import places, wire
from holdfast.app.control.client import Owner, owner_of
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.store import open_store
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.events import Event
from holdfast.contract.journal import Journal
from holdfast.engine.cluster.bus import bus_place
from holdfast.engine.cluster.door import NatsServers
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

PROGRAM = Path(__file__).with_name("owner.py")
Turns = list[dict[str, Any]]
PATIENCE = 15.0
"""How long anything may take on a busy machine; nothing is decided by it."""


class Running:
    """A process that runs a session."""

    def __init__(self, place: "Place", process: "subprocess.Popen[str]", session_id: str) -> None:
        self.place = place
        self.process = process
        self.session_id = session_id

    def ended(self) -> dict[str, str]:
        """How the run ended."""
        out, err = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, err
        return json.loads(out.splitlines()[-1])

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)

    @asynccontextmanager
    async def owner(self) -> AsyncGenerator[Owner]:
        """The process as another window reaches it, as soon as it listens."""
        async with self.place.journal() as journal:
            lease = (await journal.session(self.session_id)).lease
        assert lease is not None
        with anyio.fail_after(PATIENCE):
            await until(lambda: self.process.pid in map(_process_of, self.place.sockets()))
        async with owner_of(self.session_id, lease.holder, self.place.around) as owner:
            yield owner

    @asynccontextmanager
    async def watched(self, after: int = 0) -> AsyncGenerator[AsyncGenerator[wire.Reply]]:
        """What the process tells another window."""
        with anyio.fail_after(PATIENCE):
            async with self.owner() as owner, aclosing(owner.watch(self.session_id, after)) as told:
                yield told

    async def until(self, fits: Callable[[Event], bool]) -> Event:
        """The first event that fits, once it is written down."""
        async with self.place.journal() as journal:
            with anyio.fail_after(PATIENCE):
                while True:
                    for event in await journal.events(self.session_id):
                        if fits(event):
                            return event
                    await anyio.sleep(0.01)


def _process_of(path: Path) -> int:
    return int(path.name.split("-")[2])


def lines(replies: Iterable[wire.Reply]) -> list[dict[str, Any]]:
    """What was told, as programs read it."""
    told = [bytes(one.told) for one in replies if isinstance(one, wire.TellsLine)]
    return [json.loads(one) for one in told]


class Place:
    """A home, in which processes run sessions."""

    def __init__(
        self, folder: Path, bus: str | None = None, tree: Mapping[str, str] | None = None
    ) -> None:
        """``bus``: the address of a NATS by which its processes are reached, too. ``tree``: the
        variables of processes that are another holdfast than this one."""
        self.folder = folder
        self.bus = bus
        self.home, self.runtime = folder / "home", folder / "run"
        for one in (self.home, self.runtime):
            one.mkdir(mode=0o700, parents=True)
        self.variables = {
            **os.environ,
            "HOLDFAST_HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.runtime),
        }
        self._tree = (tree or this_tree())["PYTHONPATH"]

    @property
    def around(self) -> Surroundings:
        return surroundings_of_this_process(Settings(), environment=self.variables)

    @property
    def elsewhere(self) -> Surroundings:
        """As a machine sees it that has the store and the bus, and no folder of sockets."""
        assert self.bus is not None
        place = bus_place(NatsServers(servers=(self.bus,)))
        return msgspec.structs.replace(self.around, runtime_homes=(), bus=place)

    @property
    def socket_folder(self) -> Path:
        return next(places.folders(self.around))

    def sockets(self) -> list[Path]:
        found = self.socket_folder
        return sorted(found.glob("[!.]*")) if found.exists() else []

    def release(self, name: str) -> None:
        """Let the model of a process go on."""
        (self.folder / name).touch()

    @contextmanager
    def running(self, turns: Turns) -> Generator[Running]:
        process = subprocess.Popen(
            [
                *(sys.executable, str(PROGRAM), str(self.folder), json.dumps(turns)),
                *([] if self.bus is None else [self.bus]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**self.variables, "PYTHONPATH": self._tree},
        )
        try:
            assert process.stdout is not None
            session_id = process.stdout.readline().strip()
            assert session_id.startswith("ses_"), process.communicate(timeout=PATIENCE)[1]
            yield Running(self, process, session_id)
        finally:
            process.kill()
            process.communicate(timeout=PATIENCE)

    @asynccontextmanager
    async def journal(self) -> AsyncGenerator[Journal]:
        clock = SystemClock()
        store = open_store(Settings(), self.around, clock, TimeIds(clock))
        try:
            yield store.journal
        finally:
            await store.journal.close()

    def cli(self, *words: str, tree: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
        """The command in a window of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "holdfast", "sessions", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**self.variables, "PYTHONPATH": (tree or this_tree())["PYTHONPATH"]},
        )

    def said(self, *words: str) -> tuple[int, str, str]:
        """What the command says: its status and both streams."""
        with self.cli(*words) as process:
            out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out.decode(), err.decode()
