"""A warden's spawner as the runtime holds it: start a process, signal it, end all it became.

A spawner whose warden is gone fails what it was doing with SandboxLost: nothing waits for it.
"""

import asyncio
import socket
from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from holdfast.execution.warden import wire
from holdfast.execution.warden.wire import Ended, Hungup, Message

_ENDING_SECONDS = 5.0
_MOST_HEARD = 4096


class SandboxUnavailable(Exception):
    """There is no such sandbox on this machine, or not now."""


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

    def __init__(self, line: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
        self._line = line
        self._loop = loop
        self._answers: deque[asyncio.Future[Message]] = deque()
        self._ended: asyncio.Future[Ended] | None = None
        self.lost = False
        line.settimeout(0)
        loop.add_reader(line, self._read)

    async def ready(self) -> None:
        """Wait for its confinement; raises SandboxUnavailable."""
        answer = await self._answer()
        if "error" in answer:
            self.close()
            raise SandboxUnavailable(f"the sandbox cannot be entered: {_text(answer)}")

    def start(self, start: Start) -> "asyncio.Future[Ended]":
        """Start a process; how it ended is the future's, or OSError: it could not be started."""
        wanted: Message = {
            "argv": list(start.argv),
            "cwd": start.cwd,
            "environment": dict(start.environment),
        }
        self._ended = self._loop.create_future()
        self._send({"spawn": wanted}, start.files)
        return self._ended

    def signal(self, number: int) -> None:
        """Send a signal to the process and its group."""
        self._send({"signal": number})

    async def end(self) -> None:
        """End everything that was started, hidden or not."""
        answered = self._answer()
        self._send({"end": True})
        async with asyncio.timeout(_ENDING_SECONDS):
            await answered
        self._ended = None

    def close(self) -> None:
        """Let go of it: the warden ends what it started."""
        self._lose()

    def _answer(self) -> "asyncio.Future[Message]":
        future: asyncio.Future[Message] = self._loop.create_future()
        if self.lost:
            future.set_exception(SandboxLost("the sandbox is gone"))
        else:
            self._answers.append(future)
        return future

    def _send(self, message: Message, files: Sequence[int] = ()) -> None:
        try:
            wire.send(self._line, message, files)
        except (Hungup, OSError):
            self._lose()

    def _read(self) -> None:
        try:
            packed = self._line.recv(_MOST_HEARD)
        except BlockingIOError:
            return
        except OSError:
            packed = b""
        if not packed:
            self._lose()
            return
        message = wire.heard(packed)
        ended = self._ended
        if isinstance(message, Ended):
            if ended is not None and not ended.done():
                ended.set_result(message)
        elif "unstarted" in message:
            if ended is not None and not ended.done():
                ended.set_exception(OSError(*cast("tuple[int, str]", message["unstarted"])))
        elif self._answers:
            answer = self._answers.popleft()
            if not answer.done():
                answer.set_result(message)

    def _lose(self) -> None:
        if self.lost:
            return
        self.lost = True
        self._loop.remove_reader(self._line)
        self._line.close()
        lost = SandboxLost("the sandbox is gone")
        for answer in (*self._answers, self._ended):
            if answer is not None and not answer.done():
                answer.set_exception(lost)
                answer.exception()  # nobody may be waiting
        self._answers.clear()


def _text(answer: Message) -> str:
    return cast("tuple[int, str]", answer["error"])[1]
