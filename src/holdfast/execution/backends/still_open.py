"""The sandboxes of this process that are open: closed when forgotten, and when the process ends.

A forked child has none: what a parent opened is the parent's to close. Handles are not known here.
"""

import atexit
import logging
import os
import threading
import weakref
from queue import SimpleQueue

from holdfast.contract.backend import OpenedSandbox

_log = logging.getLogger("holdfast")
_Forgotten = SimpleQueue[tuple[OpenedSandbox, int]]


class StillOpen:
    """Knows what is open, and has a thread that closes what was forgotten.

    Closing may wait, and whoever happens to collect a handle must not, nor take any lock.
    """

    def __init__(self) -> None:
        self._begin()

    def watch(self, handle: object, opened: OpenedSandbox) -> "weakref.finalize[..., object]":
        """Close a sandbox when its handle is forgotten, or when the interpreter ends."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._close_forgotten, args=(self._forgotten,), daemon=True
                )
                self._thread.start()
        self._left[id(opened)] = opened
        finalizer = weakref.finalize(handle, self._forgotten.put, (opened, os.getpid()))
        finalizer.atexit = False
        return finalizer

    def close(self, opened: OpenedSandbox, process: int) -> None:
        """Close what that process opened, if it is this one."""
        self._left.pop(id(opened), None)
        if os.getpid() != process:
            return
        try:
            opened.close()
        except Exception:  # noqa: BLE001 - foreign code; it is closed for us all the same
            _log.exception("a sandbox could not be closed")

    def close_all(self) -> None:
        """Close what is left, as the end of the interpreter does."""
        for opened in tuple(self._left.values()):
            self.close(opened, os.getpid())

    def forget(self) -> None:
        """In a forked child, everything is the parent's."""
        self._begin()

    def _begin(self) -> None:
        self._left: dict[int, OpenedSandbox] = {}
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._forgotten: _Forgotten = SimpleQueue()

    def _close_forgotten(self, forgotten: _Forgotten) -> None:
        while True:
            self.close(*forgotten.get())


STILL_OPEN = StillOpen()
atexit.register(STILL_OPEN.close_all)
os.register_at_fork(after_in_child=STILL_OPEN.forget)
