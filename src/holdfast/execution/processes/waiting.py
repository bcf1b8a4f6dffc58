"""Whether a command that was silent for too long waits for somebody to type something.

Nothing is ever ended because of what is found here: it is asked when a limit has run out anyway,
and only says in the report why nothing happened. Mostly nothing can wait: standard input is empty,
and there is no terminal, so that opening one fails at once. What is left is a program that reads a
pipe nobody writes to, or a terminal that a program made itself.

Two things are looked at. What the kernel says a process of the command is blocked in: reading a
terminal, or a pipe for which no other process of the sandbox has the writing end, is certain.
Waiting for any of several files (poll, select, epoll) is not: a server does the same. Second, the
last line that was printed without an end: it is told as the prompt, and where the kernel leaves it
open (or does not let us look) it decides, if it looks like a question.
"""

import asyncio
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_ISFIFO
from typing import Literal, NamedTuple

from holdfast.execution.kernel.system_calls import this_machine
from holdfast.execution.processes.capture import Capture

Evidence = Literal["reads", "waits", "unknown", "nothing"]
"""How sure it is, the surest first."""

MOST_PROCESSES = 512
SYSTEM_CALL = "syscall"
"""The file that tells what a thread is blocked in."""
_MOST_PROMPT = 400
_PROMPT = re.compile(r"(?:[:?>\])]|password|passphrase)\s*$", re.IGNORECASE)

_READING = {"x86_64": {0, 17, 19}, "aarch64": {63, 65, 67}}
"""read, readv and pread."""
_WAITING = {"x86_64": {7, 23, 232, 270, 271, 281, 441}, "aarch64": {22, 72, 73, 441}}
"""poll, select, epoll and their variants."""


async def awaited_input(keeper: int, capture: Capture) -> str | None:
    """The prompt of a command that waits for input, may it be empty; None: it does not."""
    printout = capture.printout
    prompt = unfinished_line(printout.last(printout.last_stream, _MOST_PROMPT))
    evidence = await asyncio.to_thread(evidence_of_waiting, keeper, capture.pipes())
    if evidence == "reads":
        return prompt
    asks = evidence in ("waits", "unknown") and _PROMPT.search(prompt)
    return prompt if asks else None


def unfinished_line(printed: bytes) -> str:
    """What was printed after the last end of a line."""
    line = re.split(rb"[\r\n]", printed)[-1]
    return line.decode("utf-8", "replace")


class _Process(NamedTuple):
    """One process, as the system shows it."""

    number: int
    parent: int
    reading: dict[str, str]
    """What its descriptors are that it can read from."""
    writing: set[str]
    """What it can write to."""


def evidence_of_waiting(keeper: int, pipes: set[int]) -> Evidence:
    """What the processes of a command, below a keeper, are blocked in. Blocking.

    They are those that print to its pipes, and what they started.
    """
    processes = [_look(number, parent) for number, parent in _descendants(keeper)]
    printed_to = {f"pipe:[{pipe}]" for pipe in pipes}
    ours: set[int] = set()
    found: set[Evidence] = {"nothing"}
    for process in processes:
        if process.writing & printed_to or process.parent in ours:
            ours.add(process.number)
            others = (other.writing for other in processes if other is not process)
            found.add(_blocked_in(process, set[str]().union(*others)))
    order: tuple[Evidence, ...] = ("reads", "waits", "unknown", "nothing")
    return next(one for one in order if one in found)


def _blocked_in(process: _Process, written_by_others: set[str]) -> Evidence:
    found: Evidence = "nothing"
    try:
        for thread in Path(f"/proc/{process.number}/task").iterdir():
            words = (thread / SYSTEM_CALL).read_text("ascii").split()
            if not words[0].lstrip("-").isdigit():
                continue  # it runs
            call = int(words[0])
            if call in _READING[this_machine()]:
                source = process.reading.get(str(int(words[1], 16)))
                if source and (_is_terminal(source) or source not in written_by_others):
                    return "reads"
            elif call in _WAITING[this_machine()]:
                found = "waits"
    except OSError:
        return "unknown"
    return found


def _look(number: int, parent: int) -> _Process:
    reading: dict[str, str] = {}
    writing: set[str] = set()
    with suppress(OSError):
        for entry in Path(f"/proc/{number}/fd").iterdir():
            with suppress(OSError):
                mode, known_as = entry.lstat().st_mode, str(entry.readlink())
                if mode & 0o200:
                    writing.add(known_as)
                if mode & 0o400 and _can_be_typed_into(entry, known_as):
                    reading[entry.name] = known_as
    return _Process(number, parent, reading, writing)


def _can_be_typed_into(entry: Path, known_as: str) -> bool:
    """A terminal or a pipe; a socket is a program's own business."""
    return _is_terminal(known_as) or S_ISFIFO(entry.stat().st_mode)


def _is_terminal(known_as: str) -> bool:
    """Not the other side of one, which a program reads that made it."""
    return known_as.startswith(("/dev/pts/", "/dev/tty")) and not known_as.endswith("/ptmx")


def _descendants(keeper: int) -> Iterator[tuple[int, int]]:
    """Each process below it with its parent, parents first."""
    found = [(keeper, 0)]
    for number, parent in found:
        yield number, parent
        if len(found) < MOST_PROCESSES:
            with suppress(OSError):
                for thread in Path(f"/proc/{number}/task").iterdir():
                    children = (thread / "children").read_text("ascii").split()
                    found += [(int(child), number) for child in children]
