"""A server's program as a transport of the SDK: lines of JSON over its standard streams.

The program is started and ended by whoever stands behind the port; the SDK starts nothing. What it
prints is taken in pieces, bounded, and read only when the SDK asks for the next message.
"""

from collections import deque
from collections.abc import Callable
from errno import ENOENT
from types import TracebackType

from anyio import ClosedResourceError, EndOfStream, Event
from anyio.lowlevel import checkpoint
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from holdfast.contract.programs import Conversation, Listener
from holdfast.contract.shell import KilledBy
from holdfast.sources.mcp.last_words import LOOKED_AT, is_blocked, last_lines, reach_advice
from holdfast.sources.mcp.lines import Lines, TooLong, is_crowded
from holdfast.sources.mcp.ports import Ports
from holdfast.sources.mcp.setup import ServerSetup

MOST_UNREAD = 64 * 1024 * 1024
_PER_LINE = 256
"""What keeping a line costs beside its bytes, rounded up: short ones count, too."""
_AT_ONCE = 64
"""So many messages are read before others have a turn."""


class ServerProgram:
    """The conversation with one program; both streams of the SDK's transport."""

    def __init__(self, setup: ServerSetup, ports: Ports, remark: Callable[[str], None]) -> None:
        self._setup = setup
        self._remark = remark
        self._ports = ports
        self._lines = Lines()
        self._unread: deque[bytes] = deque()
        self._unread_bytes = 0
        self._more = Event()
        self._read_in_a_row = 0
        self._conversation: Conversation | None = None
        self._stopped = False
        self._over_now = False
        self.how = ""
        """How it ended, where that was not our wish; empty while it runs."""
        self.ended = Event()
        self.was_ready = False
        """Whether it has been connected. Before, its sandbox may be what keeps it from that."""

    async def start(self) -> None:
        """Start it; raises what the port raises."""
        listener = Listener(printed=self._printed, over=self._over)
        self._conversation = await self._ports.start(self._setup, listener)
        if self._over_now and self.how:  # it ended before anybody could be asked what it said
            self.how = f"{self.how}{self.last_words()}"

    def stop(self) -> None:
        """End it and all it started; harmless when it has ended."""
        self._stopped = True
        if self._conversation is not None:
            self._conversation.end("abort")

    def _printed(self, piece: bytes) -> None:
        if self._over_now:
            return
        try:
            for line in self._lines.feed(piece):
                self._unread.append(line)
                self._unread_bytes += len(line) + _PER_LINE
                if self._unread_bytes > MOST_UNREAD:
                    break
        except TooLong:
            self._give_up("it sent a line of more than 16 MB")
            return
        if self._unread_bytes > MOST_UNREAD:
            self._give_up("it sends more than can be read")
        self._more.set()

    def _give_up(self, why: str) -> None:
        self.how = why
        self._unread.clear()
        if self._conversation is not None:
            self._conversation.end("lost")
        self._tell()

    def _over(self, how: str, _by: KilledBy | None) -> None:
        if not self._stopped and not self.how:
            # What follows is the last line it printed, maybe cut in the middle of a secret.
            ended = how.partition(": ")[0]
            if ended.startswith(f"[Errno {ENOENT}]"):
                self.how = self._ports.no_program(self._setup)
            else:
                self.how = f"it ended ({ended}){self.last_words()}"
        self._tell()

    def last_words(self) -> str:
        """The end of what it printed to standard error, and what it may reach where that is of use.

        Begins with a semicolon; empty where there is nothing to say.
        """
        printed = b""
        if self._conversation is not None:
            printed = self._conversation.last("stderr", LOOKED_AT)
        said = last_lines(printed, self._ports.redaction.text)
        told = f"; it said last: {said}" if said else ""
        if not self.was_ready or is_blocked(said):
            told += f". {reach_advice(self._setup.name, self._setup.requires, said)}"
        return told

    def _tell(self) -> None:
        self._over_now = True
        self._more.set()
        self.ended.set()

    async def receive(self) -> SessionMessage | Exception:
        """The next message; EndOfStream after the last."""
        self._read_in_a_row += 1
        if self._read_in_a_row % _AT_ONCE == 0:
            await checkpoint()
        while True:
            while self._unread:
                line = self._unread.popleft()
                self._unread_bytes -= len(line) + _PER_LINE
                if is_crowded(line):
                    self._give_up("it sent a message of too many values")
                    raise EndOfStream
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    self._remark("it prints lines that are no messages; they are left out")
                    await checkpoint()
                else:
                    return SessionMessage(message)
            if self._over_now:
                raise EndOfStream
            self._more = Event()
            await self._more.wait()

    async def send(self, item: SessionMessage) -> None:
        """Have the program read a message; ClosedResourceError after its end."""
        if self._conversation is None or self._over_now:
            raise ClosedResourceError
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        self._conversation.send(text.encode() + b"\n")
        await checkpoint()

    async def aclose(self) -> None:
        """Nothing is left to do: the program is ended where it was started."""

    def __aiter__(self) -> "ServerProgram":
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> "ServerProgram":
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


class ProgramTransport:
    """Starts the program when the SDK connects, and ends it when the SDK leaves."""

    def __init__(self, program: ServerProgram) -> None:
        self._program = program

    async def __aenter__(self) -> tuple[ServerProgram, ServerProgram]:
        await self._program.start()
        return self._program, self._program

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self._program.stop()
