"""A warden's spawner as the runtime holds it: start a process, signal it, end all it became.

A spawner whose warden is gone fails what it was doing with SandboxLost: nothing waits for it.
"""

import asyncio
import errno
import socket
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar, cast

from holdfast.execution.warden import wire
from holdfast.execution.warden.wire import Ended, Hungup, Message

STARTING_SECONDS = 20.0
ENDING_SECONDS = 5.0
_MOST_HEARD = 4096

_T = TypeVar("_T")


class SandboxUnavailable(Exception):
    """There is no such sandbox on this machine, or not now."""


class SandboxRefused(SandboxUnavailable):
    """There must be no such sandbox: what it would show is not what the policy names.

    A weaker one would be no better.
    """


class SandboxLost(SandboxUnavailable):
    """The sandbox was there and is gone."""


class Start(NamedTuple):
    """A process to be started."""

    argv: Sequence[str]
    cwd: str
    environment: Mapping[str, str]
    files: Sequence[int]
    """What becomes its files 0, 1, 2 and so on; they stay the caller's."""


class Spawner:
    """One confined thread of a warden."""

    def __init__(
        self, line: socket.socket, loop: asyncio.AbstractEventLoop, hung_up: Callable[[], None]
    ) -> None:
        """``hung_up`` is called when the other side ends it, not we."""
        self._line = line
        self._loop = loop
        self._hung_up = hung_up
        self._answers: deque[asyncio.Future[Message]] = deque()
        self._ended: asyncio.Future[Ended] | None = None
        self._started: asyncio.Future[int] | None = None
        self._why = SandboxUnavailable()
        self.lost = False
        line.settimeout(0)
        loop.add_reader(line, self._read)
        self._patience = loop.call_later(STARTING_SECONDS, self._lose_it)

    def start(self, start: Start, *, tell: bool = False) -> "asyncio.Future[Ended]":
        """Start a process; how it ended is the future's, or OSError: it could not be started.

        ``tell``: `started` shall say when it runs.
        """
        ended = self._ended = self._loop.create_future()
        self._started = self._loop.create_future() if tell else None
        if self.lost:
            self._fail(self._why)
            return ended
        try:
            packed = wire.pack_spawn(start.cwd, start.argv, start.environment, tell=tell)
            self._send(packed, start.files)
        except ValueError as problem:
            self._fail(OSError(errno.EINVAL, str(problem)))
        except OSError as problem:
            self._fail(problem)  # too many files are on their way to other processes
        return ended

    async def started(self) -> int:
        """The number of the process inside of its sandbox; OSError when there is none."""
        assert self._started is not None
        return await self._started

    def signal(self, number: int) -> None:
        """Send a signal to the process and its group."""
        self._send(wire.pack({"signal": number}))

    @property
    def alone(self) -> bool:
        """Whether what was started has ended, and it is known that nothing else is left of it."""
        ended = self._ended
        if ended is None or not ended.done() or ended.exception() is not None:
            return False
        return ended.result().alone

    async def end(self) -> None:
        """End everything that was started, hidden or not."""
        answered = self._answer()
        self._send(wire.pack({"end": True}))
        async with asyncio.timeout(ENDING_SECONDS):
            await answered
        self._ended = None

    def close(self) -> None:
        """Let go of it: the warden ends what it started."""
        self._lose()

    def _answer(self) -> "asyncio.Future[Message]":
        future: asyncio.Future[Message] = self._loop.create_future()
        if self.lost:
            future.set_exception(self._why)
        else:
            self._answers.append(future)
        return future

    def _send(self, packed: bytes, files: Sequence[int] = ()) -> None:
        if self.lost:
            return
        try:
            wire.send_packed(self._line, packed, files)
        except Hungup:
            while not self.lost:
                self._read()  # it may have said why
        except BlockingIOError:
            self._lose_it()  # who does not read any more is as good as gone

    def _read(self) -> None:
        packed = self._received()
        message: Message | Ended = wire.heard(packed) if packed else {}
        if isinstance(message, Ended):
            _settle(self._ended, message)
        elif "unstarted" in message:
            self._fail(OSError(*cast("tuple[int, str]", message["unstarted"])))
        elif "started" in message:
            _settle(self._started, cast("int", message["started"]))
        elif "ready" in message:
            self._patience.cancel()
        elif "refused" in message:
            self._lose(SandboxUnavailable(f"the sandbox cannot be entered: {message['refused']}"))
        elif message and self._answers:
            _settle(self._answers.popleft(), message)
        else:
            self._lose_it()  # it hung up, or says why it is about to

    def _received(self) -> bytes:
        try:
            return self._line.recv(_MOST_HEARD)
        except ConnectionResetError:
            # It went over something we sent; what it said before that comes now.
            return self._line.recv(_MOST_HEARD)

    def _lose_it(self) -> None:
        self._lose()
        self._hung_up()

    def _lose(self, why: SandboxUnavailable | None = None) -> None:
        if self.lost:
            return
        self.lost = True
        self._why = why or SandboxLost("the sandbox is gone")
        self._patience.cancel()
        self._loop.remove_reader(self._line)
        self._line.close()
        for answer in self._answers:
            _settle(answer, self._why)
        self._answers.clear()
        self._fail(self._why)

    def _fail(self, why: Exception) -> None:
        """What was to be started is not, or is gone."""
        _settle(self._ended, why)
        _settle(self._started, why)


def _settle(waiting: "asyncio.Future[_T] | None", told: "_T | Exception") -> None:
    """Tell who waits; nobody may, any more."""
    if waiting is None or waiting.done():
        return
    if isinstance(told, Exception):
        waiting.set_exception(told)
        waiting.exception()
    else:
        waiting.set_result(told)
