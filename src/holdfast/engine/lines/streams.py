"""One end of a connection over a bus: bytes in their order, without a hole, or not at all.

A bus may lose what is said. So pieces are numbered, and one that is missing ends the stream.
Whoever sends waits until there is room at the other end, so that nobody's memory grows because
somebody does not read. One who says nothing for long, not even that they are there, counts as gone.
Where the ends find each other is not known here.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterator

from anyio import (
    BrokenResourceError,
    CancelScope,
    ClosedResourceError,
    EndOfStream,
    Event,
    Lock,
    current_time,
    move_on_after,
)
from anyio.abc import ByteStream
from anyio.lowlevel import checkpoint

from holdfast.contract.bus import BusUnavailable
from holdfast.engine.lines.frames import MOST_PIECE_BYTES, Frame, Kind, bytes_of, frame_in

MOST_WAITING = 16
"""So many pieces may be under way to somebody who does not read them."""
MOST_ROOM = 1024
"""Nobody has room for more pieces than that; another version may have another number of them."""
_LEAVING_SECONDS = 1.0

Tell = Callable[[bytes], Awaitable[None]]
"""Says something to the other end; BusUnavailable."""


def pieces_of(item: bytes) -> Iterator[bytes]:
    """In their order, none of them too long, and none of them empty."""
    for at in range(0, len(item), MOST_PIECE_BYTES):
        yield item[at : at + MOST_PIECE_BYTES]


class Incoming:
    """What the other end has sent and nobody has read: in order, bounded, without a hole."""

    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque()
        self._came = 0
        self._read = 0
        self._told = MOST_WAITING
        self.over = False
        """Nothing comes any more."""

    def grant(self) -> int:
        """How many pieces may be sent, from the beginning. It has to be told."""
        self._told = self._read + MOST_WAITING
        return self._told

    @property
    def is_due(self) -> bool:
        """Whether the other end may run short, and should be told that there is room."""
        return self._read + MOST_WAITING - self._told >= MOST_WAITING // 2

    def take(self, frame: Frame) -> str | None:
        """What comes; what is wrong with it, if anything is."""
        if frame.sent != self._came:
            return f"{self._came} pieces came, and the other end has sent {frame.sent}"
        if frame.kind is Kind.PIECE:
            if self.over:
                return "more came behind the end"
            if self._came >= self._told:
                return "more came than was asked for"
            self._came += 1
            self._waiting.append(frame.data)
        elif frame.kind in (Kind.END, Kind.GONE):
            self.over = True
        return None

    def read(self, most: int) -> bytes:
        """What is there, at most so much; nothing: nothing is."""
        if not self._waiting:
            return b""
        first = self._waiting.popleft()
        if len(first) > most:
            self._waiting.appendleft(first[most:])
            return first[:most]
        self._read += 1
        return first


class BusStream(ByteStream):
    """One end. One reads at a time, and one writes."""

    def __init__(self, left: Callable[[], Awaitable[None]]) -> None:
        """``left``: once, when it is closed. It is used when it has begun."""
        self._tell: Tell = to_nobody
        self._left = left
        self._incoming = Incoming()
        self._sent = 0
        self._may_send = 0
        self._telling = Lock()
        self._news = Event()
        self._problem: str | None = None
        """Why nothing comes or goes any more."""
        self._is_gone = self._ended = self._closed = False
        """The other end has left; nothing more is sent; this end has left."""
        self._heard_at = current_time()

    def begin(self, tell: Tell, room: int) -> None:
        """Where the other end listens, and how many pieces it has room for."""
        self._tell = tell
        self._may_send = min(room, MOST_ROOM)
        self._heard_at = current_time()

    def hear(self, message: bytes) -> None:
        """What was said to this end. Never waits."""
        if not message:
            self.end("nobody is there any more")
            return
        frame = frame_in(message)
        if frame is None or frame.kind is Kind.OPEN or frame.kind is Kind.TAKEN:
            return
        if self._problem is None and not self._is_gone:
            self._take(frame)

    def end(self, problem: str) -> None:
        """Nothing comes or goes any more; what came before is still read."""
        if self._problem is None and not self._is_gone:
            self._problem = problem
            self._wake()

    async def live(self, silence: float) -> None:
        """Say that this end is there; look whether the other one was heard in so many seconds."""
        if self._problem is not None or self._is_gone or self._closed:
            return
        if current_time() - self._heard_at > silence:
            self.end("the other end says nothing any more")
        elif not self._telling.locked():  # else it is being said
            await self._say_that_it_is_there()

    async def receive(self, max_bytes: int = MOST_PIECE_BYTES) -> bytes:
        """What is there, once something is; EndOfStream."""
        await checkpoint()
        while True:
            if self._closed:
                raise ClosedResourceError
            found = self._incoming.read(max_bytes)
            if found:
                if self._incoming.is_due and not self._incoming.over and self._problem is None:
                    await self._say_that_it_is_there()
                return found
            if self._incoming.over:
                raise EndOfStream
            if self._problem is not None:
                raise BrokenResourceError(self._problem)
            await self._new()

    async def send(self, item: bytes) -> None:
        """All of it, as there is room for it at the other end."""
        await checkpoint()
        self._check()
        for piece in pieces_of(bytes(item)):
            while self._sent >= self._may_send:
                await self._new()
                self._check()
            await self._say(Kind.PIECE, piece)
            self._check()

    async def send_eof(self) -> None:
        """Nothing more comes from here."""
        await checkpoint()
        if not self._ended and not self._closed and self._problem is None:
            self._ended = True
            await self._say(Kind.END)

    async def aclose(self) -> None:
        """Leave; the other end reads what was sent before."""
        if self._closed:
            await checkpoint()
            return
        self._closed = True
        self._wake()
        with CancelScope(shield=True), move_on_after(_LEAVING_SECONDS):
            if not self._is_gone:
                await self._say(Kind.GONE)
        with CancelScope(shield=True):
            await self._left()

    def _take(self, frame: Frame) -> None:
        self._heard_at = current_time()
        problem = self._incoming.take(frame)
        if problem is None and frame.granted > self._sent + MOST_ROOM:
            problem = "the other end has room for what cannot be"
        if problem is not None:
            self.end(problem)
            return
        self._may_send = max(self._may_send, frame.granted)
        self._is_gone = frame.kind is Kind.GONE
        self._wake()

    def _check(self) -> None:
        if self._closed or self._ended:
            raise ClosedResourceError
        if self._problem is not None or self._is_gone:
            raise BrokenResourceError(self._problem or "the other end has left")

    async def _say_that_it_is_there(self) -> None:
        # An end that was lost would never be noticed: nothing with a number comes behind it.
        await self._say(Kind.END if self._ended else Kind.HERE)

    async def _say(self, kind: Kind, data: bytes = b"") -> None:
        async with self._telling:
            frame = Frame(kind, self._sent, self._incoming.grant(), data)
            # Counted before: should it be lost while it is said, the other end notices.
            self._sent += 1 if kind is Kind.PIECE else 0
            try:
                await self._tell(bytes_of(frame))
            except BusUnavailable as problem:
                self.end(str(problem))

    def _wake(self) -> None:
        self._news.set()

    async def _new(self) -> None:
        if self._news.is_set():
            self._news = Event()
        await self._news.wait()


async def to_nobody(_message: bytes) -> None:
    """BusUnavailable: where the other end listens is not known."""
    raise BusUnavailable("it has not begun")
