"""An anchor as it is kept in a file: a place of a fixed size behind a checksum. Opens nothing.

The larger number of two counts. A later life of a session counts more than all before it, and that
it was taken away more than any of its events.
"""

import struct
import zlib
from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

_NAME_BYTES = 96
_SESSION = struct.Struct(f">{_NAME_BYTES}sQ32s")
"""The session's name, its life with the number of its last event, and that event's hash."""
_SLOT = struct.Struct(f">I{_NAME_BYTES}sQ32s")
"""The same behind its checksum."""
SLOT_BYTES = _SLOT.size
_LONGEST_NAME = _NAME_BYTES - 1
"""One byte stays empty: a name without one is of an earlier version, which cut longer ids there."""
_HASHED = "sha256:"
NO_HASH = bytes(32)
TAKEN_AWAY = (1 << 63) - 1
"""Stands for the number of events of a session that was taken away on purpose."""
_LATER_LIFE = 1 << 63
_LIFE_BITS = 33
"""How many bits there are for the number of an event in a later life."""
_ENDED = (1 << _LIFE_BITS) - 1
"""Stands for TAKEN_AWAY there."""
_LEAVING = 1 << 62
"""In a number: the session was about to be taken away."""


class Anchor(NamedTuple):
    """How far a session had come."""

    sequence: int
    hash: bytes
    life: int = 0
    """How often it had been restored before."""
    leaving: bool = False
    """It was about to be taken away: nobody misses it, and nobody wonders that it is there."""


def is_missed(anchor: Anchor) -> bool:
    """Whether somebody misses the session that this tells of, where it is not."""
    return 0 < anchor.sequence < TAKEN_AWAY and not anchor.leaving


def anchor_name(session_id: str) -> str:
    """Under which name the anchor of a session is kept: its id, or what stands for a long one."""
    told = session_id.encode(errors="surrogatepass")
    is_whole = len(told) <= _LONGEST_NAME and not told.endswith(b"\0")
    is_text = told == session_id.encode(errors="replace")
    if is_whole and is_text and not session_id.startswith(_HASHED):
        return session_id
    return _HASHED + sha256(told).hexdigest()


def packed(name: str, anchor: Anchor) -> bytes:
    """An anchor, ready to be put in its place."""
    number = anchor.sequence
    if anchor.life:  # the larger number always counts
        number = _LATER_LIFE | anchor.life << _LIFE_BITS | min(anchor.sequence, _ENDED)
    if anchor.leaving:
        number |= _LEAVING
    rest = _SESSION.pack(name.encode(), number, anchor.hash)
    return zlib.crc32(rest).to_bytes(4, "big") + rest


def _anchor(number: int, found: bytes) -> Anchor:
    if number == TAKEN_AWAY:
        return Anchor(number, found)
    leaving, number = bool(number & _LEAVING), number & ~_LEAVING
    if number < _LATER_LIFE:
        return Anchor(number, found, leaving=leaving)
    life, sequence = divmod(number - _LATER_LIFE, 1 << _LIFE_BITS)
    sequence = TAKEN_AWAY if sequence == _ENDED else sequence
    return Anchor(sequence, found, life, leaving)


def slots(content: bytes) -> Iterator[tuple[str, Anchor]]:
    """All anchors of a file; places that are empty or half written are passed over."""
    for place in range(0, len(content) - SLOT_BYTES + 1, SLOT_BYTES):
        checksum, name, number, found = _SLOT.unpack_from(content, place)
        told = name.rstrip(b"\0")
        if not number or len(told) > _LONGEST_NAME:
            continue
        if zlib.crc32(content[place + 4 : place + SLOT_BYTES]) == checksum:
            yield told.decode(errors="replace"), _anchor(number, found)
