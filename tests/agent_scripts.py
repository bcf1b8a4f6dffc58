"""Agents at the command line: scripts for their models, and a person at a real terminal."""

import fcntl
import json
import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from command import HOLDFAST, Answered

PATIENCE = 15.0


def script(folder: Path, *turns: dict[str, Any], name: str = "turns.json") -> str:
    """A model that plays these turns, as `--model` wants it."""
    path = folder / name
    path.write_text(json.dumps({"turn": turns}), "utf-8")
    return f"scripted:{path}"


def asks(tool: str, **arguments: Any) -> dict[str, Any]:
    """A turn that asks for one call."""
    return {"calls": [{"name": tool, "arguments": arguments}]}


def says(text: str, **more: Any) -> dict[str, Any]:
    """A turn that says something."""
    return {"text": text, **more}


def lines_of(answer: Answered) -> list[dict[str, Any]]:
    """The lines of JSON that a run told."""
    return [json.loads(line) for line in answer.out.splitlines()]


class Typed(NamedTuple):
    """What somebody types once they have seen something."""

    seen: str
    keys: str = ""
    signals: tuple[int, ...] = ()
    """Sent to the command instead."""


class Watched(NamedTuple):
    """A command at a terminal, when it has ended."""

    status: int
    shown: str


def at_a_terminal(
    *words: str, home: Path, typed: Iterable[Typed] = (), variables: dict[str, str] | None = None
) -> Watched:
    """Run the command with a person at the keyboard, whose Ctrl-C is a signal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(HOLDFAST), *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={
            **os.environ,
            "HOLDFAST_HOME": str(home),
            "TERM": "xterm",
            "COLUMNS": "120",
            "LINES": "50",
            **(variables or {}),
        },
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    os.close(theirs)
    try:
        shown = _answered(ours, process.pid, list(typed))
        status = process.wait(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return Watched(status, shown)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _answered(ours: int, process: int, typed: list[Typed]) -> str:
    shown, looked = "", 0
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                shown += os.read(ours, 65_536).decode(errors="replace")
            except OSError:
                break  # nobody has the other side any more
        if typed and typed[0].seen in shown[looked:]:
            looked = len(shown)
            now = typed.pop(0)
            os.write(ours, now.keys.encode())
            for number in now.signals:
                os.kill(process, number)
    return shown
