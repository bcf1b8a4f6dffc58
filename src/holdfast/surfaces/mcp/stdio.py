"""Over standard streams: one message a line. Whoever started us is the one client.

The end of input ends everything, in order. How bytes come and go, and what the messages say, is not
known here.
"""

from collections import deque
from collections.abc import Callable, Iterator
from signal import SIGHUP, SIGTERM

from anyio import CancelScope, create_task_group, move_on_after, open_signal_receiver

from holdfast.surfaces.mcp.batches import taken
from holdfast.surfaces.mcp.client import Client
from holdfast.surfaces.mcp.messages import (
    INVALID_REQUEST,
    MAX_MESSAGE_BYTES,
    Fault,
    refusal,
)
from holdfast.surfaces.mcp.remarks import Remarks
from holdfast.surfaces.mcp.served import Open, Served
from holdfast.surfaces.mcp.streams import Inbox, Outbox

_FAREWELL_SECONDS = 0.5
"""How long calls may go on after the end of input before they are stopped."""
_ENDING_SECONDS = 1.0
"""How long calls that were stopped may take to end."""
_TOO_LONG = Fault(
    INVALID_REQUEST, f"Invalid request: a message has {MAX_MESSAGE_BYTES:,} bytes at most"
)


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


async def serve(make: Open, stdin: int, stdout: int, tell: Callable[[str], None]) -> None:
    """Answer until the input ends, the output is closed, or a signal comes.

    ``tell``: writes one line to standard error.
    """
    served = Served(make, Remarks(tell))
    async with served.holdfast:
        reading = CancelScope()
        outbox = Outbox(stdout, reading.cancel)
        async with create_task_group() as group:
            client = Client(served)
            client.listed_to(outbox)
            group.start_soon(_signalled, reading)
            group.start_soon(served.watch)
            try:
                with reading:
                    await _read(stdin, client, outbox)
                if not reading.cancelled_caught:
                    await _idle(client, _FAREWELL_SECONDS)
            finally:
                with CancelScope(shield=True):
                    client.end()
                    served.stop()
                    await _idle(client, _ENDING_SECONDS)
                    await client.close()
            group.cancel_scope.cancel()
        with move_on_after(_ENDING_SECONDS):
            await outbox.flushed()
        outbox.close()


async def _read(stdin: int, client: Client, outbox: Outbox) -> None:
    lines = _Taken(client, outbox)
    outbox.is_last = lambda: not (client.is_busy or lines.has_more)
    await Inbox(stdin, outbox, lines).run()
    lines.end()


class _Taken:
    """Takes the lines that are read, one after the other, while answers have room."""

    def __init__(self, client: Client, outbox: Outbox) -> None:
        self._client = client
        self._outbox = outbox
        self._lines = Lines()
        self._put_off: deque[bytes | Fault] = deque()

    @property
    def has_more(self) -> bool:
        """Whether some are not taken yet."""
        return bool(self._put_off)

    def heard(self, chunk: bytes) -> None:
        """This was read."""
        self._put_off.extend(self._lines.cut(chunk))

    def go_on(self) -> bool:
        """Take them, as far as there is room; whether that is all of them."""
        while self._put_off and not self._outbox.is_full:
            self._take(self._put_off.popleft())
        return not self._put_off

    def end(self) -> None:
        """Take what stands at the end without a line break."""
        for line in self._lines.last():
            self._take(line)

    def _take(self, line: bytes | Fault) -> None:
        if isinstance(line, Fault):
            self._outbox.finish(refusal(None, line))
        else:
            taken(line, self._client, self._outbox)


async def _signalled(reading: CancelScope) -> None:
    with open_signal_receiver(SIGTERM, SIGHUP) as signals:
        async for _ in signals:  # a second one must not cut the end short
            reading.cancel()


async def _idle(client: Client, seconds: float) -> None:
    with move_on_after(seconds):
        await client.idle()
