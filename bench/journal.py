"""What it costs to write a call down, and to find it again: our stores, bare commits, and peers.

A call is what was asked, the intent before its effect, and its answer after it: two appends. All
ways are opened at once and take turns, round by round. The server is a PostgreSQL of our own that
waits for the disk.

    python bench/journal.py [--quick]      prints JSON
"""

import asyncio
import gc
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import journal_reading
from journal_peers import peers
from journal_ways import Way, ways

ROUNDS, QUICK_ROUNDS = 31, 3


def main() -> None:
    quick = "--quick" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(measured(Path(folder), QUICK_ROUNDS if quick else ROUNDS))
        reading = asyncio.run(journal_reading.measured(Path(folder), quick=quick))
    rounds = QUICK_ROUNDS if quick else ROUNDS
    told = {"load": os.getloadavg()[0], "rounds": rounds, "rows": rows, "reading": reading}
    print(json.dumps(told))


async def measured(folder: Path, rounds: int) -> list[dict[str, object]]:
    """Calls a second, of each way."""
    samples: dict[str, list[float]] = {}
    async with AsyncExitStack() as opened:
        every = [way async for way in ways(folder, opened)]
        every += [way async for way in peers(folder, opened)]
        gc.freeze()  # what was imported is nobody's garbage
        for number in range(rounds):
            for way in every if number % 2 == 0 else every[::-1]:
                samples.setdefault(way.name, []).append(await _rate(way))
            print(f"journal: round {number + 1} of {rounds}", file=sys.stderr)
    return [
        {
            "way": way.name,
            "role": way.role,
            "max": max(samples[way.name]),
            "median": statistics.median(samples[way.name]),
        }
        for way in every
    ]


async def _rate(way: Way) -> float:
    """The same number of calls for each who calls at once."""
    each = max(1, way.calls // len(way.callers))

    async def call_on(call: Callable) -> None:
        for _ in range(each):
            await call()

    began = time.perf_counter()
    await asyncio.gather(*[call_on(call) for call in way.callers])
    return each * len(way.callers) / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
