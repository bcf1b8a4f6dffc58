"""The persistent shell: the round trip of a builtin, as a tool would wait for it.

    python bench/persistent_shell.py [confinement]

Prints a line for each text; `make bench` uses the same.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import cast

from holdfast.contract.sandbox import SandboxPolicy
from holdfast.contract.shell import Confinement
from holdfast.execution.processes.confinement import Scratch
from holdfast.execution.processes.persistent import SessionShell, ShellParts
from holdfast.execution.processes.register import LiveRegister
from holdfast.execution.processes.sandbox import Sandbox, SandboxParts
from holdfast.execution.spool import Spool
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

TEXTS = (":", "cd .", "echo hello", "export A=1", "/bin/true")
ROUNDS = 2000


async def measure(
    folder: Path, confinement: Confinement | None = None, rounds: int = ROUNDS
) -> list[dict[str, object]]:
    """Milliseconds for each text, in the confinement named or the strongest there is."""
    for name in ("workspace", "root", "temporary"):
        (folder / name).mkdir()
    workspace = str(folder / "workspace")
    parts = SandboxParts(
        policy=SandboxPolicy(readable=(workspace,), writable=(workspace,)),
        scratch=Scratch(str(folder / "root"), str(folder / "temporary"), str(folder / "home")),
        workspace=workspace,
        environment=os.environ,
        spools=lambda _: Spool(lambda: None, 1 << 20),
        confinement=confinement,
    )
    sandbox, clock = Sandbox(parts), SystemClock()
    ids = TimeIds(clock)
    shell = SessionShell(ShellParts(sandbox, ids, clock, LiveRegister(ids, clock)))
    rows: list[dict[str, object]] = []
    for text in TEXTS:
        took = [await timed(shell, text) for _ in range(rounds)]
        rows.append({"text": text, "min": min(took), "median": statistics.median(took)})
    await shell.close()
    await sandbox.close()
    return rows


async def timed(shell: SessionShell, text: str) -> float:
    begun = time.perf_counter()
    await shell.run(text)
    return (time.perf_counter() - begun) * 1e3


def main() -> None:
    confinement = cast("Confinement", sys.argv[1] if len(sys.argv) > 1 else "landlock")
    with tempfile.TemporaryDirectory() as folder:
        for row in asyncio.run(measure(Path(folder).resolve(), confinement)):
            print(f"{row['text']:12} min {row['min']:.3f} ms, median {row['median']:.3f} ms")


if __name__ == "__main__":
    main()
