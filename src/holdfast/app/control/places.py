"""Where the sockets of processes that run sessions are, and what they are called.

A socket is named after its process, so who holds a session's lease tells where to ask. One that its
process left behind is taken away by whoever sees it. What is said over a socket is not known here.
"""

import hashlib
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from anyio import move_on_after

from holdfast.app.holders import is_gone, process_of, this_process
from holdfast.app.settings import Surroundings
from holdfast.app.state_file import make_private
from holdfast.contract.ports import Clock
from holdfast.execution.local_sockets import UNNAMED, SocketFolder, are_known

FOLDER = "control"
_ENDING = ".sock"
_NAME_DIGITS = 8
_HOME_DIGITS = 16
_STARTING_SECONDS = 60.0
"""How long one of a process that cannot be seen from here may take to listen."""
_CONNECT_SECONDS = 1.0
_numbers = count()


def new_name() -> str:
    """A name for a socket of this process that no other one has."""
    return f"{_beginning(this_process())}{next(_numbers)}{_ENDING}"


def folders(around: Surroundings) -> Iterator[Path]:
    """Where the sockets of a home may be, the best place first."""
    home = hashlib.sha256(os.fsencode(around.data_home.absolute())).hexdigest()[:_HOME_DIGITS]
    for runtime in around.runtime_homes:
        yield runtime / home
    if around.state_home is not None:
        yield around.state_home / FOLDER / home


def made_folder(around: Surroundings) -> SocketFolder:
    """The first of them that can be had, made where it is missing; OSError."""
    problem = OSError("there is no folder for it, or this system does not tell who connects")
    for path in folders(around) if are_known() else ():
        try:
            _make(path, around)
            return SocketFolder(path)
        except OSError as found:
            problem = found
    raise problem


def leave(around: Surroundings) -> None:
    """Take folders away in which no socket is left."""
    for path in folders(around):
        with suppress(OSError):
            path.rmdir()


@contextmanager
def open_folders(around: Surroundings) -> Generator[list[SocketFolder]]:
    """Those that are there and can be trusted."""
    found: list[SocketFolder] = []
    try:
        for path in folders(around) if are_known() else ():
            with suppress(OSError):
                found.append(SocketFolder(path))
        yield found
    finally:
        for folder in found:
            folder.close()


def sockets_of(folder: SocketFolder, holder: str) -> list[str]:
    """The sockets of the process that a holder is, the newest first."""
    process = process_of(holder)
    if process is None:
        return []
    beginning = _beginning(process)
    own = [name for name in folder.names() if name.startswith(beginning)]
    return sorted(own, key=_number, reverse=True)


async def remove_stale(folder: SocketFolder, clock: Clock) -> None:
    """Take away what processes of this machine left behind; one that may live keeps its own."""
    node, era = _machine(this_process())
    machine = this_process().rpartition("/")[0]
    for name in folder.names():
        parts = name.removeprefix(UNNAMED).removesuffix(_ENDING).split("-")
        if not name.endswith(_ENDING) or len(parts) != 5 or parts[0] != node:
            continue
        if parts[1] == era:
            stale = is_gone(f"{machine}/{parts[2]}-{parts[3]}")
        else:  # before the machine was started anew, or where numbers mean other processes
            stale = await _is_deserted(folder, name, clock)
        if stale:
            with suppress(OSError):
                folder.remove(name)


async def _is_deserted(folder: SocketFolder, name: str, clock: Clock) -> bool:
    try:
        if clock.unix_ns() / 1e9 - folder.made_at(name) < _STARTING_SECONDS:
            return False
        with move_on_after(_CONNECT_SECONDS):
            await (await folder.connect(name)).aclose()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


def _make(path: Path, around: Surroundings) -> None:
    home = path.parent
    if home in around.runtime_homes:
        home.parent.stat()  # it is the system's to make
    make_private(path)


def _beginning(process: str) -> str:
    """What the names of all sockets of a process begin with."""
    node, era = _machine(process)
    return f"{node}-{era}-{process.rpartition('/')[2]}-"


def _machine(process: str) -> tuple[str, str]:
    """The machine, and since when its numbers mean the processes they mean."""
    machine = process.rpartition("/")[0]
    return _short(os.uname().nodename), _short(machine)


def _short(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:_NAME_DIGITS]


def _number(name: str) -> int:
    last = name.removesuffix(_ENDING).rpartition("-")[2]
    return int(last) if last.isdigit() else -1
