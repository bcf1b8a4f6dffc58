"""A lock between processes, held by an open file. It is never waited for without end."""

import errno
import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager

PATIENCE_SECONDS = 10.0
_BETWEEN_TRIES = 0.005


@contextmanager
def file_lock(folder: int, name: str, *, exclusive: bool) -> Generator[None]:
    """Hold the lock of that name in an open directory; raises OSError when others keep it."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(name, flags, 0o600, dir_fd=folder)
    try:
        _take(handle, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


def _take(handle: int, kind: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError(errno.ETIMEDOUT, "others keep the changes locked") from None
            time.sleep(_BETWEEN_TRIES)
        else:
            return
