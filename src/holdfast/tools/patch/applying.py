"""Putting hunks into a text, or saying where they nearly fit. Pure: bytes in, bytes out."""

from collections.abc import Iterator, Sequence
from operator import eq

from holdfast.tools.patch.model import (
    FilePatch,
    NumberedHunk,
    SoughtHunk,
    does_not_apply,
    lines_of,
)

_MOST_COMPARED = 200_000
_SHOWN = 80
_PLACES_NAMED = 5


def applied(content: bytes, patch: FilePatch) -> bytes:
    """The text with the hunks of a patch; InvalidArguments where one does not fit."""
    if patch.numbered:
        return _numbered(content, patch.numbered, patch.name)
    return _sought(content, patch.sought, patch.name) if patch.sought else content


def _numbered(content: bytes, hunks: Sequence[NumberedHunk], name: str) -> bytes:
    """As git does it: every line has to fit, and the nearest place that does is taken."""
    lines = lines_of(content)
    done = [False] * len(lines)
    """Lines that an earlier hunk put there: no later one is found in them."""
    for one in hunks:
        at = _place(lines, done, one)
        if at is None:
            raise does_not_apply(name, one.hunk, nearest(lines, one.hunk.old))
        end = at + len(one.hunk.old)
        lines[at:end] = one.hunk.new
        done[at:end] = [True] * len(one.hunk.new)
    return b"".join(lines)


def _place(lines: list[bytes], done: list[bool], one: NumberedHunk) -> int | None:
    size, last = len(one.hunk.old), len(lines) - len(one.hunk.old)
    if last < 0:
        return None
    at_start, at_end = one.old_start <= 1, one.trailing == 0
    if at_start:
        candidates: Iterator[int] = iter((0,))
    elif at_end:
        candidates = iter((last,))
    else:
        candidates = _outwards(max(one.new_start - 1, 0), last)
    wanted = list(one.hunk.old)
    for at in candidates:
        if at_end and at != last:
            continue
        if lines[at : at + size] == wanted and not any(done[at : at + size]):
            return at
    return None


def _outwards(start: int, last: int) -> Iterator[int]:
    """Positions from a start on, later ones first, nearer ones before."""
    if start <= last:
        yield start
    for distance in range(1, max(start, last) + 1):
        if start + distance <= last:
            yield start + distance
        if 0 <= start - distance <= last:
            yield start - distance


def _sought(content: bytes, hunks: Sequence[SoughtHunk], name: str) -> bytes:
    """By their lines alone, one below the other; line ends stay those of the file."""
    lines = lines_of(content)
    end = b"\r\n" if content.count(b"\r\n") * 2 > content.count(b"\n") else b"\n"
    open_end = bool(lines) and not lines[-1].endswith(b"\n")
    if open_end:
        lines[-1] += end
    start = 0
    for one in hunks:
        bare = [line.rstrip(b"\r\n") for line in lines]
        at = _found(bare, one, start, name)
        there = lines[at : at + len(one.hunk.old)]
        lines[at : at + len(there)] = [
            line + end if kept < 0 else there[kept]
            for line, kept in zip(one.hunk.new, one.kept, strict=True)
        ]
        start = at + len(one.hunk.new)
    changed = b"".join(lines)
    return changed.removesuffix(end) if open_end else changed


def _found(bare: list[bytes], one: SoughtHunk, start: int, name: str) -> int:
    for line in one.below:
        at = _line(bare, line, start)
        if at is None:
            said = f"there is no line {line.decode('utf-8', 'replace')[:_SHOWN]!r} to look below."
            raise does_not_apply(name, one.hunk, said)
        start = at + 1
    if not one.hunk.old:
        return start if one.below else len(bare)
    places = _places(bare, one, start)
    if not places:
        raise does_not_apply(name, one.hunk, nearest(bare, one.hunk.old))
    if len(places) > 1 and not one.below and not one.at_end:
        named = ", ".join(str(at + 1) for at in places[:_PLACES_NAMED])
        said = (
            f"its old lines stand at {len(places)} places (lines {named}): give more lines around"
            " them, or name a line above them behind @@."
        )
        raise does_not_apply(name, one.hunk, said)
    return places[0]


def _line(bare: list[bytes], wanted: bytes, start: int) -> int | None:
    """The first such line, exactly, or else but for the blanks around it."""
    for seen in (_exactly, _without_blanks):
        for at in range(start, len(bare)):
            if seen(bare[at]) == seen(wanted):
                return at
    return None


def _places(bare: list[bytes], one: SoughtHunk, start: int) -> list[int]:
    """Where its lines stand, exactly, or else but for blanks at the ends of lines."""
    for seen in (_exactly, _without_last_blanks):
        wanted = [seen(line) for line in one.hunk.old]
        lines = [seen(line) for line in bare]
        last = len(lines) - len(wanted)
        first = max(last, start) if one.at_end else start
        found = [
            at
            for at in range(first, last + 1)
            if lines[at] == wanted[0] and lines[at : at + len(wanted)] == wanted
        ]
        if found:
            return found
    return []


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


def _without_blanks(line: bytes) -> bytes:
    return line.strip()


def _without_last_blanks(line: bytes) -> bytes:
    return line.rstrip()


def _text(line: bytes) -> str:
    return repr(line.decode("utf-8", "replace")[:_SHOWN])
