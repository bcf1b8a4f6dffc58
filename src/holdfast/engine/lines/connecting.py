"""Connections over a bus: who wants one says so at a subject, and who listens there takes it.

Both ends show at times that they are there. What is said over a connection is not known here.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from anyio import (
    CancelScope,
    Event,
    WouldBlock,
    create_memory_object_stream,
    fail_after,
    sleep,
)
from anyio.lowlevel import checkpoint

from holdfast.contract.bus import Bus, BusUnavailable, Listening
from holdfast.engine.lines.addresses import Addresses, new_token
from holdfast.engine.lines.frames import Frame, Kind, bytes_of, frame_in, token_in
from holdfast.engine.lines.streams import MOST_WAITING, BusStream, Tell, to_nobody
from holdfast.execution.drive import Delayed

BEAT_SECONDS = 3.0
"""How often each end of a connection says that it is there."""
SILENCE_SECONDS = 10.0
"""After so long without a word the other end counts as gone."""
CONNECT_SECONDS = 2.0
MOST_KNOCKING = 64
"""So many may wait to be let in; others are not heard, and try again."""
_END_SECONDS = 2.0

Take = Callable[[BusStream], object]
"""Somebody wants a connection: whoever takes it closes it. Never waits."""


class NobodyThere(Exception):
    """Nobody takes the connection."""


class NobodyAnswers(NobodyThere):
    """Somebody listens there, and says nothing."""


class Lines:
    """The connections of one event loop over one bus. Close it."""

    def __init__(
        self,
        bus: Bus,
        addresses: Addresses,
        beat: float = BEAT_SECONDS,
        silence: float = SILENCE_SECONDS,
    ) -> None:
        self.bus = bus
        self.addresses = addresses
        self._silence = silence
        self._beat = beat
        self._streams: set[BusStream] = set()
        # In a task of its own: who has a connection may be in the middle of anything.
        self._beating = Delayed(beat, self._beat_on)

    async def close(self) -> None:
        """End all connections."""
        with CancelScope(shield=True):
            await self._beating.end(_END_SECONDS)
            for stream in tuple(self._streams):
                await stream.aclose()

    async def connect(self, subject: str, seconds: float = CONNECT_SECONDS) -> BusStream:
        """A connection to whoever takes it there; NobodyThere, BusUnavailable."""
        end = _End(self, new_token())
        await end.listen()
        try:
            with fail_after(seconds):
                await self._opened(end, subject)
        except TimeoutError:
            await end.leave()
            raise NobodyAnswers("nobody answers there in time") from None
        except BaseException:
            await end.leave()
            raise
        self._streams.add(end.stream)
        return end.stream

    async def serve(self, subject: str, take: Take) -> None:
        """Have each connection taken, as long as this is not cancelled; BusUnavailable."""
        knocks, waiting = create_memory_object_stream[Frame](MOST_KNOCKING)

        def knock(_subject: str, message: bytes) -> None:
            frame = frame_in(message)
            if frame is not None and frame.kind is Kind.OPEN:
                with suppress(WouldBlock):  # they will knock again
                    knocks.send_nowait(frame)

        with knocks, waiting:
            listening = await self.bus.subscribe(subject, knock)
            try:
                async for frame in waiting:
                    await self._let_in(frame, take)
            finally:
                with CancelScope(shield=True):
                    await listening.close()

    async def _let_in(self, frame: Frame, take: Take) -> None:
        end = _End(self, new_token())
        try:
            await end.listen()
            end.begin(token_in(frame), frame.granted)
            await end.take()
        except BusUnavailable:
            await end.leave()
        except BaseException:
            await end.leave()
            raise
        else:
            self._streams.add(end.stream)
            take(end.stream)

    async def _opened(self, end: "_End", subject: str) -> None:
        own = self.addresses.stream(end.token)
        frame = Frame(Kind.OPEN, 0, MOST_WAITING, end.token.encode())
        await self.bus.publish(subject, bytes_of(frame), unheard=own)
        await end.answered()

    def forget(self, stream: BusStream) -> None:
        """It was closed."""
        self._streams.discard(stream)

    async def _beat_on(self) -> None:
        while True:
            for stream in tuple(self._streams):
                await stream.live(self._silence)
            await sleep(self._beat)


class _End:
    """One end of a connection that is being made."""

    def __init__(self, lines: Lines, token: str) -> None:
        self.token = token
        self._lines = lines
        self.stream = BusStream(self.leave)
        self._tell: Tell = to_nobody
        self._listening: Listening | None = None
        self._answer: Frame | None = None
        self._answered = Event()

    async def listen(self) -> None:
        """BusUnavailable."""
        subject = self._lines.addresses.stream(self.token)
        self._listening = await self._lines.bus.subscribe(subject, self._hear)

    async def answered(self) -> None:
        """Somebody has taken it; NobodyThere."""
        await self._answered.wait()
        if self._answer is None:
            raise NobodyThere("nobody listens there")

    def begin(self, token: str, room: int) -> None:
        """It goes to whoever listens there."""
        own = self._lines.addresses.stream(self.token)
        other = self._lines.addresses.stream(token)
        self._tell = partial(self._lines.bus.publish, other, unheard=own)
        self.stream.begin(self._tell, room)
        self._answered.set()  # from here on, that nobody is there ends the stream

    async def take(self) -> None:
        """Tell the other end where this one listens; BusUnavailable."""
        await self._tell(bytes_of(Frame(Kind.TAKEN, 0, MOST_WAITING, self.token.encode())))

    async def leave(self) -> None:
        """It is over."""
        self._lines.forget(self.stream)
        listening, self._listening = self._listening, None
        with CancelScope(shield=True):
            if listening is not None:
                await listening.close()
            await checkpoint()

    def _hear(self, _subject: str, message: bytes) -> None:
        frame = frame_in(message)
        if frame is not None and frame.kind is Kind.TAKEN and not self._answered.is_set():
            self._answer = frame
            self.begin(token_in(frame), frame.granted)
        elif not message and not self._answered.is_set():
            self._answered.set()
        else:
            self.stream.hear(message)
