"""The file tools, as a whole call: the tail of a 1 GB file, and an edit of a 10 MB file.

python bench/tools_files.py    prints JSON
"""

import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path

from holdfast.app.holdfast import Holdfast
from holdfast.app.settings import LimitSettings, Settings, StoreSettings, Surroundings

ROUNDS = 9
LINE = b"0123456789abcdef" * 4 + b"\n"


async def measure(folder: Path) -> list[dict[str, object]]:
    """Milliseconds of each call."""
    workspace = folder / "workspace"
    workspace.mkdir()
    with (workspace / "big").open("wb") as big:
        for _ in range(1000):
            big.write(LINE * (1_000_000 // len(LINE)))
    (workspace / "ten").write_bytes(LINE * (10_000_000 // len(LINE)) + b"last = 0\n")
    settings = Settings(limits=LimitSettings(file_bytes=1 << 25), store=StoreSettings(kind="none"))
    around = Surroundings(data_home=folder / "data", state_home=folder / "state")
    tail = [{"path": "big", "tail_lines": 20}] * ROUNDS
    edits = [
        {"path": "ten", "old_string": f"last = {n}\n", "new_string": f"last = {n + 1}\n"}
        for n in range(ROUNDS)
    ]
    async with Holdfast(
        profile="locked", workspace=workspace, settings=settings, surroundings=around
    ) as hf:
        return [await timed(hf, "read", tail), await timed(hf, "edit", edits)]


async def timed(hf: Holdfast, tool: str, calls: list[dict]) -> dict[str, object]:
    """Of calls that all have to work."""
    took: list[float] = []
    for call in calls:
        begun = time.perf_counter()
        envelope = await hf.settle(tool, call)
        took.append((time.perf_counter() - begun) * 1000)
        if envelope.failure is not None:
            raise SystemExit(str(envelope.failure))
    return {"tool": tool, "min": min(took), "median": statistics.median(took)}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps(asyncio.run(measure(Path(place)))))
