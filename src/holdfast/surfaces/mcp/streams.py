"""Two descriptors as the event loop sees them: bytes in as they come, messages out in few writes.

Whoever waits for a byte is called by the loop itself: a task in between costs more than a whole
answer (design/0016). Nothing here ever blocks the loop. What the bytes say is not known here.
"""

import asyncio
import os
import select
import stat
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from anyio import Event, to_thread

_CHUNK = 64 * 1024
_DROP_BYTES = 256 * 1024
"""With so much unread, signs of life are left out."""
_STOP_BYTES = 4 * 1024 * 1024
"""With so much unread, no further message is taken."""
_TURN_BYTES = 256 * 1024
"""So much is written before the loop may do something else."""


class Outbox:
    """What still has to be written. Messages may come from any thread."""

    def __init__(self, descriptor: int, gone: Callable[[], None]) -> None:
        """``gone``: called when nobody reads any more."""
        self._descriptor = descriptor
        self._gone = gone
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)
        self._messages: deque[bytes] = deque()
        self._left = memoryview(b"")
        self._bytes = 0
        self._counting = threading.Lock()
        self._is_called = False
        self._is_waiting = False
        self._is_broken = False
        self.is_last: Callable[[], bool] = _never
        """Whether no other answer can follow in this turn of the loop."""
        self.emptied: Callable[[], None] = _nothing
        """Called when there is room again for whoever reads."""
        self._all_written = Event()

    @property
    def is_full(self) -> bool:
        """Whether the client has to read before it is asked for more."""
        return self._bytes > _STOP_BYTES and not self._is_broken

    def send(self, message: bytes, /, *, droppable: bool = False) -> None:
        """Put a message in line."""
        with self._counting:
            if droppable and self._bytes > _DROP_BYTES:
                return
            self._bytes += len(message) + 1
        self._messages.append(message)
        if not self._is_called:
            self._is_called = True
            self._call_writer()

    def _call_writer(self) -> None:
        if threading.get_ident() == self._thread:
            self._loop.call_soon(self._write)  # with all else that is answered in this turn
        else:
            self._loop.call_soon_threadsafe(self._write)

    def finish(self, message: bytes, _code: int = 0, /) -> None:
        """Put an answer in line, or write it at once: nothing is there, or to come, to go along."""
        is_alone = not (self._bytes or self._is_called or self._is_broken)
        if not is_alone or threading.get_ident() != self._thread or not self.is_last():
            self.send(message)
            return
        with self._counting:
            self._bytes += len(message) + 1
        self._messages.append(message)
        self._write_turn()

    def skip(self) -> None:
        """Nobody waits for a line."""

    async def flushed(self) -> None:
        """Wait until everything that is in line is written, or nobody reads any more."""
        self._write()
        while (self._left or self._messages) and not self._is_broken:
            self._all_written = Event()
            await self._all_written.wait()

    def close(self) -> None:
        """Write nothing more."""
        self._is_broken = True
        self._wait(is_full=False)

    def _write(self) -> None:
        self._is_called = False
        if not self._is_broken:
            self._write_turn()
            self._all_written.set()
            self.emptied()

    def _write_turn(self) -> None:
        try:
            is_full = self._write_some()
        except OSError:
            self.close()
            self._gone()
        else:
            self._wait(is_full=is_full)
            if not is_full and (self._left or self._messages) and not self._is_called:
                self._is_called = True
                self._loop.call_soon(self._write)  # others have their turn first

    def _write_some(self) -> bool:
        """Write what one turn has; whether there is no room for more."""
        written = 0
        while (self._left or self._messages) and written < _TURN_BYTES:
            if not self._left:
                self._left = memoryview(self._next())
            # What is written at once fits whenever there is room at all: nothing blocks.
            if not self._poll.poll(0):
                return True
            count = os.write(self._descriptor, self._left[: select.PIPE_BUF])
            self._left = self._left[count:]
            written += count
            with self._counting:
                self._bytes -= count
        return False

    def _next(self) -> bytes:
        """The next messages in line, as far as they are short; others may come meanwhile."""
        parts: list[bytes] = []
        size = 0
        while self._messages and size < select.PIPE_BUF:
            message = self._messages.popleft()
            parts += (message, b"\n")
            size += len(message) + 1
        return b"".join(parts)

    def _wait(self, *, is_full: bool) -> None:
        """Have the loop call when there is room, or not any more."""
        if is_full == self._is_waiting:
            return
        self._is_waiting = is_full
        if is_full:
            self._loop.add_writer(self._descriptor, self._write)
        else:
            self._loop.remove_writer(self._descriptor)


class Taking(Protocol):
    """Who takes what is read, as far as there is room for answers."""

    def heard(self, chunk: bytes, /) -> None:
        """This was read."""
        ...

    def go_on(self) -> bool:
        """Take what was read, as far as there is room; whether that is all of it."""
        ...


class Inbox:
    """Hands on what is read, until there is nothing more."""

    def __init__(self, descriptor: int, outbox: Outbox, taking: "Taking") -> None:
        self._descriptor = descriptor
        self._outbox = outbox
        self._taking = taking
        self._loop = asyncio.get_running_loop()
        self._is_listening = False
        self._over = Event()

    async def run(self) -> None:
        """Return at the end of the input."""
        facts = os.fstat(self._descriptor).st_mode
        if not (stat.S_ISFIFO(facts) or stat.S_ISSOCK(facts) or os.isatty(self._descriptor)):
            await self._run_file()
            return
        self._outbox.emptied = self._go_on
        self._listen()
        try:
            await self._over.wait()
        finally:
            self._outbox.emptied = _nothing
            self._listen(is_wanted=False)

    async def _run_file(self) -> None:
        """What is no pipe can be waited for in a thread alone."""
        while chunk := await to_thread.run_sync(os.read, self._descriptor, _CHUNK):
            self._taking.heard(chunk)
            while not self._taking.go_on():
                await self._outbox.flushed()

    def _go_on(self) -> None:
        """There is room: take what was put off before more is read."""
        if self._taking.go_on():
            self._listen()

    def _listen(self, *, is_wanted: bool = True) -> None:
        wanted = is_wanted and not self._over.is_set()
        if wanted == self._is_listening:
            return
        self._is_listening = wanted
        if wanted:
            self._loop.add_reader(self._descriptor, self._read)
        else:
            self._loop.remove_reader(self._descriptor)

    def _read(self) -> None:
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._over.set()
        else:
            self._taking.heard(chunk)
        self._listen(is_wanted=bool(chunk) and self._taking.go_on())


def _never() -> bool:
    return False


def _nothing() -> None:
    """Nobody waits."""
