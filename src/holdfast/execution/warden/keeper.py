"""The keeper: it reaps what is orphaned, and ends all that is left when it is time.

It is time when the warden is gone, when the runtime is, or when the runtime has cut the keeper's
own line: whatever became of the warden, stopped or stuck, it keeps nothing alive. It starts
nothing, and nothing that a command does reaches it.
"""

import os
import select
import signal
import socket
import time
from contextlib import suppress
from types import FrameType

from holdfast.execution.kernel import privileges
from holdfast.execution.warden.descendants import end_descendants

_PATIENCE = 1.0
"""Seconds in which a warden may end by itself."""


def keep(warden: int, leash: socket.socket, runtime: int) -> None:
    """Returns when all may end; as process 1 with the caller, elsewhere it has ended already."""
    privileges.gain_nothing()
    privileges.drop_capabilities()
    privileges.be_unreadable()
    if os.getpid() == 1:
        privileges.end_with_parent()
    _wait(warden, leash.fileno(), runtime, _child_news())
    if os.getpid() != 1:
        end_descendants()


def _wait(warden: int, leash: int, runtime: int, news: int) -> None:
    """Until the warden has ended, by itself or by us."""
    poll = select.poll()
    for file in (leash, runtime, news):
        poll.register(file, select.POLLIN)
    deadline: float | None = None
    while not _is_reaped(warden):
        for file, _ in poll.poll(None if deadline is None else 1000 * _PATIENCE):
            if file == news:
                with suppress(BlockingIOError):
                    os.read(news, 4096)
            else:
                poll.unregister(file)
                deadline = deadline or time.monotonic() + _PATIENCE
        if deadline is not None and time.monotonic() >= deadline:
            os.kill(warden, signal.SIGKILL)


def _is_reaped(warden: int) -> bool:
    """Reap all children that have ended; whether the warden was among them."""
    with suppress(ChildProcessError):
        while ended := os.waitpid(-1, os.WNOHANG)[0]:
            if ended == warden:
                return True
    return False


def _child_news() -> int:
    """What can be read from when a child has ended."""
    news, told = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _nothing_more)
    return news


def _nothing_more(_number: int, _frame: FrameType | None) -> None:
    """That it came is written down."""
