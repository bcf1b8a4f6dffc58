"""What a process of its own does to a store: as nobody, without streams, beside others.

python store_child.py WHAT PATH          prints what came of it
"""

import asyncio  # noqa: TID251 - the journal uses its threads
import os
import sys
import time
from pathlib import Path

import anyio

from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.journal import Journal, JournalError
from holdfast.record.codec import Chain
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

KEY = b"k" * 32
NOBODY = 65534


def made(path: Path) -> Journal:
    clock = SystemClock()
    return open_sqlite(path, Chain(KEY), clock, TimeIds(clock)).journal


async def one_more(path: Path) -> str:
    """Append to ses_1, made where there is none; what is wrong, if anything."""
    try:
        journal = made(path)
    except JournalError as problem:
        return f"not opened: {problem}"
    try:
        if not await journal.events("ses_1", limit=1):
            await journal.create("ses_1", [SessionCreated()])
        (event,) = await journal.append("ses_1", [UserMessage(message="one more")])
    except JournalError as problem:
        return f"not written: {problem}"
    else:
        return f"written as {event.sequence}"
    finally:
        await journal.close()


async def for_ever(path: Path) -> str:
    """Append, and tell each; to be killed."""
    journal = made(path)
    await journal.create("ses_1", [SessionCreated()])
    while True:
        (event,) = await journal.append("ses_1", [UserMessage(message="x" * 200)])
        os.write(1, f"{event.sequence}\n".encode())


async def in_threads() -> None:
    """What event loops and threads need is loaded before it cannot be read."""
    await anyio.to_thread.run_sync(time.time)
    await asyncio.to_thread(time.time)


def main(what: str, path: Path) -> None:
    anyio.run(in_threads)
    if what == "nobody" and os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    if what == "without streams":
        for number in range(3):
            os.close(number)
    if what == "at a moment":
        time.sleep(max(0.0, float(sys.argv[3]) - time.time()))
    told = anyio.run(for_ever if what == "for ever" else one_more, path)
    if what != "without streams":
        os.write(1, told.encode())


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
