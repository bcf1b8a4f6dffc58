"""Marked sections of a text that several write: each is put in place anew, all else stays as it is.

A section begins and ends with a line of its own. Where the marks are damaged, their lines are text
like any other, and the section stands behind all of it. What a section says is not known here.
"""

import re
from functools import cache
from typing import Literal, NamedTuple

SectionName = Literal["runtime", "model", "promoted-learnings", "notes"]
RUNTIME: SectionName = "runtime"
"""What holdfast says in a note."""
MODEL: SectionName = "model"
"""What the model says in a note."""
LEARNINGS: SectionName = "promoted-learnings"
"""In MEMORY.md, what was learned."""
NOTES: SectionName = "notes"
"""In MEMORY.md, what the model wrote for all sessions of its agent."""

_MARK = "<!-- holdfast:"
_NO_MARK = "<!-- (holdfast:"
_FIRST, _LAST = "begin", "end"
_ANY_MARK = re.compile(
    rf"^{re.escape(_MARK)}[a-z-]+:(?:{_FIRST}|{_LAST}) -->[ \t]*\r?(?:\n|\Z)", re.MULTILINE
)


class _Span(NamedTuple):
    start: int
    end: int


def section(name: SectionName, text: str) -> str:
    """A section as it is written. Nothing in it can look like a mark."""
    said = text.replace(_MARK, _NO_MARK).strip("\n")
    inside = f"{said}\n" if said else ""
    return f"{_mark(name, _FIRST)}\n{inside}{_mark(name, _LAST)}"


def with_section(file: bytes, name: SectionName, text: str) -> bytes:
    """A file with a section that says this. An empty one that is not there is not put there."""
    found = _found(file, name)
    if found is None and not text.strip():
        return file
    written = section(name, text).encode()
    if found is not None:
        return b"".join((file[: found.start], written, file[found.end :]))
    return b"".join((file, _gap(file), written, b"\n"))


def _gap(file: bytes) -> bytes:
    """What a section of its own is set off with."""
    if not file or file.endswith((b"\n\n", b"\r\n\r\n")):
        return b""
    return b"\n" if file.endswith(b"\n") else b"\n\n"


def _mark(name: SectionName, which: str) -> str:
    return f"{_MARK}{name}:{which} -->"


@cache
def _marks(name: SectionName) -> re.Pattern[bytes]:
    wanted = f"^{re.escape(_MARK)}{name}:({_FIRST}|{_LAST}) -->(?=[ \t]*\r?$)"
    return re.compile(wanted.encode(), re.MULTILINE)


def _found(file: bytes, name: SectionName) -> _Span | None:
    """The first end that a beginning stands before, and the last such beginning."""
    begins: int | None = None
    for mark in _marks(name).finditer(file):
        if mark.group(1) == _FIRST.encode():
            begins = mark.start()
        elif begins is not None:
            return _Span(begins, mark.end())
    return None


def without_marks(text: str) -> str:
    """A text without the lines that begin and end sections."""
    return _ANY_MARK.sub("", text)
