"""The list of what a carried workspace holds: how it is written, and which lists are believed.

Whoever reads one may have it from anywhere: only paths that stay below their root, in folders that
are on the list themselves, are taken. No file is touched here.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import msgspec

from holdfast.contract.carried import PIECE_BYTES, piece_name

LONGEST_PATH = 3500
"""There has to be room before it for the folder that all of it is in."""
_LONGEST_TARGET = 4095
_FORM = 1
_NAME_LENGTH = 64


class UnusableList(ValueError):
    """It is damaged, or says what no list of ours says."""


class Entry(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A file, a folder or a link."""

    path: bytes
    """From the root, as the machine writes it: names need not be text."""
    kind: Literal["file", "folder", "link"]
    mode: int = 0
    """The permission bits alone; of links, none."""
    size: int = 0
    mtime_ns: int = 0
    """Of a file."""
    pieces: tuple[str, ...] = ()
    """The content of a file, in order."""
    target: bytes = b""
    """Of a link."""


class _List(msgspec.Struct, frozen=True, array_like=True):
    form: int
    entries: tuple[Entry, ...]


class Wanted(NamedTuple):
    """One piece of one file."""

    entry: Entry
    number: int

    @property
    def name(self) -> str:
        """What it is known by."""
        return self.entry.pieces[self.number]

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return min(PIECE_BYTES, self.entry.size - self.number * PIECE_BYTES)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_List).decode


def written(entries: Iterable[Entry]) -> bytes:
    """A list: the same entries are the same bytes."""
    return _encode(_List(_FORM, tuple(sorted(entries, key=lambda one: one.path))))


def entries_of(content: bytes, name: str) -> tuple[Entry, ...]:
    """What is on the list of this name, folders before what is in them; UnusableList."""
    if piece_name(content) != name:
        raise UnusableList("the list of files is damaged")
    try:
        told = _decode(content)
    except msgspec.MsgspecError as problem:
        raise UnusableList(f"the list of files cannot be read ({problem})") from None
    if told.form != _FORM:
        raise UnusableList(f"the list of files has form {told.form}; update holdfast")
    folders = {b""}
    seen: set[bytes] = {b""}
    for entry in told.entries:
        if entry.path in seen or entry.path.rpartition(b"/")[0] not in folders:
            raise UnusableList(f"{entry.path!r} is listed twice, or in no folder")
        _check(entry)
        seen.add(entry.path)
        if entry.kind == "folder":
            folders.add(entry.path)
    return told.entries


def wanted_of(entries: Iterable[Entry]) -> Iterator[Wanted]:
    """The pieces of all files, in order."""
    for entry in entries:
        for number in range(len(entry.pieces)):
            yield Wanted(entry, number)


def pieces_of(entries: Iterable[Entry]) -> frozenset[str]:
    """The names of all pieces."""
    return frozenset(name for entry in entries for name in entry.pieces)


def _check(entry: Entry) -> None:
    name = entry.path.rpartition(b"/")[2]
    plain = name not in {b"", b".", b".."} and b"\0" not in entry.path + entry.target
    whole = len(entry.pieces) == -(-entry.size // PIECE_BYTES) and entry.size >= 0
    names = all(len(one) == _NAME_LENGTH and one.isalnum() for one in entry.pieces)
    bounded = len(entry.path) <= LONGEST_PATH and len(entry.target) <= _LONGEST_TARGET
    linked = (entry.kind == "link") == bool(entry.target)
    filled = entry.kind == "file" or not entry.size
    ours = 0 <= entry.mode <= 0o777
    if not all((plain, whole, names, bounded, linked, filled, ours)):
        raise UnusableList(f"{entry.path!r} is nothing that a list of ours holds")
