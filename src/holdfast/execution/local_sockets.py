"""Sockets in a folder of one's own, for windows of the same person on the same machine.

A folder is opened once, looked at, and reached by its handle from then on: what was checked is what
is used, and its path may be longer than the 107 bytes that a socket's name has room for. Who is at
the other end is told by the kernel. What is said over a socket is not known here.
"""

import os
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from anyio.lowlevel import checkpoint

from holdfast.execution.local_streams import LocalListener, LocalStream, connected, listening

UNNAMED = "."
"""What the name of a socket begins with that does not listen yet."""
_OWNER_ONLY = 0o600
_OF_OTHERS = 0o077
_BACKLOG = 16
_CREDENTIALS = struct.Struct("=iII")
_CONFINING = {"NoNewPrivs", "Seccomp", "Seccomp_filters"}
_HANDLES = Path("/proc/self/fd")


class Peer(NamedTuple):
    """Who is at the other end of a connection."""

    pid: int
    """0: it cannot be seen from here."""
    uid: int


class SocketFolder:
    """A folder that sockets of this user are in, held open. Close it."""

    def __init__(self, path: Path) -> None:
        """OSError; PermissionError where others could have put something there."""
        self._handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        seen = os.fstat(self._handle)
        if not may_be_reached(seen.st_uid) or seen.st_mode & _OF_OTHERS:
            self.close()
            raise PermissionError(
                f"{path}: sockets have to be in a folder that is yours alone; run: chmod 700 {path}"
            )

    def close(self) -> None:
        """Let go of it."""
        os.close(self._handle)

    def names(self) -> list[str]:
        """The sockets in it."""
        return sorted(os.listdir(self._handle))  # noqa: PTH208 - it is a handle, not a path

    def made_at(self, name: str) -> float:
        """When a socket was made, in seconds since 1970; OSError."""
        return os.stat(name, dir_fd=self._handle, follow_symlinks=False).st_mtime

    async def listen(self, name: str) -> LocalListener:
        """Listen for others of this user; OSError. It has its name only once it listens."""
        first = f"{UNNAMED}{name}"
        await checkpoint()
        self.remove(first)
        listener = listening(self._path(first), _OWNER_ONLY, _BACKLOG)
        try:
            os.rename(first, name, src_dir_fd=self._handle, dst_dir_fd=self._handle)
        except BaseException:
            await listener.aclose()
            raise
        return listener

    async def connect(self, name: str) -> LocalStream:
        """Reach whoever listens there; OSError, ConnectionRefusedError where nobody does."""
        return await connected(self._path(name))

    def remove(self, name: str) -> None:
        """Take a socket away; harmless where somebody else has."""
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._handle)

    def _path(self, name: str) -> str:
        return f"{_HANDLES}/{self._handle}/{name}"


def are_known() -> bool:
    """Whether this machine tells who is at the other end, and reaches folders by their handles."""
    return hasattr(socket, "SO_PEERCRED") and _HANDLES.is_dir()


def peer_of(stream: LocalStream) -> Peer:
    """Who is at the other end, as the kernel has it."""
    told = stream.line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(told)
    return Peer(pid, uid)


def is_same_user(peer: Peer) -> bool:
    """Whether it is this user, or one who could do anything anyway."""
    return peer.uid in (os.geteuid(), 0)


def may_be_reached(uid: int) -> bool:
    """Whether what belongs to a user is this user's to reach; the super-user reaches everybody."""
    return uid in (os.geteuid(), 0) or os.geteuid() == 0


def is_confined(peer: Peer) -> bool:
    """Whether it is held to more than this process: a command of an agent, and no person's window.

    The kernel only ever adds filters to a process. One that cannot be seen counts as confined.
    """
    theirs, own = _confinement(str(peer.pid)), _confinement("self")
    return theirs is None or own is None or any(theirs[name] > own[name] for name in _CONFINING)


def _confinement(process: str) -> dict[str, int] | None:
    try:
        told = Path(f"/proc/{process}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = dict.fromkeys(_CONFINING, 0)  # a kernel may lack one
    for line in told.splitlines():
        name, _, value = line.partition(":")
        if name in found:
            found[name] = int(value)
    return found
