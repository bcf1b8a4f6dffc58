"""Over standard streams: one message a line. Whoever started us is the one client.

Input is read in chunks and output written in as few writes as possible, neither ever blocking the
event loop. The end of input ends everything, in order. What the messages say is not known here.
"""

import os
import select
import stat
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from signal import SIGHUP, SIGTERM

from anyio import (
    CancelScope,
    Event,
    create_task_group,
    move_on_after,
    open_signal_receiver,
    to_thread,
    wait_readable,
    wait_writable,
)

from holdfast.execution.drive import Wakeup
from holdfast.surfaces.mcp.batches import taken
from holdfast.surfaces.mcp.client import Client
from holdfast.surfaces.mcp.messages import (
    INVALID_REQUEST,
    MAX_MESSAGE_BYTES,
    Fault,
    refusal,
)
from holdfast.surfaces.mcp.served import Open, Served

_CHUNK = 64 * 1024
_DROP_BYTES = 256 * 1024
"""With so much unread, signs of life are left out."""
_STOP_BYTES = 4 * 1024 * 1024
"""With so much unread, no further message is read."""
_FAREWELL_SECONDS = 0.5
"""How long calls may go on after the end of input before they are stopped."""
_ENDING_SECONDS = 1.0
"""How long calls that were stopped may take to end."""
_TOO_LONG = Fault(
    INVALID_REQUEST, f"Invalid request: a message has {MAX_MESSAGE_BYTES:,} bytes at most"
)


class Outbox:
    """What still has to be written. Messages may come from any thread."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)
        self._messages: deque[bytes] = deque()
        self._bytes = 0
        self._counting = threading.Lock()
        self._filled = Wakeup()
        self._emptied = Event()
        self._is_idle = True

    def send(self, message: bytes, /, *, droppable: bool = False) -> None:
        """Put a message in line."""
        with self._counting:
            if droppable and self._bytes > _DROP_BYTES:
                return
            self._bytes += len(message) + 1
        self._messages.append(message)
        if self._is_idle:
            self._is_idle = False
            self._filled.set()

    def finish(self, message: bytes, _code: int = 0, /) -> None:
        """Put an answer in line."""
        self.send(message)

    async def room(self) -> None:
        """Wait until the client has read enough to be asked for more."""
        while self._bytes > _STOP_BYTES:
            self._emptied = Event()
            await self._emptied.wait()

    async def pump(self) -> None:
        """Write what there is, as it comes; OSError when nobody reads any more."""
        while True:
            await self._filled.wait()
            self._filled = Wakeup()
            self._is_idle = True
            await self.flush()

    async def flush(self) -> None:
        """Write everything that is in line."""
        while self._messages:
            lines: list[bytes] = []
            while self._messages:
                lines += (self._messages.popleft(), b"\n")
            text = b"".join(lines)
            await self._write(text)
            with self._counting:
                self._bytes -= len(text)
            self._emptied.set()

    async def _write(self, text: bytes) -> None:
        left = memoryview(text)
        while left:
            # What is written at once fits whenever there is room at all: nothing blocks.
            if not self._poll.poll(0):
                await wait_writable(self._descriptor)
            left = left[os.write(self._descriptor, left[: select.PIPE_BUF]) :]


class Lines:
    """Cuts what is read into lines; one that is too long is passed over, and told once."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._is_too_long = False

    def cut(self, chunk: bytes) -> Iterator[bytes | Fault]:
        """The lines that have ended."""
        *ended, rest = chunk.split(b"\n")
        for end in ended:
            line = bytes(self._rest) + end if self._rest else end
            self._rest.clear()
            if self._is_too_long:
                self._is_too_long = False
            elif len(line) > MAX_MESSAGE_BYTES:
                yield _TOO_LONG
            elif line.strip():
                yield line
        if self._is_too_long:
            return
        self._rest += rest
        if len(self._rest) > MAX_MESSAGE_BYTES:
            self._rest.clear()
            self._is_too_long = True
            yield _TOO_LONG

    def last(self) -> Iterator[bytes | Fault]:
        """What stands at the end without a line break."""
        return self.cut(b"\n")


async def serve(make: Open, stdin: int, stdout: int) -> None:
    """Answer until the input ends, the output is closed, or a signal comes."""
    served = Served(make)
    async with served.holdfast:
        outbox = Outbox(stdout)
        async with create_task_group() as group:
            client = Client(served, group)
            client.listed_to(outbox)
            reading = CancelScope()
            group.start_soon(_written, outbox, reading)
            group.start_soon(_signalled, reading)
            group.start_soon(served.watch)
            with reading:
                await _read(stdin, client, outbox)
            if not reading.cancelled_caught:
                await _idle(client, _FAREWELL_SECONDS)
            client.end()
            served.stop()
            await _idle(client, _ENDING_SECONDS)
            group.cancel_scope.cancel()
        with suppress(OSError), move_on_after(_ENDING_SECONDS):
            await outbox.flush()


async def _read(stdin: int, client: Client, outbox: Outbox) -> None:
    lines = Lines()
    async for chunk in _chunks(stdin):
        for line in lines.cut(chunk):
            _take(line, client, outbox)
        await outbox.room()
    for line in lines.last():
        _take(line, client, outbox)


def _take(line: bytes | Fault, client: Client, outbox: Outbox) -> None:
    if isinstance(line, Fault):
        outbox.finish(refusal(None, line))
    else:
        taken(line, client, outbox)


async def _chunks(stdin: int) -> AsyncIterator[bytes]:
    facts = os.fstat(stdin).st_mode
    waits = stat.S_ISFIFO(facts) or stat.S_ISSOCK(facts) or os.isatty(stdin)
    while True:
        if waits:
            await wait_readable(stdin)
            chunk = os.read(stdin, _CHUNK)
        else:
            chunk = await to_thread.run_sync(os.read, stdin, _CHUNK)
        if not chunk:
            return
        yield chunk


async def _written(outbox: Outbox, reading: CancelScope) -> None:
    try:
        await outbox.pump()
    except OSError:
        reading.cancel()  # nobody reads any more


async def _signalled(reading: CancelScope) -> None:
    with open_signal_receiver(SIGTERM, SIGHUP) as signals:
        async for _ in signals:
            reading.cancel()
            return


async def _idle(client: Client, seconds: float) -> None:
    with move_on_after(seconds):
        await client.idle()
