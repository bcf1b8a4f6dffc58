"""What a process printed so far: beginning and end kept, the whole in a file, all of it counted.

Memory stays flat however much comes. Secrets are taken out before a byte is kept. How it is read is
not known here.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

from holdfast.contract.shell import Printed
from holdfast.execution.spool import Spool

StreamName = Literal["stdout", "stderr"]

HEAD_BYTES = 256 * 1024
TAIL_BYTES = 64 * 1024
MOST_PIECES = 10_000
"""How many changes from one stream to the other are remembered; what comes later has no order."""


class Scrubber(Protocol):
    """Takes secrets out of a stream that comes in pieces."""

    def feed(self, piece: bytes, /) -> bytes:
        """What of the stream can be kept by now."""
        ...

    def rest(self) -> bytes:
        """What was held back because a secret might have begun there."""
        ...


class Captured(NamedTuple):
    """What was printed so far."""

    stdout: Printed
    stderr: Printed
    pieces: tuple[tuple[StreamName, int], ...]
    """The order in which they came: so many bytes of one, then so many of the other.

    With very many changes it is the order of the beginning alone."""
    path: str | None
    """Where both are, in that order; None while memory holds all, or nothing could be kept."""
    dropped: int
    """Bytes that are neither in memory nor in the file."""
    closed: bool
    """Whether both streams have ended."""


class Stream:
    """One stream's beginning, end and count."""

    def __init__(self, scrubber: Scrubber | None) -> None:
        self.scrubber = scrubber
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()

    def keep(self, piece: memoryview | bytes) -> None:
        """Remember beginning and end."""
        self.total += len(piece)
        room = HEAD_BYTES - len(self._head)
        if room > 0:
            self._head += piece[:room]
            piece = piece[room:]
        if not len(piece):
            return
        self._tail += piece[-TAIL_BYTES:]
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]

    def last(self, count: int) -> bytes:
        """Its end, as far as memory holds it."""
        if len(self._tail) < min(count, TAIL_BYTES):
            return bytes((self._head[-count:] + self._tail)[-count:])
        return bytes(self._tail[-count:])

    def printed(self) -> Printed:
        """What there is so far."""
        return Printed(bytes(self._head), bytes(self._tail[-TAIL_BYTES:]), self.total)


class Printout:
    """Keeps what comes of both streams, in the order it comes."""

    def __init__(self, spool: Spool, scrubber: Callable[[], Scrubber] | None) -> None:
        self.spool = spool
        self._scrubber = scrubber
        self._streams: dict[StreamName, Stream] = {}
        self._pieces: list[tuple[StreamName, int]] = []
        self._full = False
        self._last: StreamName = "stdout"

    def take(self, name: StreamName, piece: memoryview | bytes) -> bool:
        """Take a piece; whether it has to be written before the next may come."""
        stream = self._stream(name)
        if stream.scrubber is not None:
            piece = stream.scrubber.feed(bytes(piece))
        return self._keep(name, stream, piece)

    def take_rest(self, name: StreamName) -> bool:
        """Take what was held back because a secret might have begun there."""
        stream = self._stream(name)
        if stream.scrubber is None:
            return False
        rest, stream.scrubber = stream.scrubber.rest(), self._new_scrubber()
        return self._keep(name, stream, rest)

    def so_far(self, *, closed: bool) -> Captured:
        """What was printed up to now."""
        stdout, stderr = self._stream("stdout").printed(), self._stream("stderr").printed()
        in_memory = sum(len(one.head) + len(one.tail) for one in (stdout, stderr))
        spool = self.spool
        dropped = spool.dropped(in_memory)
        return Captured(stdout, stderr, tuple(self._pieces), spool.path, dropped, closed)

    def last(self, name: StreamName, count: int) -> bytes:
        """The end of a stream so far, as far as memory holds it."""
        return self._stream(name).last(count)

    @property
    def last_stream(self) -> StreamName:
        """The one that printed last."""
        return self._last

    @property
    def count(self) -> int:
        """All bytes that came."""
        return sum(stream.total for stream in self._streams.values())

    def turn_to(self, spool: Spool) -> None:
        """Keep what comes from now on somewhere else."""
        before, self.spool = self.spool, spool
        before.close()

    def begin_again(self, spool: Spool) -> None:
        """Keep what another process prints, as if nothing had been printed."""
        self.turn_to(spool)
        self._streams, self._pieces = {}, []
        self._full, self._last = False, "stdout"

    def _keep(self, name: StreamName, stream: Stream, piece: memoryview | bytes) -> bool:
        if not len(piece):
            return False
        stream.keep(piece)
        self._last = name
        if not self._full:
            self._note(name, len(piece))
        return self.spool.take(piece)

    def _note(self, name: StreamName, count: int) -> None:
        if self._pieces and self._pieces[-1][0] == name:
            self._pieces[-1] = (name, self._pieces[-1][1] + count)
        elif len(self._pieces) < MOST_PIECES:
            self._pieces.append((name, count))
        else:
            # For good: the last one would otherwise go on growing by bytes that came after a gap.
            self._full = True

    def _stream(self, name: StreamName) -> Stream:
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = Stream(self._new_scrubber())
        return stream

    def _new_scrubber(self) -> Scrubber | None:
        return self._scrubber() if self._scrubber else None
