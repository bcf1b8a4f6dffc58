"""Putting hunks into a text, or saying where they nearly fit. Pure: bytes in, bytes out."""

from collections.abc import Sequence
from operator import eq

from holdfast.tools.patch.model import (
    FilePatch,
    NumberedHunk,
    SoughtHunk,
    does_not_apply,
    lines_of,
)
from holdfast.tools.patch.places import Signs, place_near, places_of

_MOST_COMPARED = 200_000
_SHOWN = 80
_PLACES_NAMED = 5
_PLACES_COUNTED = 100


def applied(content: bytes, patch: FilePatch) -> bytes:
    """The text with the hunks of a patch; InvalidArguments where one does not fit."""
    if patch.numbered:
        return _numbered(content, patch.numbered, patch.name)
    return _sought(content, patch.sought, patch.name) if patch.sought else content


def _numbered(content: bytes, hunks: Sequence[NumberedHunk], name: str) -> bytes:
    """As git does it: every line has to fit, and the nearest place that does is taken."""
    lines = lines_of(content)
    signs = Signs([one.hunk for one in hunks])
    text = signs.of(lines)
    for one in hunks:
        at = _place(text, signs.of(one.hunk.old), one)
        if at is None:
            raise does_not_apply(name, one.hunk, nearest(lines, one.hunk.old))
        end = at + len(one.hunk.old)
        lines[at:end] = one.hunk.new
        # Lines that an earlier hunk put there: no later one is found in them.
        text = f"{text[:at]}{signs.unlike(len(one.hunk.new))}{text[end:]}"
    return b"".join(lines)


def _place(text: str, wanted: str, one: NumberedHunk) -> int | None:
    last = len(text) - len(wanted)
    at_start, at_end = one.old_start <= 1, one.trailing == 0
    if last < 0 or (at_start and at_end and last):
        return None
    if at_start or at_end:
        only = 0 if at_start else last
        return only if text.startswith(wanted, only) else None
    return place_near(text, wanted, one.new_start - 1)


def _sought(content: bytes, hunks: Sequence[SoughtHunk], name: str) -> bytes:
    """By their lines alone, one below the other; line ends stay those of the file."""
    lines = lines_of(content)
    end = b"\r\n" if content.count(b"\r\n") * 2 > content.count(b"\n") else b"\n"
    open_end = bool(lines) and not lines[-1].endswith(b"\n")
    if open_end:
        lines[-1] += end
    seeker = _Seeker([line.rstrip(b"\r\n") for line in lines], hunks, name)
    made: list[bytes] = []
    start = 0
    for one in hunks:
        at = seeker.found(one, start)
        there = lines[at : at + len(one.hunk.old)]
        made += lines[start:at]
        made += (
            line + end if kept < 0 else there[kept]
            for line, kept in zip(one.hunk.new, one.kept, strict=True)
        )
        start = at + len(there)
    changed = b"".join((*made, *lines[start:]))
    return changed.removesuffix(end) if open_end else changed


class _Seeker:
    """Where hunks without numbers belong; each is looked for below the one before."""

    def __init__(self, bare: list[bytes], hunks: Sequence[SoughtHunk], name: str) -> None:
        self._bare = bare
        self._name = name
        written = [one.hunk for one in hunks]
        self._wholes = [Signs(written, seen) for seen in (_exactly, bytes.rstrip)]
        above = [line for one in hunks for line in one.below]
        self._singles = [Signs([], seen, above) for seen in (_exactly, bytes.strip)]
        self._texts: dict[Signs, str] = {}

    def found(self, one: SoughtHunk, start: int) -> int:
        """The first of its lines; does_not_apply where that is not clear."""
        for line in one.below:
            at = self._line(line, start)
            if at is None:
                shown = line.decode("utf-8", "replace")[:_SHOWN]
                said = f"there is no line {shown!r} to look below."
                raise does_not_apply(self._name, one.hunk, said)
            start = at + 1
        if not one.hunk.old:
            return start if one.below else len(self._bare)
        places = self._places(one, start)
        if not places:
            raise does_not_apply(self._name, one.hunk, nearest(self._bare, one.hunk.old))
        if len(places) > 1 and not one.below and not one.at_end:
            raise does_not_apply(self._name, one.hunk, _ambiguous(places))
        return places[0]

    def _text(self, signs: "Signs") -> str:
        if signs not in self._texts:
            self._texts[signs] = signs.of(self._bare)
        return self._texts[signs]

    def _line(self, wanted: bytes, start: int) -> int | None:
        """The first such line, exactly, or else but for the blanks around it."""
        for signs in self._singles:
            at = self._text(signs).find(signs.of([wanted]), start)
            if at >= 0:
                return at
        return None

    def _places(self, one: SoughtHunk, start: int) -> Sequence[int]:
        """Where its lines stand, exactly, or else but for blanks at the ends of lines."""
        first = max(len(self._bare) - len(one.hunk.old), start) if one.at_end else start
        for signs in self._wholes:
            found = places_of(self._text(signs), signs.of(one.hunk.old), first, _PLACES_COUNTED)
            if found:
                return found
        return []


def _ambiguous(places: Sequence[int]) -> str:
    named = ", ".join(str(at + 1) for at in places[:_PLACES_NAMED])
    counted = len(places)
    many = f"{counted}" if counted < _PLACES_COUNTED else f"{counted} or more"
    return (
        f"its old lines stand at {many} places (lines {named}): give more lines around"
        " them, or name a line above them behind @@."
    )


def nearest(lines: Sequence[bytes], wanted: Sequence[bytes]) -> str:
    """Where most of the lines stand, and where that place first differs."""
    best, score = 0, 0
    size = len(wanted)
    starts = range(len(lines)) if len(lines) * size <= _MOST_COMPARED else range(0)
    for at in starts:
        same = sum(map(eq, lines[at : at + size], wanted))
        if same > score:
            best, score = at, same
    if not score:
        return "its old lines stand nowhere in the file: read it again."
    there = lines[best : best + size]
    differs = next((n for n in range(size) if n >= len(there) or there[n] != wanted[n]), 0)
    found = _text(there[differs]) if differs < len(there) else "the end of the file"
    return (
        f"its old lines do not stand there. Nearest is line {best + 1}, where {score} of {size}"
        f" agree; line {best + differs + 1} is {found}, and the patch has {_text(wanted[differs])}."
    )


def _exactly(line: bytes) -> bytes:
    return line


def _text(line: bytes) -> str:
    return repr(line.decode("utf-8", "replace")[:_SHOWN])
