"""Peers that live in Node: installed once into .bench-node, driven a line a round."""

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
HOME = ROOT / ".bench-node"
PACKAGE = "@anthropic-ai/sandbox-runtime"
VERSION = "0.0.78"
SCRIPT = Path(__file__).parent / "peers" / "sandbox_runtime.mjs"


def installed() -> str | None:
    """Install it if it is not there; why it cannot be had, or None."""
    lacking = [name for name in ("npm", "node", "bwrap", "socat", "rg") if not shutil.which(name)]
    if lacking:
        return f"sandbox-runtime: needs {', '.join(lacking)}"
    there = HOME / "node_modules" / PACKAGE / "package.json"
    if there.exists() and json.loads(there.read_text(encoding="utf-8"))["version"] == VERSION:
        return None
    HOME.mkdir(exist_ok=True)
    print(f"installing {PACKAGE} into .bench-node", file=sys.stderr)
    command = ["npm", "install", "--silent", "--prefix", str(HOME), f"{PACKAGE}@{VERSION}"]
    done = subprocess.run(command, stdout=sys.stderr, check=False)
    return None if done.returncode == 0 else "sandbox-runtime: npm cannot install it here"


@asynccontextmanager
async def sandbox_runtime(workspace: Path) -> AsyncIterator[Callable[[], Awaitable[None]] | str]:
    """A way to run /bin/true in it, or why there is none."""
    why = installed()
    if why is not None:
        yield why
        return
    shutil.copy(SCRIPT, HOME / SCRIPT.name)
    pipe = asyncio.subprocess.PIPE
    node = await asyncio.create_subprocess_exec(
        "node", SCRIPT.name, str(workspace), cwd=HOME, stdin=pipe, stdout=pipe, stderr=pipe
    )
    assert node.stdin is not None
    assert node.stdout is not None
    if await node.stdout.readline() != b"ready\n":
        yield "sandbox-runtime: it cannot start a sandbox here"
        return

    async def once() -> None:
        node.stdin.write(b"\n")
        if not await node.stdout.readline():
            sys.exit("bench: sandbox-runtime stopped")

    try:
        yield once
    finally:
        node.stdin.close()
        await node.wait()
