"""Nothing is started and nobody is called: refused by the interpreter itself, for a while.

An audit hook hears of every process and every connection that Python code of this process wants,
whatever thread it runs in and whatever library it uses. Code in C that starts one by itself is not
heard of. The hook is installed once and can never be taken out; it refuses only while it is wanted.
"""

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

STARTS = frozenset(
    {
        *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"),
        *("os.forkpty", "os.startfile", "pty.spawn"),
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


class EffectRefused(RuntimeError):
    """Something wanted to start a process or to reach the network where neither may happen."""


class _Refusal:
    """The hook: how many want it now, and what is said to whoever tries."""

    __cantrace__ = True
    """Debuggers and coverage may look into it, as into any other function."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._installed = False
        self._wanted = 0

    def more(self, change: int) -> None:
        with self._lock:
            self._wanted += change
            if not self._installed:
                self._installed = True
                sys.addaudithook(self)

    def __call__(self, event: str, _arguments: tuple[object, ...]) -> None:
        if self._wanted and (event in STARTS or event in CALLS):
            what = "starts no process" if event in STARTS else "reaches no network"
            raise EffectRefused(f"a replay {what}: {event} was refused")


_refusal = _Refusal()


@contextmanager
def no_effects() -> Generator[None]:
    """Refuse processes and the network until this is left, everywhere in this process."""
    _refusal.more(1)
    try:
        yield
    finally:
        _refusal.more(-1)
