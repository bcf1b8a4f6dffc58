"""What tests of every store of versions share: makers, and programs that write from outside."""

import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from this_tree import this_tree

from holdfast.contract.versions import VersionedStore
from holdfast.record.postgres import door
from holdfast.record.sqlite import versions as sqlite
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

Worker = subprocess.Popen[str]


def made(place: str | Path, most_bytes: int = 1 << 20) -> VersionedStore:
    """A store in a file, or in a database."""
    clock = SystemClock()
    if isinstance(place, Path):
        return sqlite.open_versions(place, clock, TimeIds(clock), most_bytes=most_bytes)
    return door.open_versions(place, clock, TimeIds(clock), most_bytes)


@asynccontextmanager
async def opened(place: str | Path, most_bytes: int = 1 << 20) -> AsyncGenerator[VersionedStore]:
    store = made(place, most_bytes)
    try:
        yield store
    finally:
        await store.close()


_PROGRAM = """
import sys
from pathlib import Path
import anyio
from holdfast.contract.versions import Expected, Origin, PreconditionFailed
from record.version_stores import made

ORIGIN = Origin(source="worker")

async def reach(store, expected):
    try:
        mine = await store.write("s", "prize", b"mine", origin=ORIGIN, expected=expected)
        print("won", mine.id)
    except PreconditionFailed as problem:
        print("lost", problem.found)

async def race(store, version_id):
    expected = Expected(version_id=version_id)
    async with anyio.create_task_group() as rivals:
        for _ in range(5):
            rivals.start_soon(reach, store, expected)

async def fill(store, _version_id):
    for number in range(100_000):
        content = (b"%d " % number) * 20_000
        version = await store.write("s", "file", content, origin=ORIGIN)
        print(version.number, version.id, flush=True)

async def main(place, what, version_id):
    store = made(Path(place) if place.startswith("/") else place)
    print("ready", flush=True)
    sys.stdin.readline()
    await {"race": race, "fill": fill}[what](store, version_id)
    await store.close()

anyio.run(main, *sys.argv[1:])
"""


def worker(place: str | Path, what: str, version_id: str = "") -> Worker:
    argv = [sys.executable, "-c", _PROGRAM, str(place), what, version_id]
    return subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=this_tree(),
    )


def let_go(workers: Sequence[Worker]) -> None:
    """All at once, when each is ready."""
    for one in workers:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in workers:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
