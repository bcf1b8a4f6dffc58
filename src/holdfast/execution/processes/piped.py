"""A process that is spoken with over its standard streams for as long as it lives.

What it prints is handed on piece by piece, as it comes: nobody has to wait for it, so nobody who
stops waiting keeps it from being read. What is said is not known here. It ends with its sandbox at
the latest.
"""

import asyncio
import os
from collections.abc import Callable

from holdfast.contract.programs import Listener
from holdfast.contract.shell import KilledBy, Printed
from holdfast.execution.processes.capture import StreamName
from holdfast.execution.processes.command import Command
from holdfast.execution.processes.spawners import Spawner, Start
from holdfast.execution.processes.wardens import Warden
from holdfast.execution.warden.wire import Ended

MOST_UNSENT = 64 * 1024 * 1024
START_SECONDS = 10.0
_PIECE = 64 * 1024
_LAST_WORDS = 4096
_LONGEST_SAID = 300


class Piped:
    """One process, from its start to its end."""

    def __init__(self, warden: Warden, command: Command, listener: Listener) -> None:
        self._warden = warden
        self._command = command
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._begun = self._loop.time()
        self._unsent = bytearray()
        self._printed = 0
        self._errors = 0
        self._last_words = b""
        self._ends: dict[str, int] = {}
        self._spawner: Spawner = warden.spawner()
        self._status: Ended | None = None
        self.when_over: Callable[[KilledBy | None, int | None], None] = _tell_nobody
        """Called when it is over: who ended it, and its exit status where it did so itself."""
        self._ended_by: KilledBy | None = None
        self.over = False
        try:
            self._ended = self._start()
        except BaseException:
            self._leave("it could not be started")
            raise

    async def started(self) -> None:
        """Return when it runs; OSError or SandboxUnavailable when it never will."""
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._spawner.started()
        except BaseException:
            self._leave("it could not be started")
            raise

    def last(self, name: StreamName, count: int, /) -> bytes:
        """The end of a stream, for somebody who looks on; what is said in answer is not kept."""
        return self._last_words[-count:] if name == "stderr" else b""

    def send(self, content: bytes) -> None:
        """Have it read this after what was sent before. Nobody waits; what is over hears nothing.

        One that does not read what it is sent is ended.
        """
        if self.over:
            return
        self._unsent += content
        if len(self._unsent) > MOST_UNSENT:
            self.end("lost")
            return
        self._write()

    def terminate(self, by: KilledBy = "user", _grace: float | None = None) -> None:
        """End it, and all it started; safe from any thread."""
        self._loop.call_soon_threadsafe(self.end, by)

    def end(self, by: KilledBy) -> None:
        """The same, at once: the warden ends what it started."""
        self._ended_by = self._ended_by or by
        self._leave(f"it was ended ({by})")

    def _start(self) -> "asyncio.Future[Ended]":
        command = self._command
        command.record.begins_in(command.cwd)
        files: list[int] = []
        try:
            for name in ("stdin", "stdout", "stderr"):
                reading, writing = os.pipe2(os.O_CLOEXEC)
                ours, theirs = (writing, reading) if name == "stdin" else (reading, writing)
                os.set_blocking(ours, False)
                self._ends[name] = ours
                files.append(theirs)
            start = Start(command.argv, command.cwd, command.environment, files)
            ended = self._spawner.start(start, tell=True)
        finally:
            for file in files:
                os.close(file)
        self._loop.add_reader(self._ends["stdout"], self._read)
        self._loop.add_reader(self._ends["stderr"], self._read_errors)
        ended.add_done_callback(self._has_ended)
        return ended

    def _has_ended(self, ended: "asyncio.Future[Ended]") -> None:
        if self.over or ended.cancelled():
            return
        problem = ended.exception()
        if problem is not None:
            self._leave(str(problem))
            return
        for name, read in (("stdout", self._read), ("stderr", self._read_errors)):
            while name in self._ends and read():
                pass  # what it printed last
        self._status = ended.result()
        status = self._status.exit
        how = f"exit status {status}" if status >= 0 else f"signal {-status}"
        said = self._last_words.decode("utf-8", "replace").strip().splitlines()
        self._leave(f"{how}: {said[-1][:_LONGEST_SAID]}" if said else how)

    def _read(self) -> bool:
        piece = self._piece("stdout")
        self._printed += len(piece)
        if piece:
            self._listener.printed(piece)
        return bool(piece)

    def _read_errors(self) -> bool:
        piece = self._piece("stderr")
        self._errors += len(piece)
        self._last_words = (self._last_words + piece)[-_LAST_WORDS:]
        return bool(piece)

    def _piece(self, name: str) -> bytes:
        try:
            piece = os.read(self._ends[name], _PIECE)
        except BlockingIOError:
            return b""
        if not piece:
            self._close_end(name)
        return piece

    def _write(self) -> None:
        end = self._ends["stdin"]
        try:
            while self._unsent:
                del self._unsent[: os.write(end, self._unsent[:_PIECE])]
        except BlockingIOError:
            self._loop.add_writer(end, self._write)
            return
        except OSError:
            self._unsent.clear()  # it reads no more; that it has ended is noticed elsewhere
        self._loop.remove_writer(end)

    def _close_end(self, name: str) -> None:
        end = self._ends.pop(name)
        if name == "stdin":
            self._loop.remove_writer(end)
        else:
            self._loop.remove_reader(end)
        os.close(end)

    def _leave(self, how: str) -> None:
        if self.over:
            return
        self.over = True
        for name in tuple(self._ends):
            self._close_end(name)
        self._unsent.clear()
        self._spawner.close()
        status = None if self._status is None or self._ended_by else self._status.exit
        printed = Printed(b"", b"", self._printed), Printed(b"", self._last_words, self._errors)
        self._command.record.over(status, self._loop.time() - self._begun, *printed)
        self.when_over(self._ended_by, status)
        self._listener.over(how, self._ended_by)


class PipedProcesses:
    """Those of one sandbox."""

    def __init__(self) -> None:
        self._running: list[Piped] = []

    async def start(self, warden: Warden, command: Command, listener: Listener) -> Piped:
        """Start one; raises OSError or SandboxUnavailable."""
        self._running = [one for one in self._running if not one.over]
        process = Piped(warden, command, listener)
        self._running.append(process)
        await process.started()
        return process

    def any(self) -> bool:
        """Whether one of them runs."""
        return any(not one.over for one in self._running)

    async def close(self) -> None:
        """End them all, without a grace period."""
        for process in self._running:
            process.end("abort")
        self._running = []


def _tell_nobody(_by: KilledBy | None, _status: int | None) -> None:
    """Nobody watches."""
