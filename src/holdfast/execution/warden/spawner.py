"""A confined thread that starts processes, one call at a time, and ends all of them.

Its confinement is inherited by what it starts. It has a Landlock domain of its own, so a signal it
sends reaches the processes of its call and no other, whatever they did to hide: that is how a call
is ended. How the confinement is chosen is not known here.
"""

import errno
import os
import signal
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import cast

from holdfast.execution.kernel import landlock, seccomp
from holdfast.execution.kernel.system_calls import this_machine, system_call
from holdfast.execution.warden.wire import Hungup, Message, receive, send

_OWN_WORKING_DIRECTORY = 0x200
"""CLONE_FS, taken back."""
_STACK = 256 * 1024
_ALL_SIGNALS = [number for number in signal.valid_signals() if number not in (9, 19)]


class Children:
    """Which leader belongs to which line, filled by spawners and emptied by the reaper."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._starting = 0
        self._lines: dict[int, socket.socket] = {}
        self._early: dict[int, Message] = {}

    def start(self, spawn: Callable[[], int], line: socket.socket) -> int:
        """Start a leader, so that its end is told on the line even if it has ended by now."""
        with self._lock:
            self._starting += 1
        leader = 0
        try:
            leader = spawn()
            send(line, {"pid": leader})
        finally:
            with self._lock:
                self._starting -= 1
                ended = self._early.pop(leader, None)
                if leader and ended is None:
                    self._lines[leader] = line
                if not self._starting:
                    self._early.clear()
        if ended is not None:
            send(line, ended)
        return leader

    def ended(self, pid: int, message: Message) -> None:
        """Tell who waits for it. An orphan's end is told to nobody."""
        with self._lock:
            line = self._lines.pop(pid, None)
            if line is None and self._starting:
                self._early[pid] = message
        if line is not None:
            with suppress(Hungup, OSError):
                send(line, message)


class Spawner(threading.Thread):
    """Serves one line until the other side hangs up."""

    def __init__(
        self, line: socket.socket, policy: Message, children: Children, outsider: int
    ) -> None:
        super().__init__(daemon=True)
        self._line = line
        self._policy = policy
        self._children = children
        self._outsider = outsider
        self._leader = 0
        self._scoped = False

    def run(self) -> None:
        """Confine this thread, then serve."""
        try:
            self._confine()
        except OSError as problem:
            with suppress(Hungup):
                send(self._line, {"error": [problem.errno, str(problem)]})
            self._line.close()
            return
        with suppress(Hungup):
            send(self._line, {"ready": {"scoped": self._scoped}})
            while True:
                self._serve()
        self._end()
        self._line.close()

    def _confine(self) -> None:
        system_call("unshare", _OWN_WORKING_DIRECTORY)
        policy = self._policy
        abi = landlock.version()
        allowed = [
            (path, landlock.Right(rights))
            for path, rights in cast("list[tuple[str, int]]", policy["paths"])
        ]
        if abi:
            landlock.confine_thread(allowed, abi, ports=cast("bool", policy["ports"]))
        families = policy.get("families")
        if families is not None:
            seccomp.confine_thread(seccomp.program(this_machine(), cast("list[int]", families)))
        # As the super-user only where there are no other processes than the warden's.
        self._scoped = _is_out_of_reach(self._outsider) and (os.getuid() != 0 or self._outsider == 1)

    def _serve(self) -> None:
        message, files = receive(self._line)
        try:
            match message:
                case {"spawn": dict() as wanted}:
                    self._spawn(cast("Message", wanted), files)
                case {"signal": int() as number}:
                    self._signal(number)
                case _:
                    self._end()
                    send(self._line, {"ended": True})
        finally:
            for file in files:
                os.close(file)

    def _spawn(self, wanted: Message, files: Sequence[int]) -> None:
        argv = cast("list[str]", wanted["argv"])
        environment = cast("dict[str, str]", wanted["environment"])
        actions = [(os.POSIX_SPAWN_DUP2, file, number) for number, file in enumerate(files)]

        def start() -> int:
            os.chdir(cast("str", wanted["cwd"]))
            return _started(argv, environment, actions)

        try:
            self._leader = self._children.start(start, self._line)
        except OSError as problem:
            send(self._line, {"error": [problem.errno, problem.strerror or str(problem)]})

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if self._leader:
                os.killpg(self._leader, number)

    def _end(self) -> None:
        if self._scoped:
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        else:
            self._signal(signal.SIGKILL)
        self._leader = 0


def _is_out_of_reach(outsider: int) -> bool:
    """Whether signals are kept inside this thread's domain."""
    try:
        os.kill(outsider, 0)
    except PermissionError:
        return True
    except ProcessLookupError:
        return False
    return False


def _started(
    argv: list[str], environment: dict[str, str], actions: list[tuple[int, int, int]]
) -> int:
    """Start a program by path or by its name in PATH, as a session of its own."""
    missing = FileNotFoundError(errno.ENOENT, "there is no such program", argv[0])
    for path in _candidates(argv[0], environment):
        try:
            return os.posix_spawn(
                path,
                argv,
                environment,
                file_actions=actions,
                setsid=True,
                setsigmask=[],
                setsigdef=_ALL_SIGNALS,
            )
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError as problem:
            missing = problem
    raise missing


def _candidates(program: str, environment: dict[str, str]) -> list[str]:
    if "/" in program:
        return [program]
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    return [os.path.join(folder, program) for folder in folders if folder]
