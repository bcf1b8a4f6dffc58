"""Patches as models write them, from `*** Begin Patch` to `*** End Patch`: without line numbers."""

import re
from collections.abc import Iterator
from typing import NoReturn

from holdfast.contract.late_pattern import late_pattern
from holdfast.tools.patch.model import FilePatch, Hunk, SoughtHunk, bad_patch

_BEGIN, _END = b"*** Begin Patch", b"*** End Patch"
_FILE = late_pattern(rb"\*\*\* (Add|Delete|Update) File: *(.+)")
_MOVE = late_pattern(rb"\*\*\* Move to: *(.+)")
_END_OF_FILE = b"*** End of File"
_SHOWN = 60


def has_sections(lines: list[bytes]) -> bool:
    """Whether it is such a patch."""
    return any(line.strip() == _BEGIN for line in lines)


def read_sections(lines: list[bytes]) -> Iterator[FilePatch]:
    """Every file of it."""
    bare = [line.rstrip(b"\r\n") for line in lines]
    first = next(at for at, line in enumerate(bare) if line.strip() == _BEGIN)
    last = next((at for at in range(len(bare) - 1, first, -1) if bare[at].strip() == _END), None)
    if last is None:
        raise bad_patch(len(bare), "it ends without *** End Patch, and may have been cut short.")
    at = first + 1
    while at < last:
        if not bare[at].strip():
            at += 1
            continue
        header = _file(bare[at])
        if header is None:
            raise bad_patch(
                at + 1,
                f"{_shown(bare[at])}: a file begins with *** Add File: PATH, *** Update File: PATH"
                " or *** Delete File: PATH.",
            )
        end = next((to for to in range(at + 1, last) if _file(bare[to])), last)
        yield _section(header[1], _path(header[2]), bare, at, end)
        at = end


def _file(line: bytes) -> re.Match[bytes] | None:
    return _FILE.fullmatch(line.rstrip()) if line.startswith(b"*** ") else None


def _path(written: bytes) -> str:
    return written.strip().decode("utf-8", "surrogateescape")


def _section(word: bytes, path: str, lines: list[bytes], at: int, end: int) -> FilePatch:
    body = lines[at + 1 : end]
    if path.endswith("/"):
        raise bad_patch(at + 1, f"{_shown(path.encode('utf-8', 'replace'))} is no path of a file.")
    if word == b"Delete":
        if any(line.strip() for line in body):
            raise bad_patch(at + 2, "nothing comes behind *** Delete File.")
        return FilePatch(kind="delete", at=at + 1, old=path, whole=True)
    if word == b"Add":
        return FilePatch(kind="add", at=at + 1, new=path, content=_added(body, at))
    moved = _MOVE.fullmatch(body[0].rstrip()) if body else None
    hunks = tuple(_Chunks(lines, at + (2 if moved else 1), end).all())
    if not hunks and moved is None:
        raise bad_patch(at + 1, f"nothing is said of what is to change in {path}.")
    if moved is not None and _path(moved[1]) != path:
        return FilePatch(kind="rename", at=at + 1, old=path, new=_path(moved[1]), sought=hunks)
    return FilePatch(kind="change", at=at + 1, old=path, new=path, sought=hunks)


def _added(body: list[bytes], at: int) -> bytes:
    end = len(body)
    while end and not body[end - 1].strip():
        end -= 1
    lines = body[:end]
    for place, line in enumerate(lines):
        if not line.startswith(b"+"):
            raise bad_patch(
                at + 2 + place, f"{_shown(line)}: each line of a new file begins with +."
            )
    return b"".join(line[1:] + b"\n" for line in lines)


class _Chunks:
    """The hunks of one file."""

    def __init__(self, lines: list[bytes], at: int, end: int) -> None:
        self._lines = lines
        self._at = at
        self._end = end
        while self._end > at and not lines[self._end - 1]:
            self._end -= 1

    def all(self) -> Iterator[SoughtHunk]:
        """One after the other."""
        number = 0
        while self._at < self._end:
            number += 1
            begun = self._at
            below = self._contexts()
            yield self._hunk(number, begun, below)

    def _contexts(self) -> tuple[bytes, ...]:
        found: list[bytes] = []
        while self._at < self._end and self._lines[self._at].startswith(b"@@"):
            said = self._lines[self._at][2:].strip().removesuffix(b"@@").strip()
            if said and not re.match(rb"-\d+(,\d+)? \+\d+", said):
                found.append(said)
            self._at += 1
        return tuple(found)

    def _hunk(self, number: int, begun: int, below: tuple[bytes, ...]) -> SoughtHunk:
        old: list[bytes] = []
        new: list[bytes] = []
        kept: list[int] = []
        at_end = False
        while self._at < self._end and not self._lines[self._at].startswith(b"@@"):
            line = self._lines[self._at]
            self._at += 1
            if line.rstrip() == _END_OF_FILE:
                at_end = True
                break
            sign, rest = line[:1] or b" ", line[1:]
            if sign not in (b" ", b"+", b"-"):
                self._refuse(line)
            if sign != b"-":
                kept.append(len(old) if sign == b" " else -1)
                new.append(rest)
            if sign != b"+":
                old.append(rest)
        if old == new:
            raise bad_patch(begun + 1, f"hunk {number} changes nothing.")
        header = self._lines[begun].decode("utf-8", "replace")[:_SHOWN]
        hunk = Hunk(number, begun + 1, header, tuple(old), tuple(new))
        return SoughtHunk(hunk, below, at_end, tuple(kept))

    def _refuse(self, line: bytes) -> NoReturn:
        raise bad_patch(self._at, f"{_shown(line)}: a line of a hunk begins with a blank, - or +.")


def _shown(line: bytes) -> str:
    return repr(line.decode("utf-8", "replace")[:_SHOWN])
