"""How long it takes to start, and how much memory that needs: holdfast, its floor and its peers.

All commands take turns, run by run. Wall time is taken around the whole process. Peak memory is
taken by a bare interpreter in between, for a child inherits the peak of whoever started it.

    python bench/startup.py [--quick]      prints JSON
"""

import argparse
import json
import os
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

BIN = Path(sys.executable).parent

# Spawns its arguments and prints their peak memory in KiB. Only builtin modules: it must stay
# smaller than anything it measures.
REPORTER = """
import posix, sys
quiet = posix.open("/dev/null", posix.O_WRONLY)
spawned = posix.posix_spawn(sys.argv[1], sys.argv[1:], posix.environ,
    file_actions=[(posix.POSIX_SPAWN_DUP2, quiet, 1)])
print(posix.wait4(spawned, 0)[2].ru_maxrss)
"""


@dataclass(frozen=True)
class Start:
    name: str
    command: tuple[str, ...]
    role: Literal["floor", "ours", "peer"]


def _code(code: str, role: Literal["floor", "ours", "peer"]) -> Start:
    return Start(f'python -c "{code}"', (sys.executable, "-c", code), role)


def _program(name: str, role: Literal["ours", "peer"]) -> Start:
    return Start(f"{name} --version", (str(BIN / name), "--version"), role)


STARTS = (
    _code("pass", "floor"),
    _code("import asyncio, json, subprocess", "floor"),
    _code("import holdfast", "ours"),
    _code("from holdfast import Holdfast, tool", "ours"),
    _program("holdfast", "ours"),
    _program("llm", "peer"),
    _code("import pydantic; pydantic.BaseModel", "peer"),
    _code("import llm", "peer"),
    _code("from langchain_core.tools import StructuredTool", "peer"),
    _code("from pydantic_ai import Agent", "peer"),
    _code("from mcp import Client", "peer"),
    _code("from fastmcp import FastMCP, Client", "peer"),
    _code("import agents", "peer"),
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    print(json.dumps(measure(5 if options.quick else options.runs)))


def measure(runs: int) -> dict[str, object]:
    # The first run writes the byte code and warms the page cache.
    starts = [start for start in STARTS if _milliseconds(start) is not None]
    samples: dict[str, list[float]] = {start.name: [] for start in starts}
    for number in range(runs):
        for start in starts if number % 2 == 0 else starts[::-1]:
            samples[start.name].append(_milliseconds(start) or 0.0)
        print(f"startup: run {number + 1} of {runs}", file=sys.stderr)
    rows = [
        {
            "name": start.name,
            "role": start.role,
            "min": min(samples[start.name]),
            "median": statistics.median(samples[start.name]),
            "rss_mb": _peak_megabytes(start),
        }
        for start in starts
    ]
    return {"runs": runs, "rows": rows}


def _milliseconds(start: Start) -> float | None:
    """None when the command fails: it then has no row, and its target does not hold."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    began = time.perf_counter_ns()
    process = os.posix_spawn(start.command[0], start.command, os.environ, file_actions=quiet)
    _, status = os.waitpid(process, 0)
    spent = time.perf_counter_ns() - began
    if status != 0:
        print(f"startup: {start.name} fails", file=sys.stderr)
    return spent / 1e6 if status == 0 else None


def _peak_megabytes(start: Start) -> float:
    read, write = os.pipe()
    command = (sys.executable, "-I", "-S", "-c", REPORTER, *start.command)
    redirect = [(os.POSIX_SPAWN_DUP2, write, 1)]
    process = os.posix_spawn(command[0], command, os.environ, file_actions=redirect)
    os.close(write)
    with os.fdopen(read) as output:
        kibibytes = int(output.read())
    os.waitpid(process, 0)
    return kibibytes / 1024


if __name__ == "__main__":
    main()
