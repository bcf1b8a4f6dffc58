"""Runs every attempt in one kind of confinement, as whoever starts this; prints what came of it.

Needs holdfast and msgspec alone, so that any interpreter of the machine can run it.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from attempts import NEEDS_NAMESPACES, PRELUDE, STOPPED

from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes.capture import Capture
from holdfast.execution.processes.command import Command, Limits, run
from holdfast.execution.processes.confinement import Scratch
from holdfast.execution.processes.tiers import STRONGEST_FIRST, start_in
from holdfast.execution.spool import Spool


async def main(kind: str, folder: Path, targets: dict[str, object]) -> dict[str, str]:
    """What each attempt printed, or the last line of why it failed."""
    (tier,) = [tier for tier in STRONGEST_FIRST if tier.name == kind]
    workspace = folder / "workspace"
    kept = tuple(f"{workspace}/{name}" for name in (".git/config", ".git/hooks"))
    policy = SandboxPolicy(readable=(str(workspace),), writable=(str(workspace),), protected=kept)
    scratch = Scratch(*(str(folder / name) for name in ("root", "temporary", "home")))
    warden = await start_in(tier, policy, scratch)
    told: dict[str, str] = {}
    try:
        for name, code in (STOPPED | NEEDS_NAMESPACES).items():
            inside = workspace / name if name in STOPPED else workspace
            inside.mkdir(exist_ok=True)
            argv = [sys.executable, "-I", "-c", PRELUDE + code, json.dumps(targets)]
            command = Command(argv, str(inside), {"PATH": os.defpath})
            report = await run(
                warden,
                command,
                Limits(wall=10, grace=0),
                lambda heard: Capture(Spool(lambda: None, 0), None, heard),
            )
            printed = report.captured.stdout.head + report.captured.stderr.head
            lines = printed.decode("utf-8", "replace").strip().splitlines()
            told[name] = lines[-1] if lines else f"nothing, {report.unstarted or report.ended}"
            if "GOT" in printed.decode("utf-8", "replace"):
                told[name] = "GOT"
    finally:
        await warden.close()
    return told


if __name__ == "__main__":
    _, chosen, place, aimed_at = sys.argv
    sys.stdout.write(json.dumps(asyncio.run(main(chosen, Path(place), json.loads(aimed_at)))))
