"""A worker that goes on with a session whose workspace is carried, and is killed on the way.

python carrying_child.py SETTINGS FOLDER MOMENT SESSION
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import msgspec
from app.carrying.machines import DONE, Machine, runs

from holdfast.app import carrying, copies
from holdfast.app.settings import Settings
from holdfast.execution.files import unpacking
from holdfast.record.postgres.carried import PostgresCarried
from holdfast.runtime.session_log import SessionLog


def die(*_given: Any, **_named: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def after(before: Callable[..., Any]) -> Callable[..., Any]:
    """Does what it did, and dies."""

    async def done(*given: Any, **named: Any) -> Any:
        await before(*given, **named)
        die()

    return done


def prepare(moment: str) -> None:
    """Whoever is taken from here ends the process at that moment."""
    if moment == "effects":
        carrying.CarriedWorkspace.keep = die
    elif moment == "pieces":  # one is stored, the list of them is not
        PostgresCarried.put = after(PostgresCarried.put)
    elif moment == "list":  # all is stored, and the journal does not name it
        append = SessionLog.append

        async def named(self: SessionLog, payloads: Any, **more: Any) -> Any:
            if any(type(one).__name__ == "WorkspaceKept" for one in payloads):
                die()
            return await append(self, payloads, **more)

        SessionLog.append = named
    elif moment == "unpacking":
        unpacking.Unpacking.finish = die
    else:
        rename = Path.rename

        def renamed(self: Path, target: Any) -> Path:
            rename(self, target)
            return die() if self.name == copies.FILES else target

        Path.rename = renamed


if __name__ == "__main__":
    SETTINGS, FOLDER, MOMENT, SESSION = sys.argv[1:]
    machine = Machine(msgspec.json.decode(SETTINGS, type=Settings), Path(FOLDER))
    prepare(MOMENT)
    anyio.run(machine.goes_on, SESSION, runs("echo 2 > file; echo more > new"), DONE)
