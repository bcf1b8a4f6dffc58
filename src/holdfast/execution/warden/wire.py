"""What runtime and warden say to each other: one message a packet, open files beside it.

A message is a JSON object. One that does not fit a packet travels in a file of memory.
"""

import array
import json
import os
import socket
from collections.abc import Iterable, Sequence

Message = dict[str, object]

_MOST_BYTES = 64 * 1024
_MOST_FILES = 16
_IN_FILE = b"\x00"
"""Stands for a message that is in the last file passed along; no JSON begins so."""


class Hungup(Exception):
    """The other side is gone."""


def pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a new line."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def pack(message: Message) -> bytes:
    """A message as bytes."""
    return json.dumps(message, separators=(",", ":")).encode("utf-8", "surrogateescape")


def send(line: socket.socket, message: Message, files: Sequence[int] = ()) -> None:
    """Send one message and pass open files along; raises Hungup."""
    packed = pack(message)
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


def _send(line: socket.socket, packed: bytes, files: Iterable[int]) -> None:
    numbers = array.array("i", files)
    beside = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)] if numbers else []
    try:
        line.sendmsg([packed], beside)
    except (BrokenPipeError, ConnectionResetError):
        raise Hungup from None


def receive(line: socket.socket) -> tuple[Message, list[int]]:
    """The next message and the files passed along, which are now the caller's; raises Hungup.

    Raises BlockingIOError when the line does not block and nothing is there.
    """
    room = socket.CMSG_SPACE(_MOST_FILES * 4)
    try:
        packed, beside, _, _ = line.recvmsg(_MOST_BYTES, room, socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError:
        raise Hungup from None
    files = array.array("i")
    for level, kind, content in beside:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            files.frombytes(content[: len(content) - len(content) % files.itemsize])
    if not packed:
        raise Hungup
    passed = list(files)
    if packed == _IN_FILE:
        with os.fdopen(passed.pop(), "rb") as kept:
            kept.seek(0)
            packed = kept.read()
    return json.loads(packed.decode("utf-8", "surrogateescape")), passed
