"""`grep` and `glob` on a large tree, against ripgrep itself and the search tools of peers.

All ways take turns, round by round, on one tree that is made first. Each call of holdfast is a
whole one: decision, search, output bound, sidecar. A peer that cannot be had here is left out and
named.

    python bench/tools_search.py [--quick]      prints JSON
"""

import argparse
import asyncio
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from time import perf_counter

import search_tree
from holdfast.app.holdfast import Holdfast
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.execution.search.program import ripgrep
from search_tree import COMMON, MANY_FILES, RARE, SOME

REGEX = SOME + r"\d+"
NAMED = "*_1*.rs"
LIMIT = 50
SLOW_PEER_ROUNDS = 1
Way = Callable[[], Awaitable[None]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        told = asyncio.run(measured(Path(folder).resolve(), quick=quick))
    print(json.dumps(told))


async def measured(folder: Path, *, quick: bool) -> dict[str, object]:
    files, rounds = (MANY_FILES // 10, 3) if quick else (MANY_FILES, 9)
    tree = folder / "tree"
    tree.mkdir()
    size = search_tree.make_tree(tree, files)
    async with AsyncExitStack() as opened:
        hf = await opened.enter_async_context(_session(tree, folder / "home"))
        ways = {**_ripgrep(tree), **_holdfast(hf)}
        slow, missing = _peers(tree)
        rows = await _timed(ways, rounds) | await _timed(slow, SLOW_PEER_ROUNDS)
    return {
        "files": files,
        "bytes": size,
        "rounds": rounds,
        "load": os.getloadavg()[0],
        "missing": missing,
        "rows": [
            {
                "what": what,
                "way": way,
                "min": min(taken) * 1e3,
                "median": statistics.median(taken) * 1e3,
            }
            for (what, way), taken in rows.items()
        ],
    }


def _session(tree: Path, home: Path) -> Holdfast:
    return Holdfast(
        profile="locked",
        workspace=tree,
        settings=Settings(store=StoreSettings(kind="none")),
        surroundings=Surroundings(data_home=home / "data", state_home=home / "state"),
    )


def _ripgrep(tree: Path) -> dict[tuple[str, str], Way]:
    def way(*words: str) -> Way:
        async def run() -> None:
            assert _printed([ripgrep(), "--no-config", *words], tree)

        return run

    return {
        ("rare", "rg"): way("-n", RARE, "."),
        ("some", "rg"): way("-n", REGEX, "."),
        ("common", "rg"): way("-n", COMMON, "."),
        ("files", "rg"): way("--files", "."),
    }


def _printed(command: list[str], cwd: Path) -> bytes:
    return subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, check=True).stdout


def _holdfast(hf: Holdfast) -> dict[tuple[str, str], Way]:
    def way(tool: str, **arguments: object) -> Way:
        async def run() -> None:
            envelope = await hf.settle(tool, arguments)
            assert envelope.failure is None, envelope.failure

        return run

    pattern = f"**/{NAMED}"
    return {
        ("rare", "holdfast"): way("grep", pattern=RARE),
        ("some", "holdfast"): way("grep", pattern=REGEX),
        ("common", f"holdfast, limit {LIMIT}"): way("grep", pattern=COMMON, limit=LIMIT),
        ("files", "holdfast, kind file"): way("glob", pattern=pattern, kind="file"),
        ("files", "holdfast, files and directories"): way("glob", pattern=pattern),
        ("files", "holdfast, every path"): way("glob", pattern="**"),
    }


def _peers(tree: Path) -> tuple[dict[tuple[str, str], Way], list[str]]:
    missing: list[str] = []
    if importlib.util.find_spec("openhands") is None:
        missing.append(f"openhands-tools (needs Python 3.12; this is {sys.version.split()[0]})")
    if importlib.util.find_spec("deepagents") is None:
        return {}, [*missing, "deepagents"]
    from deepagents.backends.filesystem import FilesystemBackend  # noqa: PLC0415 - may be missing

    backend = FilesystemBackend(root_dir=tree, virtual_mode=False)

    def way(call: Callable[[], object], path: str) -> Way:
        async def run() -> None:
            before, os.environ["PATH"] = os.environ["PATH"], path
            try:
                found = call()
            finally:
                os.environ["PATH"] = before
            assert found.matches, found.error

        return run

    with_rg = f"{Path(ripgrep()).parent}:{os.environ['PATH']}"
    return {
        ("rare", "deepagents, with rg"): way(lambda: backend.grep(RARE), with_rg),
        ("some", "deepagents, with rg, plain text"): way(lambda: backend.grep(SOME), with_rg),
        ("files", "deepagents"): way(lambda: backend.glob(NAMED), with_rg),
    }, missing


async def _timed(
    ways: dict[tuple[str, str], Way], rounds: int
) -> dict[tuple[str, str], list[float]]:
    taken: dict[tuple[str, str], list[float]] = {name: [] for name in ways}
    for way in ways.values():
        await way()  # the first one fills caches and starts what is started once
    for _ in range(rounds):
        for name, way in ways.items():
            begun = perf_counter()
            await way()
            taken[name].append(perf_counter() - begun)
    return taken


if __name__ == "__main__":
    main()
