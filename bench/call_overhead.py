"""What one tool call costs beyond the tool: holdfast, its peers and the bare limit.

Each library is measured in processes of its own, so that none pays for another's heap; the
processes take turns, round by round, so that all see the same machine. A process runs many short
batches per call; the shortest one counts (`min`), the middle one is shown beside it.

    python bench/call_overhead.py [--quick]      drive all rounds, print JSON
    python bench/call_overhead.py --path NAME    one turn of one library
"""

import argparse
import asyncio
import importlib
import json
import logging
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import payload
from rows import Call, Row

PATHS = (
    "limit",
    "holdfast",
    "openai_agents",
    "pydantic_ai",
    "langchain_core",
    "fastmcp",
    "mcp_sdk",
)
BATCH_SECONDS = 0.002
"""Shorter than a time slice, so that some batches run undisturbed even on a busy machine."""
CASES = {
    "add": (payload.ADD_TEXT, payload.ADD_BAD_TEXT, payload.ADD_RESULT),
    "nested": (payload.ORDER_TEXT, payload.ORDER_BAD_TEXT, payload.ORDER_RESULT),
}

Samples = dict[str, list[float]]


def main() -> None:
    options = _options()
    if options.path:
        print(json.dumps(asyncio.run(one_turn(options.path, options.batches))))
        return
    rounds, batches = (2, 40) if options.quick else (options.rounds, options.batches)
    print(json.dumps(all_rounds(rounds, batches)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--path", choices=PATHS)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--batches", type=int, default=100)
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args()


async def one_turn(path: str, batches: int) -> list[dict[str, object]]:
    """Measure every row of one library, once."""
    measured: list[dict[str, object]] = []
    async with importlib.import_module(f"paths.{path}").opened() as rows:
        for row in rows:
            samples = {case: await _samples(row, case, batches) for case in CASES}
            measured.append(
                {"path": row.path, "kind": row.kind, "role": row.role, "samples": samples}
            )
    return measured


async def _samples(row: Row, case: str, batches: int) -> list[float]:
    text, bad, result = CASES[case]
    call = row.add if case == "add" else row.nested
    await _check(row.path, call, (text, bad), result)
    await _batch(call, text, 20)
    count = max(3, int(BATCH_SECONDS * 1e6 / await _batch(call, text, 20)))
    return [await _batch(call, text, count) for _ in range(batches)]


async def _batch(call: Call, text: str, count: int) -> float:
    """Microseconds per call."""
    started = time.perf_counter_ns()
    for _ in range(count):
        await call(text)
    return (time.perf_counter_ns() - started) / count / 1000


async def _check(path: str, call: Call, texts: tuple[str, str], result: object) -> None:
    """A path that answers wrongly, or lets a bad call through, is not measured at all."""
    good, bad = texts
    expected = payload.unspaced(json.dumps(result))
    answer = payload.unspaced(await call(good))
    if expected not in answer and not _same(answer, result):
        sys.exit(f"{path}: answered {answer}, not {expected}")
    logging.disable(logging.CRITICAL)
    try:
        refusal = payload.unspaced(await call(bad))
    except Exception:  # noqa: BLE001 - every library refuses with an exception of its own
        refusal = ""
    logging.disable(logging.NOTSET)
    if expected in refusal or _same(refusal, result):
        sys.exit(f"{path}: let a bad call through: {refusal}")


def _same(answer: str, result: object) -> bool:
    """Whether the answer, or what an envelope carries, is the result whatever the key order."""
    try:
        decoded = json.loads(answer)
    except ValueError:
        return False
    inner = decoded.get("result") if isinstance(decoded, dict) else None
    return result in (decoded, inner)


def all_rounds(rounds: int, batches: int) -> dict[str, object]:
    """Let the libraries take turns and bring their samples together."""
    samples: dict[str, Samples] = {}
    facts: dict[str, dict[str, object]] = {}
    loads: list[float] = []
    for number in range(rounds):
        # Every other round runs backwards: nobody always follows the same neighbour.
        for path in PATHS if number % 2 == 0 else PATHS[::-1]:
            for row in _turn(path, batches):
                facts[row["path"]] = {"kind": row["kind"], "role": row["role"]}
                mine = samples.setdefault(row["path"], {case: [] for case in CASES})
                for case, values in row["samples"].items():
                    mine[case] += values
        loads.append(os.getloadavg()[0])
        print(f"call overhead: round {number + 1} of {rounds}", file=sys.stderr)
    rows = [
        {"path": path, **facts[path], **{case: _summary(mine[case]) for case in CASES}}
        for path, mine in samples.items()
    ]
    size = len(payload.ORDER_TEXT)
    return {
        "rounds": rounds,
        "batches": batches,
        "loads": loads,
        "nested_bytes": size,
        "rows": rows,
    }


def _turn(path: str, batches: int) -> list[dict]:
    command = [sys.executable, __file__, "--path", path, "--batches", str(batches)]
    environment = {**os.environ, "OPENAI_AGENTS_DISABLE_TRACING": "1"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, cwd=Path.cwd()
    )
    if done.returncode != 0:
        sys.exit(f"{path} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def _summary(values: list[float]) -> dict[str, float]:
    return {"min": min(values), "median": statistics.median(values)}


if __name__ == "__main__":
    main()
