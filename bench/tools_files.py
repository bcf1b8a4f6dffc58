"""The file tools, as a whole call: the tail of a 1 GB file, and an edit of a 10 MB file.

deepagents does the same beside it, with the backend that works on the disk.

    python bench/tools_files.py [--quick]      prints JSON
"""

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from deepagents.backends.filesystem import FilesystemBackend

from holdfast.app.holdfast import Holdfast
from holdfast.app.settings import LimitSettings, Settings, StoreSettings, Surroundings

ROUNDS, QUICK_ROUNDS = 15, 3
LINE = b"0123456789abcdef" * 4 + b"\n"
BIG_BLOCKS = 1000
SLOW = {("tail", "deepagents")}
"""It takes seconds: once is enough."""
Way = Callable[[int], Awaitable[None]]


def main() -> None:
    rounds = QUICK_ROUNDS if "--quick" in sys.argv else ROUNDS
    with tempfile.TemporaryDirectory() as place:
        rows = asyncio.run(measured(Path(place), rounds))
    print(json.dumps({"rows": rows, "rounds": rounds, "load": os.getloadavg()[0]}))


async def measured(folder: Path, rounds: int) -> list[dict[str, object]]:
    """Milliseconds of each call."""
    workspace = folder / "workspace"
    workspace.mkdir()
    with (workspace / "big").open("wb") as big:
        for _ in range(BIG_BLOCKS):
            big.write(LINE * (1_000_000 // len(LINE)))
    for name in ("ours", "theirs"):
        (workspace / name).write_bytes(LINE * (10_000_000 // len(LINE)) + b"last = 0\n")
    settings = Settings(limits=LimitSettings(file_bytes=1 << 25), store=StoreSettings(kind="none"))
    around = Surroundings(data_home=folder / "data", state_home=folder / "state")
    taken: dict[tuple[str, str], list[float]] = {}
    async with Holdfast(
        profile="locked", workspace=workspace, settings=settings, surroundings=around
    ) as hf:
        ways = {**ours(hf), **theirs(workspace)}
        for number in range(-1, rounds):
            for key, way in ways.items():
                if key in SLOW and number > 0:
                    continue
                begun = time.perf_counter()
                await way(number + 1)
                if number >= 0:
                    taken.setdefault(key, []).append((time.perf_counter() - begun) * 1000)
    return [
        {"what": what, "way": way, "min": min(times), "median": statistics.median(times)}
        for (what, way), times in taken.items()
    ]


def ours(hf: Holdfast) -> dict[tuple[str, str], Way]:
    async def settled(tool: str, **arguments: object) -> None:
        envelope = await hf.settle(tool, arguments)
        if envelope.failure is not None:
            raise SystemExit(str(envelope.failure))

    async def tail(_number: int) -> None:
        await settled("read", path="big", tail_lines=20)

    async def edit(number: int) -> None:
        old, new = f"last = {number}\n", f"last = {number + 1}\n"
        await settled("edit", path="ours", old_string=old, new_string=new)

    return {("tail", "holdfast"): tail, ("edit", "holdfast"): edit}


def theirs(workspace: Path) -> dict[tuple[str, str], Way]:
    backend = FilesystemBackend(root_dir=workspace, virtual_mode=True)
    lines = BIG_BLOCKS * (1_000_000 // len(LINE))

    async def tail(_number: int) -> None:
        found = await backend.aread("/big", offset=lines - 20, limit=20)
        if "0123456789" not in str(found):
            raise SystemExit(f"deepagents reads {str(found)[:200]}")

    async def edit(number: int) -> None:
        old, new = f"last = {number}\n", f"last = {number + 1}\n"
        found = await backend.aedit("/theirs", old, new)
        if getattr(found, "error", None):
            raise SystemExit(f"deepagents: {found.error}")

    return {("tail", "deepagents"): tail, ("edit", "deepagents"): edit}


if __name__ == "__main__":
    main()
