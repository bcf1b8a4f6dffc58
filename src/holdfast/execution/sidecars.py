"""Sidecar files: whole outputs that were too large to show, kept per session until it closes.

Mode 0600 in directories of mode 0700, created exclusively and never through a link, bounded by
quotas. Which output goes here is decided elsewhere.
"""

import hashlib
import os
import shutil
import threading
from contextlib import ExitStack, suppress
from pathlib import Path

from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.ports import StoredOutput
from holdfast.contract.truncate import cut_utf8
from holdfast.execution.spool import Spool, SpoolFile

DEFAULT_CALL_QUOTA = 64 * 1024 * 1024
DEFAULT_SESSION_QUOTA = 512 * 1024 * 1024

_UNSAFE = late_pattern(r"[^A-Za-z0-9_.-]+")
_NAME_CHARACTERS = 120
ARTIFACTS = "artifacts"
OUTPUTS = "outputs"
"""The folder of whole outputs, below that of a session."""
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class SidecarFiles:
    """Keeps whole outputs under one directory, a folder per session."""

    def __init__(
        self,
        root: Path,
        *,
        call_quota: int = DEFAULT_CALL_QUOTA,
        session_quota: int = DEFAULT_SESSION_QUOTA,
    ) -> None:
        self._root = root
        self._call_quota = call_quota
        self._session_quota = session_quota
        self._used: dict[str, int] = {}
        self._lock = threading.Lock()

    def keep(self, session_id: str, name: str, content: bytes) -> StoredOutput | None:
        """Store as much as the quotas allow; None when nothing could be kept."""
        granted = self._reserve(session_id, min(len(content), self._call_quota))
        shown = cut_utf8(content, granted)
        try:
            path = self._write(session_id, name, shown) if shown or not content else None
        except OSError:
            path = None
        self._release(session_id, granted - (0 if path is None else len(shown)))
        return None if path is None else StoredOutput(path=str(path), stored_bytes=len(shown))

    def spool(self, session_id: str, name: str) -> Spool:
        """A place for output that is still coming; a file of its own once it is large."""
        return Spool(lambda: self._spool_file(session_id, name), self._call_quota)

    def _spool_file(self, session_id: str, name: str) -> SpoolFile:
        granted = self._reserve(session_id, self._call_quota)
        try:
            path, handle = self._create(session_id, name)
        except OSError:
            self._release(session_id, granted)
            raise

        def give_back(used: int) -> None:
            self._release(session_id, granted - used)

        return SpoolFile(str(path), handle, granted, give_back)

    def forget(self, session_id: str) -> None:
        """Remove everything kept for the session, following no links."""
        with self._lock:
            self._used.pop(session_id, None)
        session = self._root / _safe(session_id)
        if session.is_symlink():
            session.unlink(missing_ok=True)
        # An error: something else of the session is still there, or it never existed.
        with suppress(OSError), ExitStack() as opened:
            _empty(_opened(opened, session, os.O_NOFOLLOW))
            session.rmdir()

    def _reserve(self, session_id: str, wanted: int) -> int:
        with self._lock:
            used = self._used.get(session_id, 0)
            granted = min(wanted, max(self._session_quota - used, 0))
            self._used[session_id] = used + granted
        return granted

    def _release(self, session_id: str, granted: int) -> None:
        with self._lock:
            self._used[session_id] = max(self._used.get(session_id, 0) - granted, 0)

    def _write(self, session_id: str, name: str, content: bytes) -> Path:
        path, handle = self._create(session_id, name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
        except OSError:
            path.unlink(missing_ok=True)
            raise
        return path

    def _create(self, session_id: str, name: str) -> tuple[Path, int]:
        """A new file, opened; no link on the way is followed."""
        session = self._root / _safe(session_id)
        path = session / OUTPUTS / _safe(name)
        make_private(self._root)
        with ExitStack() as opened:
            above = _opened(opened, self._root, 0)
            for part in (session.name, OUTPUTS):
                with suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=above)
                above = _opened(opened, part, os.O_NOFOLLOW, above)
            return path, os.open(path.name, _NEW_FILE, 0o600, dir_fd=above)


def _opened(opened: ExitStack, folder: str | Path, flags: int, above: int | None = None) -> int:
    """Open a folder for as long as the stack is."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | flags, dir_fd=above)
    opened.callback(os.close, handle)
    return handle


def _empty(session: int) -> None:
    """Remove the outputs from a session's folder; a link in their place is all that goes."""
    shutil.rmtree(OUTPUTS, ignore_errors=True, dir_fd=session)
    with suppress(OSError):
        os.unlink(OUTPUTS, dir_fd=session)


def folder_name(session_id: str) -> str:
    """What the folder of a session is called."""
    return _safe(session_id)


def make_private(folder: Path) -> None:
    """Make the folder and what is missing above it, each for its owner alone."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)


def _safe(name: str) -> str:
    """One path component. Names that differ stay different, also when they had to be changed."""
    safe = _UNSAFE.sub("_", name)[-_NAME_CHARACTERS:].lstrip(".")
    if safe and safe == name:
        return name
    digest = hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=6).hexdigest()
    return f"{safe or '_'}-{digest}"
