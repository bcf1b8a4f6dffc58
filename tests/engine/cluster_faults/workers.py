"""Workers as processes, each with ways of its own to every server: over cables, where there are."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio
from anyio.abc import SocketAttribute, TaskGroup
from engine.cluster_faults.cables import Machine, machine
from engine.cluster_faults.disks import Disk
from engine.cluster_faults.relay import Opens, Relay, SocketOf
from nats_server import NatsNode

_CHILD = Path(__file__).with_name("effects.py")
_SOCKET = ".s.PGSQL.5432"
# Leases are short here: nobody may keep a session locked for longer than one of them.
_SOON_FREE = "-c%20transaction_timeout%3D1000"


class Place(NamedTuple):
    """Where everything is that workers share."""

    folder: Path
    postgres: Path
    """The folder of its socket."""
    database: str
    """Its URL, without the host."""
    nodes: Sequence[NatsNode]
    namespace: str
    child: Path = _CHILD
    disks: Mapping[str, Disk] = {}
    """Of workers that have one of their own, by their names."""

    @property
    def effects(self) -> Path:
        return self.folder / "effects.txt"

    def before(self, name: str) -> Sequence[str]:
        """What comes before the command of a worker."""
        return self.disks[name].before if name in self.disks else ()

    def told(self, name: str) -> Sequence[Path]:
        """What a worker is told of where its things are."""
        if self.child == _CHILD:
            return (self.effects,)
        home = self.disks[name].folder if name in self.disks else self.folder / f"home-{name}"
        return (self.folder, home)


class Worker:
    """One, whatever process it is at the moment."""

    def __init__(self, place: Place, name: str, ways: "Ways") -> None:
        self.name = name
        self.postgres = ways.postgres
        self.nats = ways.nats
        self._place = place
        self._ways = ways
        self._process: subprocess.Popen[bytes] | None = None
        self._told = place.folder / f"{name}.txt"
        self._read = 0

    def start(self) -> None:
        place = self._place
        ways = self._ways
        asked = [*ways.urls, place.namespace, self.name, *place.told(self.name)]
        trouble = place.folder / f"{self.name}.err"
        with self._told.open("ab") as out, trouble.open("ab") as err:
            self._process = subprocess.Popen(
                [*place.before(self.name), *ways.before, sys.executable, place.child, *asked],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
            )

    def kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            assert process.stdin is not None
            process.stdin.close()

    def signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            os.kill(self._process.pid, number)

    @property
    def holder(self) -> str:
        """As whom it has leases."""
        return f"{self.name}_{0 if self._process is None else self._process.pid}"

    @property
    def has_ended(self) -> bool:
        """By itself: none of them should."""
        return self._process is not None and self._process.poll() is not None

    @property
    def has_begun(self) -> bool:
        """Ever."""
        return self._told.exists() and "begun" in self._told.read_text("utf-8")

    def lines(self) -> list[str]:
        """What it said since it was asked last."""
        if not self._told.exists():
            return []
        lines = self._told.read_text("utf-8").splitlines()
        new, self._read = lines[self._read :], len(lines)
        return new

    def trouble(self) -> str:
        return (self._place.folder / f"{self.name}.err").read_text("utf-8")


@asynccontextmanager
async def working(place: Place, count: int) -> AsyncGenerator[list[Worker]]:
    """So many workers, which run."""
    place.effects.touch()
    async with anyio.create_task_group() as group, AsyncExitStack() as stack:
        stack.callback(group.cancel_scope.cancel)
        workers: list[Worker] = []
        for number in range(count):
            apart = stack.enter_context(machine())
            worker = await _worker(place, f"w{number}", apart, group)
            stack.callback(worker.kill)
            worker.start()
            workers.append(worker)
        while not all(worker.has_begun for worker in workers):  # noqa: ASYNC110 - it says so to a file
            await anyio.sleep(0.05)
        yield workers


class Ways(NamedTuple):
    """From a worker to everything."""

    postgres: Relay
    nats: Sequence[Relay]
    urls: tuple[str, str]
    """Of PostgreSQL, and of all of NATS."""
    before: Sequence[str]
    """Comes before its command."""


async def _worker(place: Place, name: str, apart: Machine | None, group: TaskGroup) -> Worker:

    async def way(opens: Opens) -> tuple[Relay, str]:
        cable = None if apart is None else apart.cable()
        host = "127.0.0.1" if cable is None else cable.outside
        relay = Relay(opens, cable)
        listener = await anyio.create_tcp_listener(local_host=host)
        group.start_soon(relay.serve, listener)
        return relay, f"{host}:{listener.extra(SocketAttribute.local_port)}"

    postgres, at = await way(partial(SocketOf.connected, str(place.postgres / _SOCKET)))
    user, _, database = place.database.rpartition("@/")
    url = f"{user}@{at}/{database}?options={_SOON_FREE}"
    ports = [int(node.url.rpartition(":")[2]) for node in place.nodes]
    nats = [await way(partial(anyio.connect_tcp, "127.0.0.1", port)) for port in ports]
    urls = ",".join(f"nats://{found}" for _, found in nats)
    ways = Ways(postgres, [relay for relay, _ in nats], (url, urls), _before(apart))
    return Worker(place, name, ways)


def _before(apart: Machine | None) -> Sequence[str]:
    return () if apart is None else apart.inside
