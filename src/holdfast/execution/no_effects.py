"""Nothing is started and nobody is called: refused by the interpreter itself, for a while.

An audit hook hears of every process and every connection that Python code wants, whatever library
it uses. Three things it does not hear of are put behind functions of ours when it is first wanted:
`fork_exec`, by which multiprocessing starts what it spawns, and the two ways by which work gets
into another thread without its context. Hook and functions stay for good, as nobody could take them
away without a moment in between; they act only where it is wanted: in the work that is bound, with
the tasks and threads that it begins and what it hands to pools of threads, or everywhere.

Code in C that starts or calls by itself is not heard of, nor what is sent over a connection that
was there before, nor work that is handed over by other ways to a thread that was there before.
"""

import _posixsubprocess
import _thread
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from typing import ParamSpec, TypeVar

STARTS = frozenset(
    {
        *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"),
        *("os.forkpty", "os.startfile", "pty.spawn", "_winapi.CreateProcess"),
    }
)
"""What the interpreter calls the ways to another process."""
CALLS = frozenset(
    {
        *("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"),
        *("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"),
        "socket.getnameinfo",
    }
)
"""What it calls the ways to another machine, or to a server of this one."""

_P = ParamSpec("_P")
_R = TypeVar("_R")


class EffectRefused(RuntimeError):
    """Something wanted to start a process or to reach the network where neither may happen."""


class _Bond:
    """What binds one piece of work, as long as it is held; those around it bind it as well."""

    def __init__(self, around: "_Bond | None") -> None:
        self._around = around
        self.held = True

    def holds(self) -> bool:
        return self.held or (self._around is not None and self._around.holds())


_bond: ContextVar[_Bond | None] = ContextVar("holdfast_no_effects", default=None)


def _bound() -> _Bond | None:
    """What binds whoever asks."""
    bond = _bond.get()
    return bond if bond is not None and bond.holds() else None


def _bound_by(
    bond: _Bond | None, work: Callable[_P, _R], /, *given: _P.args, **named: _P.kwargs
) -> _R:
    """Work in another thread, bound as whoever handed it over, and free where nobody was."""
    before = _bond.set(bond)
    try:
        return work(*given, **named)
    finally:
        _bond.reset(before)


class _Refusal:
    """The hook: how many want it everywhere now, and what is said to whoever tries."""

    __cantrace__ = True
    """Debuggers and coverage may look into it, as into any other function."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._installed = False
        self._wanted = 0

    def install(self) -> None:
        with self._lock:
            if not self._installed:
                self._installed = True
                sys.addaudithook(self)
                _put_in_place()

    def everywhere(self, change: int) -> None:
        with self._lock:
            self._wanted += change

    def __call__(self, event: str, _arguments: tuple[object, ...]) -> None:
        if event in STARTS or event in CALLS:
            self.check("starts no process" if event in STARTS else "reaches no network", event)

    def check(self, what: str, tried: str) -> None:
        if self._wanted or _bound() is not None:
            raise EffectRefused(f"a replay {what}: {tried} was refused")


_refusal = _Refusal()


def _put_in_place() -> None:
    """Put what raises no event behind functions that ask first."""
    fork_exec = _asking(_posixsubprocess.fork_exec)
    setattr(_posixsubprocess, "fork_exec", fork_exec)  # noqa: B010 - what is there is not for us
    setattr(subprocess, "_fork_exec", fork_exec)  # noqa: B010 - the same
    setattr(threading.Thread, "start", _starting(threading.Thread.start))  # noqa: B010 - types forbid it
    setattr(ThreadPoolExecutor, "submit", _submitting(ThreadPoolExecutor.submit))  # noqa: B010 - types forbid it
    begin = _beginning(_thread.start_new_thread)
    for name in ("start_new_thread", "start_new"):
        setattr(_thread, name, begin)


def _asking(fork_exec: Callable[_P, int]) -> Callable[_P, int]:
    @wraps(fork_exec)
    def asking(*given: _P.args, **named: _P.kwargs) -> int:
        _refusal.check("starts no process", "fork_exec")
        return fork_exec(*given, **named)

    return asking


def _starting(start: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    @wraps(start)
    def starting(thread: threading.Thread) -> None:
        if (bond := _bound()) is not None:
            # Its own method, in front of that of its class: what a pool hands it later on comes
            # with a context of its own, and is bound by that alone.
            thread.run = partial(_bound_by, bond, thread.run)
        start(thread)

    return starting


def _submitting(submit: Callable[..., _R]) -> Callable[..., _R]:
    @wraps(submit)
    def submitting(
        pool: ThreadPoolExecutor, work: Callable[..., object], /, *given: object, **named: object
    ) -> _R:
        # Free work as well: a thread of the pool may have been started by work that is bound.
        return submit(pool, partial(_bound_by, _bound(), work), *given, **named)

    return submitting


def _beginning(begin: Callable[..., int]) -> Callable[..., int]:
    @wraps(begin)
    def beginning(work: Callable[..., object], /, *given: object) -> int:
        bond = _bound()
        return begin(work if bond is None else partial(_bound_by, bond, work), *given)

    return beginning


@contextmanager
def no_effects(*, everywhere: bool = False) -> Generator[None]:
    """Refuse processes and the network until this is left: to whatever is done inside of it, in
    whichever thread, and to nothing else that this process does.

    ``everywhere``: to all of this process, for one that does nothing else.
    """
    _refusal.install()
    bond = _Bond(_bond.get())
    before = _bond.set(bond)
    _refusal.everywhere(everywhere)
    try:
        yield
    finally:
        _refusal.everywhere(-everywhere)
        bond.held = False
        _bond.reset(before)
