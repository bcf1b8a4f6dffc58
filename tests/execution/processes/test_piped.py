"""Processes that are spoken with: all they print is heard, one that does not listen is ended."""

import asyncio
import errno
import os
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from execution.processes.ground import opened, until_empty
from execution.processes.session import descriptors
from execution.processes.shell_kit import until

from holdfast.contract.programs import Listener
from holdfast.contract.shell import KilledBy
from holdfast.execution.processes.command import Command
from holdfast.execution.processes.piped import MOST_UNSENT, Piped, PipedProcesses
from holdfast.execution.processes.wardens import Warden

LARGE_PIPE = """
import fcntl, sys
fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20)
fcntl.fcntl(2, fcntl.F_SETPIPE_SZ, 1 << 20)
sys.stderr.write("y" * 900_000 + "\\nlast words")
sys.stdout.write("x" * 900_000 + "end")
"""
SLOW = "import sys, time; time.sleep(0.3); print(len(sys.stdin.buffer.read(1_000_000)), flush=True)"


class Heard:
    """What is heard of a process."""

    def __init__(self) -> None:
        self.printed = b""
        self.ends: list[tuple[str, KilledBy | None]] = []
        self.before_the_end = b""

    def take(self, piece: bytes) -> None:
        self.printed += piece

    def over(self, how: str, by: KilledBy | None) -> None:
        self.before_the_end = self.printed
        self.ends.append((how, by))

    @property
    def listener(self) -> Listener:
        return Listener(self.take, self.over)


class Place:
    """Where they run."""

    def __init__(self, warden: Warden, workspace: Path) -> None:
        self.warden = warden
        self.workspace = workspace
        self.processes = PipedProcesses()
        self.heard = Heard()

    async def start(self, *argv: str) -> Piped:
        command = Command(argv, str(self.workspace), {"PATH": os.defpath})
        return await self.processes.start(self.warden, command, self.heard.listener)

    async def bash(self, text: str) -> Piped:
        return await self.start("bash", "-c", text)


@asynccontextmanager
async def place(tmp_path: Path) -> AsyncGenerator[Place]:
    async with asyncio.timeout(20), opened(tmp_path, "unconfined") as ground:
        here = Place(ground.warden, ground.workspace)
        yield here
        await here.processes.close()
        await until_empty(ground.workspace)


async def test_all_it_printed_is_heard_before_its_end(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        process = await here.start(sys.executable, "-c", LARGE_PIPE)
        time.sleep(0.7)  # noqa: ASYNC251 - it ends while nobody reads
        await until(lambda: process.over)
        assert here.heard.ends == [("exit status 0: last words", None)]
        assert here.heard.before_the_end == b"x" * 900_000 + b"end"
        assert process.last("stderr", 4) == b"ords"
        assert process.last("stdout", 4) == b""


async def test_it_has_ended_although_another_still_holds_its_output(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        await here.bash("sleep 60 & echo said; exit 7")
        await until(lambda: bool(here.heard.ends))
        assert here.heard.ends == [("exit status 7", None)]
        assert here.heard.before_the_end == b"said\n"


async def test_one_that_reads_late_gets_everything(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        process = await here.start(sys.executable, "-c", SLOW)
        for _ in range(4):
            process.send(b"x" * 250_000)
        await until(lambda: bool(here.heard.ends))
        assert here.heard.before_the_end == b"1000000\n"


async def test_one_that_hears_no_more_goes_on(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        process = await here.bash("exec 0<&-; echo deaf; sleep 60")
        await until(lambda: here.heard.printed == b"deaf\n")
        process.send(b"hello\n")
        process.send(b"hello\n")
        assert here.heard.ends == []
        assert here.processes.any()
        process.end("user")
        assert here.heard.ends == [("it was ended (user)", "user")]


async def test_one_that_does_not_read_is_ended(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        process = await here.bash("sleep 60")
        process.send(b"x" * (MOST_UNSENT // 2))
        assert here.processes.any()
        process.send(b"x" * (MOST_UNSENT // 2 + 100_000))
        assert here.heard.ends == [("it was ended (lost)", "lost")]
        process.send(b"more")  # what is over hears nothing
        assert not here.processes.any()
        await until_empty(here.workspace)


async def test_one_without_pipes_is_not_started_and_nothing_stays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path) as here:
        before, real, made = descriptors(), os.pipe2, list[int]()

        def few(flags: int) -> tuple[int, int]:
            made.append(flags)
            if len(made) == 3:
                raise OSError(errno.EMFILE, "too many")
            return real(flags)

        with monkeypatch.context() as patched:
            patched.setattr(os, "pipe2", few)
            with pytest.raises(OSError, match="too many"):
                await here.start("true")
        assert here.heard.ends == [("it could not be started", None)]
        assert descriptors() <= before
        assert not here.processes.any()
