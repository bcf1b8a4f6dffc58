"""The runtime's side of a warden: start one, open spawners in it, end it."""

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

from holdfast.execution.processes.control_groups import NO_GROUPS, ControlGroups
from holdfast.execution.processes.spawner_pool import SpawnerPool
from holdfast.execution.processes.spawners import (
    STARTING_SECONDS,
    SandboxLost,
    SandboxRefused,
    SandboxUnavailable,
    Spawner,
)
from holdfast.execution.warden import wire
from holdfast.execution.warden.wire import Hungup, Message

ENDING_SECONDS = 5.0
"""In which a warden ends with all that it started; then its outermost process is killed."""

# Without dots: in a file system of its own only what it leads to is shown.
_INTERPRETER = str(Path(sys.executable).parent.resolve() / Path(sys.executable).name)
_ROOT = str(Path(__file__).resolve().parents[3])
BOOT = (
    "import sys; sys.path.insert(0, {root!r});"
    " from holdfast.execution.warden.main import main; main({line}, {leash}, {runtime})"
)


class Warden:
    """A started warden and its spawners."""

    def __init__(
        self,
        line: socket.socket,
        leash: socket.socket,
        keeper: "subprocess.Popen[bytes]",
        groups: ControlGroups = NO_GROUPS,
    ) -> None:
        """``leash``: the line of the keeper, which is cut and never spoken on."""
        self._line = line
        self._leash = leash
        self._hung_up = False
        self._groups = groups
        self._keeper = keeper
        self._loop = asyncio.get_running_loop()
        self.pool = SpawnerPool(self._opened, self._hang_up)
        """Lends spawners to calls; it is asked here, and elsewhere only whether it is busy."""
        self.listener: socket.socket | None = None
        """Where its processes ask for hosts, if any are granted: to be served by the runtime."""

    def spawner(self) -> Spawner:
        """One that is free: used before, or new; raises SandboxUnavailable."""
        return self.pool.take()

    async def give_back(self, spawner: Spawner) -> None:
        """End what is left of a call, and keep the spawner for the next."""
        await self.pool.give_back(spawner)

    def _opened(self) -> Spawner:
        try:
            ours, theirs = wire.pair()
        except OSError as problem:
            raise SandboxUnavailable(f"no line to it can be had: {problem.strerror}") from None
        try:
            wire.send(self._line, {"spawner": True}, [theirs.fileno()])
        except (Hungup, OSError):
            ours.close()
            self._hang_up()
            raise SandboxLost("the sandbox is gone") from None
        finally:
            theirs.close()
        return Spawner(ours, self._loop, self._hang_up)

    def _hang_up(self) -> None:
        """One of its lines is dead: whatever the reason, it is not to be relied on any more."""
        self._hung_up = True

    def live_until(self, moment: float) -> None:
        """It ends all and itself then, unless it hears of a later moment before: in seconds
        since the machine was started, the same for all processes, however late it is heard."""
        with suppress(Hungup, OSError):
            wire.send(self._line, {"until": moment})

    @property
    def lost(self) -> bool:
        """Whether it is gone: a line of it is dead, its outermost process, or it was let go."""
        if self._hung_up or self._line.fileno() < 0 or self._keeper.poll() is not None:
            return True
        try:
            return not self._line.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    @property
    def keeper(self) -> int:
        """The number of its outermost process."""
        return self._keeper.pid

    def last_words(self) -> str:
        """What it said when it could not be started; blocks until it is gone, or killed."""
        self._cut_lines()
        try:
            _, said = self._keeper.communicate(timeout=ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            return "it does not answer"
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"it ended with status {self._keeper.returncode}"

    def rest(self) -> None:
        """Let go of the spawners that wait for the next call."""
        self.pool.close()

    def abandon(self) -> None:
        """End it without waiting for that: it hears that the line is cut."""
        self._let_go()
        threading.Thread(target=self._reap, daemon=True).start()

    def _reap(self) -> None:
        """Wait for it, but not for ever: killed, it takes along all that has namespaces."""
        try:
            self._keeper.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            with suppress(subprocess.TimeoutExpired):  # the kernel cannot end it now
                self._keeper.wait(ENDING_SECONDS)
        self._groups.remove_when_empty()
        cast("BinaryIO", self._keeper.stderr).close()

    def _let_go(self) -> None:
        self.rest()
        if self.listener is not None:
            self.listener.close()
        self._cut_lines()

    def _cut_lines(self) -> None:
        """Heard also where a forked copy of this process holds them open."""
        for line in (self._line, self._leash):
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()

    async def close(self) -> None:
        """End it, and with it everything it started; returns when nothing is left."""
        await asyncio.to_thread(self.cut())

    def cut(self) -> Callable[[], None]:
        """End it, and with it everything it started; what is returned waits until nothing is left.

        It blocks, in whichever thread it is called.
        """
        self._let_go()
        return self._reap


async def start_warden(
    setup: Message,
    command: Callable[[list[str]], list[str]] = list,
    groups: ControlGroups = NO_GROUPS,
) -> Warden:
    """Start one; raises SandboxUnavailable with the reason.

    ``command`` may put a program around its command line that enters namespaces first. The groups
    it is in are removed after it.
    """
    ours, theirs = wire.pair()
    leash, collar = wire.pair()
    try:
        keeper = _launched(theirs, collar, command)
    except OSError as problem:
        ours.close()
        leash.close()
        raise SandboxUnavailable(f"its process cannot be started ({problem.strerror})") from None
    finally:
        theirs.close()
        collar.close()
    warden = Warden(ours, leash, keeper, groups)
    try:
        await _made_ready(warden, ours, setup)
    except BaseException:
        warden.abandon()
        raise
    return warden


def _launched(
    line: socket.socket, leash: socket.socket, command: Callable[[list[str]], list[str]]
) -> "subprocess.Popen[bytes]":
    ourselves = os.pidfd_open(os.getpid())
    boot = BOOT.format(root=_ROOT, line=line.fileno(), leash=leash.fileno(), runtime=ourselves)
    try:
        return subprocess.Popen(
            command([_INTERPRETER, "-I", "-S", "-c", boot]),
            pass_fds=[line.fileno(), leash.fileno(), ourselves],
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            start_new_session=True,
        )
    finally:
        os.close(ourselves)


async def _made_ready(warden: Warden, line: socket.socket, setup: Message) -> None:
    line.settimeout(0)
    with suppress(Hungup):  # then its last words say more
        wire.send(line, setup)
    answer, files = await _first_answer(line)
    if "ready" not in answer:
        said = answer.get("failed") or await asyncio.to_thread(warden.last_words)
        kind = SandboxRefused if answer.get("refused") else SandboxUnavailable
        raise kind(f"the sandbox cannot be made: {said}")
    if files:
        warden.listener = socket.socket(fileno=files[0])


async def _first_answer(line: socket.socket) -> tuple[Message, list[int]]:
    """What it says first; nothing when it says nothing."""
    loop = asyncio.get_running_loop()
    heard: asyncio.Future[None] = loop.create_future()
    loop.add_reader(line, lambda: heard.done() or heard.set_result(None))
    try:
        async with asyncio.timeout(STARTING_SECONDS):
            await heard
        return wire.receive(line)
    except (Hungup, OSError, TimeoutError):
        return {}, []
    finally:
        loop.remove_reader(line)
