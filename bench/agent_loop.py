"""What an agent's loop costs beyond its model: two turns of a model and one call of a tool.

The model is a server on this machine that needs no time to think (agent_server.py). Each library
is measured in processes of its own, which take turns round by round, as in call_overhead.py; every
process proves first that a loop asks the model twice and runs the tool once.

    python bench/agent_loop.py [--quick | --once]    drive all rounds, print JSON
    python bench/agent_loop.py --path NAME --url U   one turn of one library
"""

import argparse
import asyncio
import importlib
import json
import os
import resource
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_paths import task

PATHS = (
    "limit",
    "aiohttp_client",
    "holdfast",
    "holdfast_reading",
    "holdfast_whole",
    "pydantic_ai",
    "openai_agents",
    "langchain_agent",
    "inspect_model",
    "smolagents_agent",
)
WITHOUT_PEERS = PATHS[:5]
WARMING = 20
QUIET = {
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LANGSMITH_TRACING": "false",
    "OPENAI_API_KEY": task.KEY,
    "HF_HUB_OFFLINE": "1",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--path", choices=PATHS)
    parser.add_argument("--url")
    parser.add_argument("--loops", type=int, default=60)
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--once", action="store_true", help="what needs no peer, to see it goes")
    options = parser.parse_args()
    if options.path:
        turn = one_turn(options.path, options.url, options.loops, options.batches)
        print(json.dumps(asyncio.run(turn)))
        return
    if options.once:
        with _serving() as url:
            print(json.dumps([_turn(path, url, 0, 0) for path in WITHOUT_PEERS]))
        return
    asked = (options.rounds, options.loops, options.batches)
    rounds, loops, batches = (1, 20, 2) if options.quick else asked
    print(json.dumps(all_rounds(rounds, loops, batches)))


async def one_turn(path: str, url: str, loops: int, batches: int) -> dict[str, object]:
    """Measure one library, once."""
    async with importlib.import_module(f"agent_paths.{path}").opened(url) as loop:
        return await _measured(loop, url, loops, batches)


async def _measured(loop: task.Loop, url: str, loops: int, batches: int) -> dict[str, object]:
    await _check(loop, url)
    named: dict[str, object] = {"path": loop.path, "role": loop.role}
    if not loops:
        return named
    await loop.prepare(WARMING + loops)
    for _ in range(WARMING):
        await loop.once()
    times: list[float] = []
    spent = time.process_time()
    for _ in range(loops):
        began = time.perf_counter()
        await loop.once()
        times.append((time.perf_counter() - began) * 1000)
    spent = (time.process_time() - spent) * 1000 / loops
    rates: list[float] = []
    for _ in range(batches):
        await loop.prepare(task.CONCURRENT)
        began = time.perf_counter()
        await _at_once(loop)
        rates.append(task.CONCURRENT / (time.perf_counter() - began))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    idle = None if loop.idle_bytes is None else await loop.idle_bytes()
    return {
        **named,
        "times": times,
        "cpu": spent,
        "rates": rates,
        "peak_mb": peak,
        "idle_bytes": idle,
    }


async def _at_once(loop: task.Loop) -> list[str]:
    if loop.many is not None:
        return await loop.many()
    return await asyncio.gather(*(loop.once() for _ in range(task.CONCURRENT)))


async def _check(loop: task.Loop, url: str) -> None:
    """A loop that answers wrongly, or is not two turns and one call, is not measured at all."""
    await loop.prepare(1 + task.CONCURRENT)
    before, ran = _answered(url), task.runs.runs
    said = [await loop.once(), *await _at_once(loop)]
    asked, ran = _answered(url) - before, task.runs.runs - ran
    if any("3" not in one for one in said):
        sys.exit(f"{loop.path}: said {said[0]!r}, not 3")
    if (asked, ran) != (2 * len(said), len(said)):
        sys.exit(f"{loop.path}: {len(said)} loops asked {asked} times and ran the tool {ran} times")


def _answered(url: str) -> int:
    with urllib.request.urlopen(f"{url}/count") as answer:
        return int(answer.read())


def all_rounds(rounds: int, loops: int, batches: int) -> dict[str, object]:
    """Let the libraries take turns and bring their samples together."""
    turns: dict[str, list[dict]] = {path: [] for path in PATHS}
    loads: list[float] = []
    with _serving() as url:
        for number in range(rounds):
            # Every other round runs backwards: nobody always follows the same neighbour.
            for path in PATHS if number % 2 == 0 else PATHS[::-1]:
                turns[path].append(_turn(path, url, loops, batches))
            loads.append(os.getloadavg()[0])
            print(f"agent loop: round {number + 1} of {rounds}", file=sys.stderr)
    return {
        "rounds": rounds,
        "loops": loops,
        "batches": batches,
        "concurrent": task.CONCURRENT,
        "loads": loads,
        "rows": [_row(one) for one in turns.values()],
    }


def _row(turns: list[dict]) -> dict[str, object]:
    times = [value for turn in turns for value in turn["times"]]
    rates = [value for turn in turns for value in turn["rates"]]
    idle = [turn["idle_bytes"] for turn in turns if turn["idle_bytes"] is not None]
    return {
        "path": turns[0]["path"],
        "role": turns[0]["role"],
        "min": min(times),
        "median": statistics.median(times),
        "cpu": min(turn["cpu"] for turn in turns),
        "rate": max(rates),
        "median_rate": statistics.median(rates),
        "peak_mb": max(turn["peak_mb"] for turn in turns),
        "idle_kb": statistics.median(idle) / 1024 if idle else None,
    }


@contextmanager
def _serving() -> Iterator[str]:
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).parent / "agent_server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
    finally:
        server.stdin.close()
        server.wait(20)
        server.stdout.close()


def _turn(path: str, url: str, loops: int, batches: int) -> dict:
    command = [sys.executable, __file__, "--path", path, "--url", url]
    command += ["--loops", str(loops), "--batches", str(batches)]
    done = subprocess.run(
        command, env={**os.environ, **QUIET}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{path} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
