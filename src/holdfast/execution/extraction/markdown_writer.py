"""Text with the marks of Markdown, written while a page is read. Pure, and never without end.

Which tag means what is not known here. Whatever is begun need not be ended, or may be ended twice:
that changes nothing but the look.
"""

import re

MOST_CHARACTERS = 8_000_000
_MOST_PIECES = MOST_CHARACTERS // 4
"""Bounds pages of nothing but empty lines."""
_DEEPEST = 200
_DEEPEST_QUOTE = 5
SPACE = re.compile(r"[ \t\r\n\f\v\u200b]+")


class MarkdownWriter:
    """Takes words and where blocks begin and end; has lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._size = 0
        self._line: list[str] = []
        self._prefix = ""
        self._lists: list[int | None] = []
        self._quotes = 0
        self._code = 0
        self._links: list[tuple[int, str]] = []
        self._cells = 0

    def put(self, text: str) -> None:
        """Words of the line, as they are."""
        if text and self._size < MOST_CHARACTERS:
            self._size += len(text)
            self._line.append(text)

    def data(self, text: str) -> None:
        """Words: line feeds count in code alone."""
        if not self._code:
            self.put(SPACE.sub(" ", text))
            return
        first, *others = text.replace("\r\n", "\n").split("\n")
        self.put(first)
        for line in others:
            self.end_line(keep_empty=True)
            self.put(line)

    def mark(self, sign: str) -> None:
        """What begins or ends a stress; in code it would be read as code."""
        if not self._code:
            self.put(sign)

    def end_line(self, *, keep_empty: bool = False) -> None:
        """The next words stand on another line, if there were any."""
        joined = "".join(self._line)
        line = joined.rstrip() if self._code else _tidied(joined)
        self._line, self._links = [], []
        if line or keep_empty:
            quoted = "> " * min(self._quotes, _DEEPEST_QUOTE)
            self._write(f"{quoted}{self._prefix}{line}\n")
            self._prefix = ""

    def paragraph(self, prefix: str = "") -> None:
        """The next words are a paragraph, or a heading."""
        self.end_line()
        if self._prefix.endswith(("- ", ". ")):
            return  # the first paragraph of an item stands behind its mark
        self._prefix = prefix
        self._write("\n")

    def begin_list(self, number: int | None) -> None:
        """Items follow, with a number or a dash."""
        (self.end_line if self._lists else self.paragraph)()
        if len(self._lists) < _DEEPEST:
            self._lists.append(number)

    def end_list(self) -> None:
        """The innermost list is over."""
        if self._lists:
            self._lists.pop()
        (self.end_line if self._lists else self.paragraph)()

    def item(self) -> None:
        """An item of the innermost list."""
        self.end_line()
        depth = max(0, len(self._lists) - 1)
        number = self._lists[-1] if self._lists else None
        if self._lists and number is not None:
            self._lists[-1] = number + 1
        self._prefix = "  " * depth + ("- " if number is None else f"{number}. ")

    def code(self, *, begins: bool) -> None:
        """Lines of code begin, or end."""
        if begins:
            self.paragraph()
            self._write("```\n")
            self._code += 1
        elif self._code:
            self.end_line()
            self._code -= 1
            self._write("```\n\n")

    def quote(self, *, begins: bool) -> None:
        """A quotation begins, or ends."""
        self.paragraph()
        self._quotes = min(self._quotes + 1, _DEEPEST) if begins else max(0, self._quotes - 1)

    def row(self, *, cell: bool) -> None:
        """A row of a table, or a cell of it."""
        if not cell:
            self.end_line()
            self._cells = 0
            return
        self.put(" | " if self._cells else "")
        self._cells += 1

    def begin_link(self, target: str) -> None:
        """The next words lead there; to nowhere if that is empty."""
        self._links = [*self._links[-_DEEPEST:], (len(self._line), target)]

    def end_link(self) -> None:
        """The words of the innermost link are over."""
        began, target = self._links.pop() if self._links else (0, "")
        if not target or self._code:
            return
        words = "".join(self._line[began:])
        if not words.strip():
            return
        lead, trail = words[: len(words) - len(words.lstrip())], words[len(words.rstrip()) :]
        self._line[began:] = [f"{lead}[{words.strip()}]({target}){trail}"]

    def _write(self, text: str) -> None:
        if len(self.lines) < _MOST_PIECES:
            self.lines.append(text)


def _tidied(line: str) -> str:
    line = SPACE.sub(" ", line).strip()
    for nothing_marked in ("****", "``"):
        line = line.replace(nothing_marked, "")
    return "" if not line.strip("*`| ") else line
