"""Sidecar files: whole outputs that were too large to show, kept per session until it closes.

Mode 0600 in directories of mode 0700, created exclusively and never through a link, bounded by
quotas. Which output goes here is decided elsewhere.
"""

import os
import re
import shutil
import threading
from pathlib import Path

from holdfast.contract.ports import StoredOutput
from holdfast.contract.truncate import cut_utf8

DEFAULT_CALL_QUOTA = 64 * 1024 * 1024
DEFAULT_SESSION_QUOTA = 512 * 1024 * 1024

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_DIRECTORY = "outputs"


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
        if not shown and content:
            return None
        try:
            path = self._write(session_id, name, shown)
        except OSError:
            self._release(session_id, granted)
            return None
        return StoredOutput(path=str(path), stored_bytes=len(shown))

    def forget(self, session_id: str) -> None:
        """Remove everything kept for the session, following no links."""
        with self._lock:
            self._used.pop(session_id, None)
        folder = self._root / _safe(session_id) / _DIRECTORY
        if folder.is_symlink():
            folder.unlink()
            return
        shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.parent.rmdir()
        except OSError:
            return  # something else of the session is still there, or it never existed

    def _reserve(self, session_id: str, wanted: int) -> int:
        with self._lock:
            used = self._used.get(session_id, 0)
            granted = min(wanted, max(self._session_quota - used, 0))
            self._used[session_id] = used + granted
        return granted

    def _release(self, session_id: str, granted: int) -> None:
        with self._lock:
            self._used[session_id] = self._used.get(session_id, 0) - granted

    def _write(self, session_id: str, name: str, content: bytes) -> Path:
        folder = self._root / _safe(session_id) / _DIRECTORY
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        path = folder / _safe(name)
        handle = os.open(path, flags, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
        except OSError:
            path.unlink(missing_ok=True)
            raise
        return path


def _safe(name: str) -> str:
    return _UNSAFE.sub("_", name).lstrip(".")[:120] or "_"
