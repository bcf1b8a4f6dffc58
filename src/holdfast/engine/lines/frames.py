"""What the two ends of a connection over a bus say to each other, as bytes.

Every frame says how many pieces its end has sent so far and how many the other one may send, so
that a piece that was lost is noticed with whatever comes next. How that is used is not known here.
"""

import struct
from enum import IntEnum
from typing import NamedTuple

from holdfast.engine.lines.addresses import is_token

_VERSION = 1
_HEAD = struct.Struct("!BBQQ")
MOST_PIECE_BYTES = 32 * 1024
"""So much of a stream is sent at once: well below what any server of a bus takes."""


class Kind(IntEnum):
    """What a frame says."""

    OPEN = 1
    """Somebody wants a connection; the data is where they listen."""
    TAKEN = 2
    """They have it; the data is where the other end listens."""
    PIECE = 3
    """The data is the next piece."""
    HERE = 4
    """Nothing but that somebody is there."""
    END = 5
    """No piece comes any more."""
    GONE = 6
    """This end has left."""


class Frame(NamedTuple):
    """One message."""

    kind: Kind
    sent: int = 0
    """How many pieces this end has sent before."""
    granted: int = 0
    """How many pieces the other end may send, from the beginning."""
    data: bytes = b""


def bytes_of(frame: Frame) -> bytes:
    """As it is said."""
    return _HEAD.pack(_VERSION, frame.kind, frame.sent, frame.granted) + frame.data


def frame_in(message: bytes) -> Frame | None:
    """What is said; None: it is none of these."""
    if len(message) < _HEAD.size:
        return None
    version, number, sent, granted = _HEAD.unpack_from(message)
    if version != _VERSION or number not in Kind.__members__.values():
        return None
    frame = Frame(Kind(number), sent, granted, message[_HEAD.size :])
    return frame if _is_whole(frame) else None


def token_in(frame: Frame) -> str:
    """Where whoever says it listens: of one that opens or takes a connection."""
    return frame.data.decode("ascii")


def _is_whole(frame: Frame) -> bool:
    match frame.kind:
        case Kind.PIECE:
            return 0 < len(frame.data) <= MOST_PIECE_BYTES
        case Kind.OPEN | Kind.TAKEN:
            return is_token(frame.data.decode("ascii", "replace"))
        case _:
            return not frame.data
