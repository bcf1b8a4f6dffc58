"""The warden's own process: it opens confined threads, reaps every child, and outlives nobody.

When the runtime is gone, the line is cut or the lease has run out, it ends all that it started and
then itself.
"""

import os
import select
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from typing import cast

from holdfast.execution.kernel import privileges, seccomp
from holdfast.execution.kernel.system_calls import this_machine
from holdfast.execution.warden.spawner import Children, Spawner
from holdfast.execution.warden.wire import Hungup, Message, receive, send

_STACK = 256 * 1024


class Warden:
    """Reaps, and opens spawners until told to stop."""

    def __init__(self, line: socket.socket, outsider: int, runtime: int) -> None:
        self._line = line
        self._outsider = outsider
        self._runtime = runtime
        self._children = Children()
        self._deadline: float | None = None
        self._wakes, wakeup = socket.socketpair()
        self._wakes.setblocking(False)
        wakeup.setblocking(False)
        self._wakeup = wakeup
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)

    def serve(self) -> None:
        """Until the runtime is gone or its lease has run out."""
        poll = select.poll()
        for file in (self._line, self._wakes, self._runtime):
            poll.register(file, select.POLLIN)
        line, wakes = self._line.fileno(), self._wakes.fileno()
        while True:
            ready = poll.poll(self._left())
            for file, _ in ready:
                if file == wakes:
                    self._drain()
                    self._reap()
                elif file == line:
                    self._obey()
                else:
                    raise Hungup
            if self._deadline is not None and time.monotonic() >= self._deadline:
                raise Hungup

    def _left(self) -> float | None:
        if self._deadline is None:
            return None
        return max(0.0, (self._deadline - time.monotonic()) * 1000)

    def _drain(self) -> None:
        with suppress(BlockingIOError):
            while self._wakes.recv(4096):
                pass

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status, used = os.wait4(-1, os.WNOHANG)
                if pid == 0:
                    return
                said = {
                    "exit": os.waitstatus_to_exitcode(status),
                    "used": [used.ru_utime, used.ru_stime, used.ru_maxrss * 1024],
                }
                self._children.ended(pid, cast("Message", said))

    def _obey(self) -> None:
        message, files = receive(self._line)
        match message:
            case {"spawner": dict() as policy}:
                line = socket.socket(fileno=files.pop())
                Spawner(line, cast("Message", policy), self._children, self._outsider).start()
            case {"lease": float() | int() as seconds}:
                self._deadline = time.monotonic() + seconds
            case _:
                pass
        for file in files:
            os.close(file)


def main(line_number: int, runtime_pid: int) -> None:
    """Called in a fresh interpreter."""
    line = socket.socket(fileno=line_number)
    runtime = os.pidfd_open(runtime_pid)
    threading.stack_size(_STACK)
    privileges.adopt_orphans()
    keeper = os.getpid()
    warden = os.fork()
    if warden:
        line.close()
        _keep(warden)
        os._exit(0)
    privileges.adopt_orphans()
    privileges.gain_nothing()
    privileges.drop_capabilities()
    seccomp.confine_thread(seccomp.program(this_machine(), []))
    serving = Warden(line, keeper, runtime)
    send(line, {"ready": {"pid": os.getpid()}})
    with suppress(Hungup):
        serving.serve()
    os._exit(0)


def _keep(warden: int) -> None:
    while True:
        pid, _ = os.waitpid(-1, 0)
        if pid == warden:
            break
    _end_all()


def _end_all() -> None:
    """End every process below this one; ECHILD is the only proof that none is left."""
    while True:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as listed:
            for child in listed.read().split():
                with suppress(ProcessLookupError):
                    os.kill(int(child), signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)
