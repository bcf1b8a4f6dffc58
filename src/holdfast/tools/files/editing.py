"""Exact replacement in a text: what is found, what is refused, and what is said of a near miss.

Pure: texts in, texts out. Line feeds stand for whatever line ending a file has.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from holdfast.contract.errors import InvalidArguments
from holdfast.contract.late_pattern import late_pattern

_NUMBERED = late_pattern(r"[ \t]*+[0-9]++(?:[ \t]*+[:|→] ?|\t)")
_WORD = late_pattern(r"\S+")
_LINES_NAMED = 5
_SHOWN = 400
_MOST_COMPARED = 10_000
"""Lines of a file that are compared one by one to find a near miss."""


class Replacement(NamedTuple):
    """What is to be replaced by what."""

    old: str
    new: str
    everywhere: bool = False
    ignore_whitespace: bool = False
    """Look again for the same with other whitespace, where nothing is found."""


class Replaced(NamedTuple):
    """A changed text."""

    text: str
    occurrences: int


def replaced(text: str, wanted: Replacement) -> Replaced:
    """The text with its replacements; InvalidArguments where it is not clear what is meant."""
    if "\r\n" in wanted.old and "\r" not in text:
        # The file's endings, as a model has read them; here line feeds stand for them.
        old, new = (part.replace("\r\n", "\n") for part in (wanted.old, wanted.new))
        wanted = wanted._replace(old=old, new=new)
    if wanted.old == wanted.new:
        raise InvalidArguments(
            "old_string and new_string are the same: there is nothing to change.",
            field="new_string",
            extras={"reason": "no_op"},
        )
    count = text.count(wanted.old)
    if count:
        _refuse_several(count, wanted, _starts(text, wanted.old), text)
        return Replaced(text.replace(wanted.old, wanted.new), count)
    if wanted.ignore_whitespace and (found := list(alike(text, wanted.old))):
        _refuse_several(len(found), wanted, iter([start for start, _ in found]), text)
        return Replaced(_put(text, found, _fitted(wanted)), len(found))
    raise InvalidArguments(
        f"old_string is not in the file, which stays as it was. {near_miss(text, wanted.old)}",
        field="old_string",
        expected="text that stands in the file, letter by letter",
        extras={"reason": "no_match"},
    )


def _refuse_several(count: int, wanted: Replacement, starts: Iterator[int], text: str) -> None:
    if count == 1 or wanted.everywhere:
        return
    first = [line_of(text, at) for at, _ in zip(starts, range(_LINES_NAMED), strict=False)]
    lines = ", ".join(map(str, first)) + (", ..." if count > len(first) else "")
    raise InvalidArguments(
        f"old_string occurs {count} times (at lines {lines}), so it is not clear which one is"
        " meant; the file stays as it was. Give more of the lines around it, or set replace_all.",
        field="old_string",
        expected="text that stands in the file once, or replace_all: true",
        extras={"reason": "ambiguous", "occurrences": count},
    )


def line_of(text: str, at: int) -> int:
    """The number of the line a position is in."""
    return text.count("\n", 0, at) + 1


def _starts(text: str, old: str) -> Iterator[int]:
    at = -len(old)
    while (at := text.find(old, at + len(old))) >= 0:
        yield at


def alike(text: str, old: str) -> Iterator[tuple[int, int]]:
    """Where the same stands with other runs of whitespace, from left to right.

    Each run becomes one blank, in which a plain search is linear; an expression for it is not.
    """
    words = " ".join(old.split())
    if not words:
        return
    spans = [found.span() for found in _WORD.finditer(text)]
    places = [0, *accumulate(end - start + 1 for start, end in spans)]
    plain = " ".join(text[start:end] for start, end in spans)
    at = -len(words)
    while (at := plain.find(words, at + len(words))) >= 0:
        yield _origin(at, places, spans), _origin(at + len(words) - 1, places, spans) + 1


def _origin(at: int, places: list[int], spans: list[tuple[int, int]]) -> int:
    """Where a character of the words stands in the text they are from."""
    word = bisect_right(places, at) - 1
    return spans[word][0] + at - places[word]


def _fitted(wanted: Replacement) -> str:
    """The new text without the whitespace around the old one, which is not matched either."""
    old, new = wanted.old, wanted.new
    before, after = len(old) - len(old.lstrip()), len(old) - len(old.rstrip())
    if before and new.startswith(old[:before]):
        new = new[before:]
    if after and new.endswith(old[-after:]):
        new = new[:-after]
    return new


def _put(text: str, spans: list[tuple[int, int]], new: str) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces += (text[at:start], new)
        at = end
    return "".join((*pieces, text[at:]))


def near_miss(text: str, old: str) -> str:
    """What might have been meant."""
    bare = "\n".join(map(_without_number, old.split("\n")))
    if bare != old and bare in text:
        return "Its lines begin with line numbers, which are not in the file: leave them out."
    found = next(alike(text, old), None)
    if found is not None:
        there = text[slice(*found)]
        shown = there if len(there) <= _SHOWN else there[:_SHOWN] + "..."
        return (
            f"The same stands at line {line_of(text, found[0])} with other whitespace; written"
            f" exactly, it begins: {shown!r}"
        )
    return _nearest_line(text, old)


def _without_number(line: str) -> str:
    number = _NUMBERED.match(line)
    return line if number is None else line[number.end() :]


def _nearest_line(text: str, old: str) -> str:
    longest = max((line.strip() for line in old.split("\n")), key=len)
    if longest:
        for number, line in enumerate(text.split("\n", _MOST_COMPARED)[:_MOST_COMPARED], 1):
            if line.strip() == longest:
                return (
                    f"Of its lines, {longest[:_SHOWN]!r} stands at line {number}, but what is"
                    " around it differs: read those lines again."
                )
    return "No line of it was found: read the file again, and copy the text from it."
