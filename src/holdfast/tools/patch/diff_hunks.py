"""The hunks of a unified diff, as git reads them: what their headers count has to be there."""

import msgspec

from holdfast.contract.late_pattern import late_pattern
from holdfast.tools.patch.model import Hunk, NumberedHunk, bad_patch

_HEADER = late_pattern(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_NO_NEWLINE_LENGTH = 12
_SHOWN = 60


class _Counts(msgspec.Struct, frozen=True):
    old_start: int
    old: int
    new_start: int
    new: int


def is_hunk(line: bytes) -> bool:
    """Whether a hunk may begin here."""
    return line.startswith(b"@@ -")


def read_hunks(lines: list[bytes], at: int) -> tuple[tuple[NumberedHunk, ...], int]:
    """The hunks from a line on, and the line behind the last of them."""
    found: list[NumberedHunk] = []
    while at < len(lines) and is_hunk(lines[at]):
        hunk, at = _read_hunk(lines, at, len(found) + 1)
        found.append(hunk)
    return tuple(found), at


def _read_hunk(lines: list[bytes], at: int, number: int) -> tuple[NumberedHunk, int]:
    header = _HEADER.match(lines[at])
    if header is None:
        raise bad_patch(at + 1, "a hunk begins with @@ -LINE,COUNT +LINE,COUNT @@.")
    one, old, two, new = (1 if part is None else int(part) for part in header.groups())
    body = _Body(_Counts(one, old, two, new), at + 1)
    place = at + 1
    while not body.complete:
        if place >= len(lines):
            raise bad_patch(at + 1, f"the patch ends within hunk {number}{body.missing()}.")
        body.take(lines[place], place + 1)
        place += 1
    if place < len(lines) and _says_no_newline(lines[place]):
        body.take_back_newline(place + 1)
        place += 1
    if not body.changes:
        raise bad_patch(at + 1, f"hunk {number} changes nothing.")
    shown = header[0].decode()
    hunk = Hunk(number, at + 1, shown, tuple(body.old), tuple(body.new))
    return NumberedHunk(hunk, one, two, body.trailing), place


def _says_no_newline(line: bytes) -> bool:
    return line.startswith(b"\\ ") and len(line) >= _NO_NEWLINE_LENGTH


class _Body:
    """The lines of a hunk, as they come."""

    def __init__(self, counts: _Counts, at: int) -> None:
        self._counts = counts
        self._at = at
        self._last = b""
        self.old: list[bytes] = []
        self.new: list[bytes] = []
        self.trailing = 0
        self.changes = False

    @property
    def complete(self) -> bool:
        return (len(self.old), len(self.new)) == (self._counts.old, self._counts.new)

    def missing(self) -> str:
        return (
            f": its header counts {self._counts.old} old and {self._counts.new} new lines, and"
            f" {len(self.old)} and {len(self.new)} are there"
        )

    def take(self, line: bytes, at: int) -> None:
        sign, rest = line[:1], line[1:]
        if sign == b"\\":
            if not _says_no_newline(line):
                raise bad_patch(at, "after a backslash comes `No newline at end of file`.")
            self.take_back_newline(at)
            return
        if sign == b"\n":  # some programs leave out the blank of an empty line
            sign, rest = b" ", b"\n"
        if sign not in (b" ", b"-", b"+"):
            raise bad_patch(
                at, f"{_shown(line)} is no line of a hunk (blank, - or +){self.missing()}."
            )
        if sign != b"+":
            self.old.append(rest)
        if sign != b"-":
            self.new.append(rest)
        if len(self.old) > self._counts.old or len(self.new) > self._counts.new:
            raise bad_patch(
                self._at, f"a hunk has more lines than its header counts{self.missing()}."
            )
        self.trailing = self.trailing + 1 if sign == b" " else 0
        self.changes = self.changes or sign != b" "
        self._last = sign

    def take_back_newline(self, at: int) -> None:
        """The line before ends its file, without a newline."""
        if not self._last:
            raise bad_patch(at, "no line comes before `No newline at end of file`.")
        for lines, signs in ((self.old, b" -"), (self.new, b" +")):
            if self._last in signs and lines:
                lines[-1] = lines[-1].removesuffix(b"\n")


def _shown(line: bytes) -> str:
    return repr(line.decode("utf-8", "replace").rstrip("\n")[:_SHOWN])
