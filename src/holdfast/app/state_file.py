"""Small JSON files of holdfast's own state: owner-only, replaced as a whole, changed under a lock.

What stands in them is not known here.
"""

import fcntl
import os
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from holdfast.app.own_files import is_anothers, open_to_all

PATIENCE_SECONDS = 10.0
_BETWEEN_TRIES = 0.02
_OWNER_ONLY = 0o600
_FOLDER = 0o700


def read_bytes(path: Path) -> bytes | None:
    """What is in the file; None when there is none.

    Raises OSError when it cannot be read, or when everybody could have written it.
    """
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if is_anothers(path):
        raise PermissionError(f"{path} belongs to another user; remove it or make it your own")
    shared = open_to_all(path)
    if shared is not None:
        raise PermissionError(f"everybody can write {shared}; run: chmod o-w {shared}")
    return content


def replace(path: Path, content: bytes) -> None:
    """Put this in the place of the file, all of it or nothing; raises OSError."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _OWNER_ONLY)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def make_private(folder: Path) -> None:
    """Make it and all above it that is missing; `mkdir` gives its mode to the last one alone."""
    if not folder.exists():
        make_private(folder.parent)
        folder.mkdir(exist_ok=True, mode=_FOLDER)


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Keep other processes from changing the file meanwhile; makes its folder.

    Raises OSError, also when another process keeps it for itself all the time.
    """
    make_private(path.parent)
    lock = os.open(
        path.with_name(f".{path.name}.lock"),
        os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC,
        _OWNER_ONLY,
    )
    try:
        _take(lock, path)
        yield
    finally:
        os.close(lock)


def _take(lock: int, path: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                message = f"{path}: another process keeps it locked; end that one, or try again"
                raise TimeoutError(message) from None
            time.sleep(_BETWEEN_TRIES)
        else:
            return
