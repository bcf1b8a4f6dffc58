"""Running the `holdfast` command: in this process for speed, as a real process for truth."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

HOLDFAST = Path(sys.executable).with_name("holdfast")

TOOLS = '''
import time
from typing import Literal
from holdfast import Limits, OutputBound, tool

@tool
def add(a: int, b: int = 1) -> dict[str, int]:
    """Add two numbers.

    The second line.
    """
    return {"sum": a + b}

@tool(read_only=False, destructive=True, permission_policy="always_ask")
def wipe(path: str) -> str:
    """Remove a thing."""
    return f"wiped {path}"

SMALL = Limits(output=OutputBound(max_bytes=50, max_items=9))

@tool(limits=SMALL, requires={"fs": {"read": ["*"]}})
def flood(lines: int) -> dict[str, list[str]]:
    """Write lines."""
    return {"lines": ["line"] * lines}

@tool
def say(text: str) -> str:
    """Say a text."""
    return text

@tool
def crash() -> None:
    """Fail."""
    raise RuntimeError("boom")
'''


class Answered(NamedTuple):
    status: int
    out: str
    err: str


Cli = Callable[..., Answered]
"""Run the command in this process."""


def start(
    *words: str,
    home: Path,
    stdin: bytes = b"",
    variables: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> Answered:
    """Run the command as a process of its own."""
    result = subprocess.run(
        [str(HOLDFAST), *words],
        input=stdin,
        cwd=cwd,
        capture_output=True,
        env={**os.environ, "HOLDFAST_HOME": str(home), **(variables or {})},
        check=False,
        timeout=15,
    )
    return Answered(result.returncode, result.stdout.decode(), result.stderr.decode())


class Terminal(io.StringIO):
    """Text that says it is a terminal."""

    def isatty(self) -> bool:
        return True
