"""A confined spawner: it starts processes, one call at a time, and ends all that they became.

Its confinement is inherited by what it starts. Where the kernel keeps signals inside a Landlock
domain a spawner is a thread with a domain of its own: one signal to everybody reaches the processes
of its call and no other, whatever they did to hide. Elsewhere it is a process of its own that
adopts their orphans. How the confinement is chosen is not known here.
"""

import errno
import os
import select
import signal
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import cast

from holdfast.execution.kernel import landlock
from holdfast.execution.kernel.out_of_reach import stay_out_of_reach
from holdfast.execution.kernel.system_calls import system_call
from holdfast.execution.warden.descendants import end_descendants, reap_orphans
from holdfast.execution.warden.wire import (
    Ended,
    Hungup,
    Spawn,
    receive_order,
    send,
    send_end,
)

_OWN_WORKING_DIRECTORY = 0x200
"""CLONE_FS, taken back."""
_REAPING_MS = 1000
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


class Spawner:
    """Serves one line until the other side hangs up."""

    def __init__(self, line: socket.socket, outsider: int | None, *, domain: bool) -> None:
        """``outsider``: a process that no signal may reach; None: this is a process of its own."""
        self._line = line
        self._outsider = outsider
        self._domain = domain
        self._poll = select.poll()
        self._leader = 0
        self._watch: int | None = None

    def serve(self) -> None:
        """Confine the calling thread, then start what is asked for."""
        try:
            self._confine()
        except Exception as problem:  # noqa: BLE001 - whatever it is, the runtime must not wait
            # Nothing was started, and a signal to everybody is not known to be kept inside.
            self._give_up("refused", problem)
            return
        try:
            self._serve()
        except Hungup:
            self._end()
        except Exception as problem:  # noqa: BLE001 - whatever it is, nothing may be left
            self._end()
            self._give_up("error", problem)
        finally:
            self._line.close()

    def _give_up(self, kind: str, problem: Exception) -> None:
        with suppress(Hungup):
            send(self._line, {kind: str(problem)})
        self._line.close()

    def _serve(self) -> None:
        self._poll.register(self._line, select.POLLIN)
        send(self._line, {"ready": True})
        while True:
            self._step()

    def _confine(self) -> None:
        system_call("unshare", _OWN_WORKING_DIRECTORY)
        abi = landlock.version()
        if self._domain and abi >= landlock.SCOPES_SINCE:
            landlock.enter_domain(abi)
        if self._outsider is not None and not _is_out_of_reach(self._outsider):
            raise OSError(errno.ENOTSUP, "signals are not kept inside a Landlock domain")
        if self._domain:
            # This thread is in the domain of what it starts, and stands for its whole process.
            stay_out_of_reach({os.getpid(), os.getppid(), threading.get_native_id()})

    def _step(self) -> None:
        if self._watch is None and self._outsider is not None:
            self._obey()  # nothing runs: only an order can come
            return
        ready = self._poll.poll(_REAPING_MS if self._outsider is None else None)
        if not ready:
            reap_orphans(self._leader)
        for file, _ in ready:
            if file == self._watch:
                self._ended()
            else:
                self._obey()

    def _obey(self) -> None:
        message, files = receive_order(self._line)
        try:
            if isinstance(message, Spawn):
                self._spawn(message, files)
            elif "signal" in message:
                self._signal(cast("int", message["signal"]))
            else:
                self._end()
                send(self._line, {"ended": True})
        finally:
            for file in files:
                os.close(file)

    def _spawn(self, wanted: Spawn, files: Sequence[int]) -> None:
        actions = [(os.POSIX_SPAWN_DUP2, file, number) for number, file in enumerate(files)]
        try:
            os.chdir(wanted.cwd)
            self._leader = _started(wanted.argv, wanted.environment, actions)
        except OSError as problem:
            send(self._line, {"unstarted": [problem.errno, problem.strerror or str(problem)]})
            return
        self._watch = os.pidfd_open(self._leader)
        self._poll.register(self._watch, select.POLLIN)
        if wanted.tell:
            send(self._line, {"started": self._leader})

    def _ended(self) -> None:
        """The leader has ended: its number may be another's from here on."""
        _, status, used = os.wait4(self._leader, 0)
        exit_code = os.waitstatus_to_exitcode(status)
        peak, alone = used.ru_maxrss * 1024, self._is_alone()
        send_end(self._line, Ended(exit_code, used.ru_utime, used.ru_stime, peak, alone))
        self._forget()
        if alone:
            self._rest()

    def _is_alone(self) -> bool:
        """Whether nothing of the call is left. False where that cannot be said for certain.

        A signal that finds nobody at all, reachable or not, proves it: in namespaces that is so
        while no other call runs.
        """
        try:
            if self._outsider is None:
                os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            else:
                os.kill(-1, 0)
        except (ProcessLookupError, ChildProcessError):
            return True
        return False

    def _forget(self) -> None:
        if self._watch is not None:
            self._poll.unregister(self._watch)
            os.close(self._watch)
        self._watch = None

    def _signal(self, number: int) -> None:
        """To the leader's group; once the leader is gone, its number may be another's."""
        with suppress(ProcessLookupError, PermissionError):
            if self._watch is not None:
                os.killpg(self._leader, number)
            elif self._leader and self._outsider is not None:
                os.kill(-1, number)

    def _end(self) -> None:
        """Nothing of the call is left afterwards."""
        if self._outsider is None:
            end_descendants()
        else:
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            if self._watch is not None:
                os.wait4(self._leader, 0)
        self._forget()
        self._rest()

    def _rest(self) -> None:
        self._leader = 0
        os.chdir("/")  # so that a workspace can be removed meanwhile


def _is_out_of_reach(outsider: int) -> bool:
    """Whether signals are kept inside this thread's domain."""
    try:
        os.kill(outsider, 0)
    except PermissionError:
        return True
    return False


def _started(
    argv: list[bytes], environment: dict[bytes, bytes], actions: list[tuple[int, int, int]]
) -> int:
    """Start a program by path or by its name in PATH, as a session of its own."""
    name = os.fsdecode(argv[0])
    missing: OSError = FileNotFoundError(errno.ENOENT, f"{name}: there is no such program")
    for path in _candidates(argv[0], environment):
        try:
            return os.posix_spawn(
                path,
                argv,
                environment,
                file_actions=actions,
                setsid=True,
                setsigmask=[],
                setsigdef=_IGNORED_BY_PYTHON,
            )
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError as problem:
            missing = problem
    raise missing


def _candidates(program: bytes, environment: dict[bytes, bytes]) -> list[bytes]:
    if b"/" in program:
        return [program]
    folders = environment.get(b"PATH", os.fsencode(os.defpath)).split(b":")
    return [os.path.join(folder, program) for folder in folders if folder]
