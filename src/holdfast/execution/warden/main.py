"""The warden's own process: it opens confined threads, reaps every child, and outlives nobody.

Two processes: the *keeper* adopts what is orphaned and ends all that is left when the warden or the
runtime is gone; in namespaces it is process 1 there, and its own end is the end of everything by
the kernel's guarantee. The *warden* serves. When the runtime is gone, the line is cut or the lease
has run out, it ends, and with it all that it started.
"""

import errno
import os
import resource
import select
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple, cast

from holdfast.execution.kernel import landlock, namespaces, privileges
from holdfast.execution.kernel.namespaces import Kind, Shown
from holdfast.execution.kernel.physical import hold, identity
from holdfast.execution.warden.confine import confine
from holdfast.execution.warden.keeper import keep
from holdfast.execution.warden.spawner import Spawner
from holdfast.execution.warden.wire import Hungup, Message, receive, send

_STACK = 256 * 1024
_LONGEST_MS = 1000.0


class Lines(NamedTuple):
    """What connects it to the runtime."""

    orders: socket.socket
    leash: socket.socket
    """The keeper's own: nothing is said there, it is only cut."""
    runtime: int
    """A handle on the runtime's process."""


def main(orders: int, leash: int, runtime: int) -> None:
    """Called in a fresh interpreter, with its lines and a handle on the runtime's process."""
    for inherited in (orders, leash, runtime):
        # Or every process would have them, too.
        os.set_inheritable(inherited, False)  # noqa: FBT003 - as it is called
    lines = Lines(socket.socket(fileno=orders), socket.socket(fileno=leash), runtime)
    try:
        _begin(lines)
    except OSError as problem:
        with suppress(Hungup):
            send(lines.orders, {"failed": str(problem), "refused": problem.errno == errno.ELOOP})


def _begin(lines: Lines) -> None:
    setup, _ = receive(lines.orders)
    threading.stack_size(_STACK)
    view = [Shown(*one) for one in cast("list[tuple[Kind, str, str]]", setup["view"])]
    if view:
        namespaces.leave_namespaces()
        _in_child(lambda: _be_first(lines, setup, view), partial(_wait_for, lines))
    else:
        _look_whether_same(cast("list[tuple[str, int, int]]", setup["same"]))
        privileges.adopt_orphans()
        _in_child(lambda: _serve(lines, setup), partial(_keep, lines))


def _be_first(lines: Lines, setup: Message, view: list[Shown]) -> None:
    """Process 1 of the new namespaces."""
    namespaces.build_view(view, cast("str", setup["at"]))
    namespaces.raise_loopback()
    _in_child(lambda: _serve(lines, setup), partial(_keep, lines))


def _look_whether_same(shown: list[tuple[str, int, int]]) -> None:
    """Somebody else made the view, by names: a link may have led it elsewhere meanwhile."""
    for path, *wanted in shown:
        handle = hold(path)
        try:
            if [*identity(handle)] != wanted:
                raise OSError(errno.ELOOP, "something else is shown", path)
        finally:
            os.close(handle)


def _in_child(work: Callable[[], None], meanwhile: Callable[[int], None]) -> None:
    child = os.fork()
    (partial(meanwhile, child) if child else work)()
    os._exit(0)


def _wait_for(lines: Lines, child: int) -> None:
    lines.orders.close()
    os.waitpid(child, 0)


def _keep(lines: Lines, warden: int) -> None:
    lines.orders.close()  # it is the warden's alone: that it is cut is heard at once
    keep(warden, lines.leash, lines.runtime)


def _serve(lines: Lines, setup: Message) -> None:
    lines.leash.close()
    listener = _listener() if setup["proxy"] else None
    for name, (soft, hard) in cast("dict[str, tuple[int, int]]", setup["limits"]).items():
        resource.setrlimit(getattr(resource, name), (soft, hard))
    privileges.gain_nothing()
    privileges.drop_capabilities()
    privileges.be_unreadable()
    if setup["paths"] is not None:
        confine(setup, landlock.version())
    warden = Warden(lines.orders, lines.runtime, setup)
    files = [listener.fileno()] if listener else []
    port = listener.getsockname()[1] if listener else None
    send(lines.orders, {"ready": {"pid": os.getpid(), "port": port}}, files)
    with suppress(Hungup):
        warden.serve()


def _listener() -> socket.socket:
    """Where programs ask for hosts: on the private network, answered by the runtime."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    return listener


def _now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Warden:
    """Opens spawners until told to stop."""

    def __init__(self, line: socket.socket, runtime: int, setup: Message) -> None:
        self._line = line
        self._runtime = runtime
        # Remembered: should it be gone later, a signal to whoever took its place proves nothing.
        self._keeper = os.getppid()
        # As the super-user signals are sent to all only where there are no others.
        alone = bool(setup["separate"]) or os.getuid() != 0
        self._confined = setup["paths"] is not None
        scopes = landlock.version() >= landlock.SCOPES_SINCE
        self._scoped = self._confined and alone and scopes
        if not self._scoped:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # spawners that end are reaped at once
        self._deadline: float | None = None

    def serve(self) -> None:
        """Until the runtime is gone or its lease has run out."""
        poll = select.poll()
        poll.register(self._line, select.POLLIN)
        poll.register(self._runtime, select.POLLIN)
        while self._deadline is None or _now() < self._deadline:
            for file, _ in poll.poll(self._left()):
                if file == self._runtime:
                    return
                self._obey()

    def _left(self) -> float | None:
        if self._deadline is None:
            return None
        # No longer than that: it is not counted while the machine sleeps, and the deadline is.
        return min(_LONGEST_MS, max(0.0, (self._deadline - _now()) * 1000))

    def _obey(self) -> None:
        message, files = receive(self._line)
        if "spawner" in message:
            self._open(socket.socket(fileno=files.pop()))
        else:
            self._deadline = cast("float", message["until"])

    def _open(self, line: socket.socket) -> None:
        try:
            self._begin(line)
        except (OSError, RuntimeError) as problem:
            # There are as many processes as there may be: this one is refused, the others go on.
            with suppress(Hungup):
                send(line, {"refused": str(problem)})
            line.close()

    def _begin(self, line: socket.socket) -> None:
        outsider = self._keeper if self._scoped else None
        spawner = Spawner(line, outsider, domain=self._confined)
        serving = threading.Thread(target=spawner.serve, daemon=True)
        if self._scoped:
            serving.start()
        else:
            child = os.fork()
            (line.close if child else partial(self._be_a_spawner, serving))()

    def _be_a_spawner(self, serving: threading.Thread) -> None:
        """Confined is a thread of it: the process itself stays out of its children's reach."""
        self._line.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        privileges.adopt_orphans()
        serving.start()
        serving.join()
        os._exit(0)
