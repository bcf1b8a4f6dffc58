"""The runtime's side of a warden: start one, hold its spawners, start and end processes.

A spawner serves one call at a time and is used again: being confined once, it costs the next call
nothing. A warden that is gone fails what it was doing with SandboxLost, and nothing waits for it.
"""

import asyncio
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, cast

from holdfast.execution.warden import wire
from holdfast.execution.warden.wire import Hungup, Message

MOST_IDLE = 4
"""Spawners kept for the next calls; further ones are let go."""
_STARTING_SECONDS = 20.0
_ENDING_SECONDS = 5.0

_ROOT = str(Path(__file__).resolve().parents[2])
_BOOT = (
    "import sys; sys.path.insert(0, {root!r});"
    " from holdfast.execution.warden.main import main; main({line}, {runtime})"
)


class SandboxUnavailable(Exception):  # noqa: N818 - it says what is, like the failure kind
    """There is no such sandbox on this machine, or not now."""


class SandboxLost(SandboxUnavailable):
    """The sandbox was there and is gone."""


class Ended(NamedTuple):
    """How a process ended; a negative exit is the signal that ended it."""

    exit: int
    user_seconds: float
    system_seconds: float
    peak_bytes: int


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
        line.setblocking(False)
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
        with suppress(BlockingIOError):
            try:
                message, _ = wire.receive(self._line)
            except (Hungup, OSError):
                self._lose()
                return
            if "exit" in message or "unstarted" in message:
                self._tell_end(message)
            elif self._answers:
                answer = self._answers.popleft()
                if not answer.done():
                    answer.set_result(message)

    def _tell_end(self, message: Message) -> None:
        ended = self._ended
        if ended is None or ended.done():
            return
        if "exit" in message:
            used = cast("tuple[float, float, int]", message["used"])
            ended.set_result(Ended(cast("int", message["exit"]), *used))
        else:
            code, text = cast("tuple[int, str]", message["unstarted"])
            ended.set_exception(OSError(code, text))

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


class Warden:
    """A started warden and its spawners."""

    def __init__(self, line: socket.socket, keeper: "subprocess.Popen[bytes]") -> None:
        self._line = line
        self._keeper = keeper
        self._idle: deque[Spawner] = deque()
        self._loop = asyncio.get_running_loop()
        self.listener: socket.socket | None = None
        self.port: int | None = None

    async def spawner(self, narrower: Message | None = None) -> Spawner:
        """One that is free: used before, or new."""
        while narrower is None and self._idle:
            spawner = self._idle.pop()
            if not spawner.lost:
                return spawner
        ours, theirs = wire.pair()
        try:
            policy = narrower or {"paths": None, "ports": False, "families": None}
            wire.send(self._line, {"spawner": policy}, [theirs.fileno()])
        except (Hungup, OSError):
            ours.close()
            raise SandboxLost("the sandbox is gone") from None
        finally:
            theirs.close()
        spawner = Spawner(ours, self._loop)
        await spawner.ready()
        return spawner

    async def give_back(self, spawner: Spawner) -> None:
        """End what is left of a call, and keep the spawner for the next."""
        try:
            await spawner.end()
        except (SandboxUnavailable, TimeoutError):
            spawner.close()
            return
        if len(self._idle) < MOST_IDLE:
            self._idle.append(spawner)
        else:
            spawner.close()

    def lease(self, seconds: float) -> None:
        """It ends all and itself unless it hears again within so many seconds."""
        with suppress(Hungup, OSError):
            wire.send(self._line, {"lease": seconds})

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._keeper.poll() is None

    def last_words(self) -> str:
        """What it said when it could not be started; blocks until it is gone."""
        self._line.close()
        _, said = self._keeper.communicate()
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"it ended with status {self._keeper.returncode}"

    async def close(self) -> None:
        """End it, and with it everything it started; returns when nothing is left."""
        for spawner in self._idle:
            spawner.close()
        if self.listener is not None:
            self.listener.close()
        self._line.close()
        await asyncio.to_thread(self._keeper.wait)


async def start_warden(setup: Message, command: Callable[[list[str]], list[str]] = list) -> Warden:
    """Start one; raises SandboxUnavailable with the reason.

    ``command`` may put a program around its command line that enters namespaces first.
    """
    ours, theirs = wire.pair()
    ourselves = os.pidfd_open(os.getpid())
    boot = _BOOT.format(root=_ROOT, line=theirs.fileno(), runtime=ourselves)
    argv = command([sys.executable, "-I", "-S", "-c", boot])
    try:
        keeper = subprocess.Popen(  # noqa: S603 - our own interpreter
            argv,
            pass_fds=[theirs.fileno(), ourselves],
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            start_new_session=True,
        )
    except OSError as problem:
        ours.close()
        raise SandboxUnavailable(f"its process cannot be started ({problem.strerror})") from None
    finally:
        theirs.close()
        os.close(ourselves)
    warden = Warden(ours, keeper)
    await _made_ready(warden, ours, setup)
    return warden


async def _made_ready(warden: Warden, line: socket.socket, setup: Message) -> None:
    line.setblocking(False)
    wire.send(line, setup)
    loop = asyncio.get_running_loop()
    heard: asyncio.Future[None] = loop.create_future()
    loop.add_reader(line, lambda: heard.done() or heard.set_result(None))
    try:
        async with asyncio.timeout(_STARTING_SECONDS):
            await heard
        answer, files = wire.receive(line)
    except (Hungup, OSError, TimeoutError):
        answer, files = {"failed": await asyncio.to_thread(warden.last_words)}, []
    finally:
        loop.remove_reader(line)
    if "ready" not in answer:
        await warden.close()
        raise SandboxUnavailable(f"the sandbox cannot be made: {answer['failed']}")
    if files:
        warden.listener = socket.socket(fileno=files[0])
        warden.port = warden.listener.getsockname()[1]
