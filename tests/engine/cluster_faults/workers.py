"""Workers as processes, each with ways of its own to every server."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio
from anyio.abc import SocketAttribute
from engine.cluster_faults.relay import Relay
from nats_server import NatsNode

_CHILD = Path(__file__).with_name("effects.py")
_SOCKET = ".s.PGSQL.5432"


class Place(NamedTuple):
    """Where everything is that workers share."""

    folder: Path
    postgres: Path
    """The folder of its socket."""
    database: str
    """Its URL, without the host."""
    nodes: Sequence[NatsNode]
    namespace: str

    @property
    def effects(self) -> Path:
        return self.folder / "effects.txt"


class Worker:
    """One, whatever process it is at the moment."""

    def __init__(self, place: Place, name: str, postgres: Relay, nats: Sequence[Relay]) -> None:
        self.postgres = postgres
        self.nats = nats
        self._place = place
        self._name = name
        self._urls: tuple[str, str] = ("", "")
        self._process: subprocess.Popen[bytes] | None = None
        self._told = place.folder / f"{name}.txt"
        self._read = 0

    def reached_by(self, postgres: str, nats: Sequence[str]) -> None:
        self._urls = (postgres, ",".join(nats))

    def start(self) -> None:
        place = self._place
        asked = [*self._urls, place.namespace, self._name, place.effects]
        trouble = place.folder / f"{self._name}.err"
        with self._told.open("ab") as out, trouble.open("ab") as err:
            self._process = subprocess.Popen(
                [sys.executable, _CHILD, *asked], stdin=subprocess.PIPE, stdout=out, stderr=err
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
    def has_ended(self) -> bool:
        """By itself: none of them should."""
        return self._process is not None and self._process.poll() is not None

    def lines(self) -> list[str]:
        """What it said since it was asked last."""
        if not self._told.exists():
            return []
        lines = self._told.read_text("utf-8").splitlines()
        new, self._read = lines[self._read :], len(lines)
        return new

    def trouble(self) -> str:
        return (self._place.folder / f"{self._name}.err").read_text("utf-8")


@asynccontextmanager
async def working(place: Place, count: int) -> AsyncGenerator[list[Worker]]:
    """So many workers, which run."""
    place.effects.touch()
    async with AsyncExitStack() as stack:
        workers: list[Worker] = []
        for number in range(count):
            worker = await _worker(place, f"w{number}", stack)
            stack.callback(worker.kill)
            worker.start()
            workers.append(worker)
        yield workers


async def _worker(place: Place, name: str, stack: AsyncExitStack) -> Worker:
    folder = place.folder / name
    folder.mkdir()
    target = str(place.postgres / _SOCKET)
    postgres = Relay(partial(anyio.connect_unix, target))
    await stack.enter_async_context(
        postgres.listening(await anyio.create_unix_listener(folder / _SOCKET))
    )
    relays: list[Relay] = []
    urls: list[str] = []
    for node in place.nodes:
        port = int(node.url.rpartition(":")[2])
        relay = Relay(partial(anyio.connect_tcp, "127.0.0.1", port))
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        await stack.enter_async_context(relay.listening(listener))
        relays.append(relay)
        urls.append(f"nats://127.0.0.1:{listener.extra(SocketAttribute.local_port)}")
    worker = Worker(place, name, postgres, relays)
    worker.reached_by(f"{place.database}?host={folder}", urls)
    return worker
