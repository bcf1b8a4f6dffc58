"""Lines of an open file: counted forwards in blocks, and found backwards from its end.

A last piece without a newline is a line. No more of a file is in memory than one block.
"""

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.contract.errors import Cancelled
from holdfast.contract.files import OpenFile
from holdfast.contract.runtime import AbortSignal

BLOCK = 1024 * 1024
BLOCK_BACKWARDS = 64 * 1024


class Counted(NamedTuple):
    """What lies in a range of bytes."""

    newlines: int
    ends_open: bool
    """Whether something follows the last newline."""

    @property
    def lines(self) -> int:
        """As a reader sees them."""
        return self.newlines + self.ends_open


def lines_in(content: bytes) -> Counted:
    """Of a content that is in memory."""
    return Counted(content.count(b"\n"), bool(content) and not content.endswith(b"\n"))


def counted(file: OpenFile, start: int, end: int, abort: AbortSignal) -> Counted:
    """Count what lies between two positions."""
    newlines, last = 0, b""
    for _, block in blocks(file, start, end, abort):
        newlines += block.count(b"\n")
        last = block[-1:]
    return Counted(newlines, last not in (b"", b"\n"))


def blocks(file: OpenFile, start: int, end: int, abort: AbortSignal) -> Iterator[tuple[int, bytes]]:
    """A part of a file, block by block, each with its position; Cancelled when it is to stop."""
    while start < end:
        if abort.aborted:
            raise Cancelled("Reading was stopped.")
        block = file.read(start, min(BLOCK, end - start))
        if not block:
            return
        yield start, block
        start += len(block)


def start_of_line(file: OpenFile, number: int, abort: AbortSignal) -> tuple[int, int]:
    """Where a line begins, numbered from 1, and how many newlines come before.

    Past the end it is the file's end.
    """
    wanted, before = number - 1, 0
    if not wanted:
        return 0, 0
    for at, block in blocks(file, 0, file.byte_count, abort):
        found = block.count(b"\n")
        if before + found >= wanted:
            return at + nth_newline(block, wanted - before) + 1, wanted
        before += found
    return file.byte_count, before


def nth_newline(block: bytes, number: int) -> int:
    """The position of a newline, the first being 1; there has to be one."""
    at = -1
    for _ in range(number):
        at = block.index(b"\n", at + 1)
    return at


def start_of_tail(file: OpenFile, lines: int, most: int) -> int:
    """Where the last lines begin; no further back than ``most`` bytes before the end."""
    end = at = file.byte_count
    last = file.read(max(end - 1, 0), 1)
    missing = lines + (last == b"\n")
    while at > 0 and end - at <= most:
        size = min(BLOCK_BACKWARDS, at)
        block = file.read(at - size, size)
        place = len(block)
        while (place := block.rfind(b"\n", 0, place)) >= 0:
            missing -= 1
            if not missing:
                return at - size + place + 1
        at -= size
    return at
