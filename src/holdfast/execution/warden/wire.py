"""What runtime and warden say to each other: one message a packet, open files beside it.

A message is a JSON object; one that does not fit a packet travels in a file of memory. What every
command waits for is told more plainly: that one is to be started, and that one has ended.
"""

import array
import json
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

Message = dict[str, object]

_MOST_BYTES = 64 * 1024
_MOST_FILES = 16
_ROOM = socket.CMSG_SPACE(_MOST_FILES * 4)
_IN_FILE = b"\x00"
"""Stands for a message that is in the last file passed along; no JSON begins so."""


_SPAWN, _SPAWN_AND_TELL = b"\x01", b"\x02"
"""Begin what is to be started: words with a zero between them."""

_EXIT = struct.Struct("=xqddq?")
"""Begins with a zero, like no JSON, and is longer than one."""


class Spawn(NamedTuple):
    """A process to be started."""

    cwd: bytes
    argv: list[bytes]
    environment: dict[bytes, bytes]
    tell: bool
    """Whether its number is to be told."""


class Ended(NamedTuple):
    """How a process ended; a negative exit is the signal that ended it."""

    exit: int
    user_seconds: float
    system_seconds: float
    peak_bytes: int
    alone: bool = False
    """Nothing else of its call is left: proved, not guessed."""


class Hungup(Exception):
    """The other side is gone."""


def pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a new line."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def pack(message: Message) -> bytes:
    """A message as bytes."""
    return json.dumps(message, separators=(",", ":")).encode("utf-8", "surrogateescape")


def pack_spawn(
    cwd: str, argv: Sequence[str], environment: Mapping[str, str], *, tell: bool = False
) -> bytes:
    """What is to be started, as bytes; ValueError for a word that no process can be given."""
    if not argv:
        raise ValueError("no program is named")
    variables = [f"{name}={value}" for name, value in environment.items()]
    words = [cwd, str(len(argv)), *argv, *variables]
    packed = "\0".join(words).encode("utf-8", "surrogateescape")
    if packed.count(b"\0") != len(words) - 1:
        raise ValueError("a word, a directory or a variable holds a NUL character")
    return (_SPAWN_AND_TELL if tell else _SPAWN) + packed


def _spawn_in(packed: bytes) -> Spawn:
    cwd, count, *words = packed[1:].split(b"\0")
    argc = int(count)
    environment = dict([word.split(b"=", 1) for word in words[argc:]])
    return Spawn(cwd, words[:argc], environment, packed[:1] == _SPAWN_AND_TELL)


def send(line: socket.socket, message: Message, files: Sequence[int] = ()) -> None:
    """Send one message and pass open files along; raises Hungup."""
    send_packed(line, pack(message), files)


def send_packed(line: socket.socket, packed: bytes, files: Sequence[int] = ()) -> None:
    """The same for what is packed already."""
    if len(packed) <= _MOST_BYTES:
        _send(line, packed, files)
        return
    kept = os.memfd_create("message", os.MFD_CLOEXEC)
    try:
        with os.fdopen(kept, "wb", closefd=False) as out:
            out.write(packed)
        _send(line, _IN_FILE, [*files, kept])
    finally:
        os.close(kept)


def _send(line: socket.socket, packed: bytes, files: Sequence[int]) -> None:
    try:
        if files:
            numbers = array.array("i", files)
            line.sendmsg([packed], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
        else:
            line.send(packed)
    except (BrokenPipeError, ConnectionResetError):
        raise Hungup from None


def send_end(line: socket.socket, ended: Ended) -> None:
    """Tell that the process has ended; raises Hungup."""
    _send(line, _EXIT.pack(*ended), ())


def heard(packed: bytes) -> Message | Ended:
    """A packet that no files were passed along with."""
    if len(packed) == _EXIT.size and packed[0] == 0:
        return Ended(*_EXIT.unpack(packed))
    return json.loads(packed)


def receive(line: socket.socket) -> tuple[Message, list[int]]:
    """The next message and the files passed along, which are now the caller's; raises Hungup.

    Raises BlockingIOError when the line does not block and nothing is there.
    """
    packed, files = _receive(line)
    return json.loads(packed.decode("utf-8", "surrogateescape")), files


def receive_order(line: socket.socket) -> tuple[Message | Spawn, list[int]]:
    """The same for a line on which processes are started, too."""
    packed, files = _receive(line)
    if packed[:1] in (_SPAWN, _SPAWN_AND_TELL):
        return _spawn_in(packed), files
    return json.loads(packed), files


def _receive(line: socket.socket) -> tuple[bytes, list[int]]:
    try:
        packed, beside, _, _ = line.recvmsg(_MOST_BYTES, _ROOM, socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError:
        raise Hungup from None
    files = array.array("i")
    for _, _, content in beside:
        files.frombytes(content[: len(content) - len(content) % files.itemsize])
    if not packed:
        raise Hungup
    passed = list(files)
    if packed == _IN_FILE:
        with os.fdopen(passed.pop(), "rb") as kept:
            kept.seek(0)
            packed = kept.read()
    return packed, passed
