"""The right to write below a mounted root, which one process has at a time: held by an open file.

It names who has it, and keeps a note of what is being done, for whoever has it next. The system
lets go of it when its process ends, so that nobody who is gone keeps others waiting. What is
written is not known here.
"""

import fcntl
import os
from pathlib import Path
from typing import Self

import msgspec

_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_BYTES = 64 * 1024


class Doing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that is about to be changed."""

    target: str
    content_hash: str
    """What will be in it."""
    before_hash: str | None = None
    """What is in it; None: it is not there."""
    previous_version_id: str | None = None


class LeaseNote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What whoever has it says of themselves."""

    session_id: str = ""
    process_id: int = 0
    doing: Doing | None = None


class LeaseTaken(Exception):
    """Somebody else has it."""

    def __init__(self, owner: LeaseNote) -> None:
        super().__init__(f"session {owner.session_id} has it, in process {owner.process_id}")
        self.owner = owner


class WriteLease:
    """Held from its making until it is let go. Blocking; OSError."""

    def __init__(self, file: Path, session_id: str) -> None:
        """Take it now; LeaseTaken. The folder of the file is made for its owner alone."""
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._handle = os.open(file, _OPEN, 0o600)
        try:
            _lock(self._handle)
            self.left = self._said().doing
            """What somebody was doing who did not come to its end."""
            self._owner = LeaseNote(session_id=session_id, process_id=os.getpid())
            self.doing(self.left)
        except BlockingIOError:
            owner = self._said()
            os.close(self._handle)
            raise LeaseTaken(owner) from None
        except BaseException:
            os.close(self._handle)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def doing(self, one: Doing | None) -> None:
        """Say what is about to be done; None: nothing is."""
        said = msgspec.json.encode(msgspec.structs.replace(self._owner, doing=one))
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, said, 0)
        os.fsync(self._handle)

    def close(self) -> None:
        """Let go of it."""
        os.close(self._handle)

    def _said(self) -> LeaseNote:
        try:
            return msgspec.json.decode(os.pread(self._handle, _MOST_BYTES, 0), type=LeaseNote)
        except msgspec.DecodeError:
            return LeaseNote()  # new, or cut short when its writer ended


def _lock(handle: int) -> None:
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
