"""Markdown cut into its blocks while it comes: what is whole can be shown for good.

Lines are looked at, and no more: where one block ends and the next one begins. How a block looks is
not known here.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

_FENCE = re.compile(r" *(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
_RULE = re.compile(r" {0,3}([-*_])( *\1){2,} *$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+) *$")
_ITEM = re.compile(r" {0,1}([-*+]|[0-9]{1,9}[.)])(\s|$)")
_INTERRUPTS = re.compile(r" {0,1}([-*+]|1[.)])\s")
"""Items that may stand directly below a paragraph."""

_Kind = Literal["text", "item", "fence"]


class Block(NamedTuple):
    """A block that is whole."""

    text: str
    list_mark: str = ""
    """`-` or `1` for one item of a list: the next one of the same belongs directly below it."""


class Blocks:
    """One text, in pieces."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        """The whole lines of the block that is open."""
        self._part = ""
        self._kind: _Kind | None = None
        self._fence: str | None = None
        """How the code under way ends."""
        self._gap = False
        """The last line was blank, and the block may go on behind it."""

    @property
    def open(self) -> str:
        """What has no end yet."""
        return "\n".join([*self._lines, self._part])

    def feed(self, piece: str) -> Iterator[Block]:
        """One more piece; what is whole by it."""
        *lines, self._part = (self._part + piece).split("\n")
        for line in lines:
            yield from self._taken(line)

    def rest(self) -> Iterator[Block]:
        """Nothing more comes: what was open is whole."""
        part, self._part = self._part, ""
        if part:
            yield from self._taken(part)
        yield from self._whole()

    def _taken(self, line: str) -> Iterator[Block]:
        if self._fence is not None:
            self._lines.append(line)
            if _is_end(line, self._fence):
                self._fence = None
                if self._kind == "fence":
                    yield from self._whole()
        elif not line.strip():
            if self._kind == "item":
                self._lines.append(line)
                self._gap = True
            else:
                yield from self._whole()
        else:
            yield from self._written(line)

    def _written(self, line: str) -> Iterator[Block]:
        """A line outside of code, and not blank."""
        within = self._kind == "item" and line.startswith(("  ", "\t"))
        if self._gap and not within:
            yield from self._whole()
        self._gap = False
        if within:
            self._lines.append(line)
            self._fence = _fence_of(line)
            return
        if self._kind == "text" and _UNDERLINE.match(line):
            self._lines.append(line)
            yield from self._whole()
            return
        kind = self._kind_of(line)
        if kind is not None:
            yield from self._whole()
        self._lines.append(line)
        self._kind = kind or self._kind or "text"
        self._fence = _fence_of(line)
        if self._fence is None and (_RULE.match(line) or _HEADING.match(line)):
            yield from self._whole()

    def _kind_of(self, line: str) -> _Kind | None:
        """What begins with a line; None: what was there goes on."""
        if _fence_of(line) is not None:
            return "fence"
        if _RULE.match(line) or _HEADING.match(line):
            return "text"
        item = _INTERRUPTS if self._kind == "text" else _ITEM
        return "item" if item.match(line) else None

    def _whole(self) -> Iterator[Block]:
        lines, self._lines = self._lines, []
        kind, self._kind = self._kind, None
        self._gap, self._fence = False, None
        text = "\n".join(lines).rstrip()
        if text:
            mark = "1" if text[:2].strip()[:1].isdigit() else "-"
            yield Block(text, mark if kind == "item" else "")


def _fence_of(line: str) -> str | None:
    found = _FENCE.match(line)
    return None if found is None else found.group(1)


def _is_end(line: str, fence: str) -> bool:
    told = line.strip()
    return told.startswith(fence) and not told.strip(fence[0])
