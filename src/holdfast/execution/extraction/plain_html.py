"""A page as plain text with the marks of Markdown, by the standard library alone.

Pure, and never more than so much text. Nothing of a page is left out but what nobody reads:
scripts, styles, lists of forms and what is marked as hidden. Which part of it is its own content is
known here only as far as the page says so.
"""

import re
from collections.abc import Iterable
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urljoin

MOST_CHARACTERS = 8_000_000
_DEEPEST = 200
_UNSEEN = frozenset(
    {"script", "style", "noscript", "template", "svg", "math", "title", "iframe", "object",
     "select", "datalist", "canvas", "audio", "video", "map"}
)  # fmt: skip
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "figure",
     "figcaption", "address", "form", "fieldset", "details", "summary", "dl", "dt", "dd", "table",
     "thead", "tbody", "tfoot", "caption", "body", "html", "hgroup", "search", "legend"}
)  # fmt: skip
_VOID = frozenset(
    {"br", "hr", "img", "input", "meta", "link", "base", "area", "col", "embed", "source", "track",
     "wbr", "param"}
)  # fmt: skip
_OPEN_ENDED = frozenset(
    {"p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "body", "html", "a",
     "caption", "colgroup"}
)  # fmt: skip
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_MARKS = {"b": "**", "strong": "**", "em": "*", "i": "*", "code": "`", "kbd": "`", "samp": "`"}
_SPACE = re.compile(r"[ \t\r\n\f\v\u200b]+")
_GAPS = re.compile(r"\n{3,}")
_GOOD_PART = 0.25
_WEB = ("http://", "https://", "mailto:")


class Read(NamedTuple):
    """A page that was read."""

    whole: str
    main: str | None
    """What is marked up as the page's own content, if that is a good part of it."""


def read_page(markup: str, url: str = "") -> Read:
    """The text of a page; links are made whole with the URL it is from."""
    reader = _Reader(url)
    reader.feed(markup)
    reader.close()
    return Read(reader.text(), reader.main_text())


def title_of(markup: str) -> str:
    """What a page calls itself; empty when it says nothing."""
    found = re.search(r"<title\b[^>]{0,500}>([^<]{1,2000})", markup[:200_000], re.IGNORECASE)
    if found is None:
        return ""
    reader = _Reader("")
    reader.feed(found[1])
    reader.close()
    return reader.text()[:500]


class _Region:
    """A part of what was written; one that is never ended goes on to the end."""

    def __init__(self, tag: str, began: int) -> None:
        self.tag = tag
        self.began = began
        self.depth = 1
        self.ended: int | None = None


class _Reader(HTMLParser):
    """Writes while it reads. Tags that never end, or end twice, change nothing but the look."""

    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self._base = url
        self._written: list[str] = []
        self._size = 0
        self._line: list[str] = []
        self._prefix = ""
        self._lists: list[int | None] = []
        self._quotes = 0
        self._unseen: str | None = None
        self._nested = 0
        self._pre = 0
        self._links: list[tuple[int, str]] = []
        self._cells = 0
        self._regions: dict[str, list[_Region]] = {"main": [], "article": []}

    def text(self) -> str:
        """All that was read."""
        self._end_line()
        return _joined(self._written)

    def main_text(self) -> str | None:
        """What was read of the page's main part; None when none is marked, or hardly any of it."""
        enough = sum(map(len, self._written)) * _GOOD_PART
        for found in self._regions.values():
            pieces = [piece for one in found for piece in self._written[one.began : one.ended]]
            if pieces and sum(map(len, pieces)) >= enough:
                return _joined(pieces)
        return None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin what the tag begins."""
        if self._unseen is not None and tag != "body":
            self._nested += tag == self._unseen
            return
        self._unseen = None
        given = dict(attrs)
        self._begin_region("main" if given.get("role") == "main" else tag, tag)
        if (tag in _UNSEEN or _is_hidden(tag, given)) and tag not in _VOID:
            self._unseen, self._nested = tag, 1
        elif tag == "base":
            self._base = self._whole(given.get("href") or "") or self._base
        elif tag == "img":
            self._put(_SPACE.sub(" ", given.get("alt") or ""))
        elif tag == "a":
            self._links = self._links[-_DEEPEST:]
            self._links.append((len(self._line), self._whole(given.get("href") or "")))
        elif tag in _MARKS:
            self._mark(_MARKS[tag])
        else:
            self._begin_block(tag, given)

    def _begin_block(self, tag: str, given: dict[str, str | None]) -> None:
        if tag in _HEADINGS:
            self._paragraph()
            self._prefix = _HEADINGS[tag]
        elif tag in ("ul", "ol", "menu"):
            (self._end_line if self._lists else self._paragraph)()
            if len(self._lists) < _DEEPEST:
                self._lists.append(_number(given.get("start")) if tag == "ol" else None)
        elif tag == "li":
            self._item()
        elif tag == "br":
            self._end_line()
        elif tag == "hr":
            self._paragraph()
            self._put("---")
            self._paragraph()
        elif tag in ("pre", "textarea"):
            self._paragraph()
            self._write("```\n")
            self._pre += 1
        elif tag == "blockquote":
            self._paragraph()
            self._quotes = min(self._quotes + 1, _DEEPEST)
        elif tag == "tr":
            self._end_line()
            self._cells = 0
        elif tag in ("td", "th"):
            self._put(" | " if self._cells else "")
            self._cells += 1
        elif tag in _BLOCKS:
            self._paragraph()

    def handle_endtag(self, tag: str) -> None:
        """End what the tag ends."""
        self._end_of(tag)
        for found in self._regions.values():
            if found and found[-1].ended is None and found[-1].tag == tag:
                found[-1].depth -= 1
                if not found[-1].depth:
                    found[-1].ended = len(self._written)

    def _begin_region(self, kind: str, tag: str) -> None:
        for name, found in self._regions.items():
            if found and found[-1].ended is None:
                found[-1].depth += tag == found[-1].tag
            elif name == kind:
                self._end_line()
                found.append(_Region(tag, len(self._written)))

    def _end_of(self, tag: str) -> None:
        if self._unseen is not None:
            self._nested -= tag == self._unseen
            if self._nested <= 0:
                self._unseen = None
        elif tag == "a" and self._links:
            self._end_link(*self._links.pop())
        elif tag in _MARKS:
            self._mark(_MARKS[tag])
        elif tag in ("ul", "ol", "menu"):
            if self._lists:
                self._lists.pop()
            (self._end_line if self._lists else self._paragraph)()
        elif tag in ("pre", "textarea"):
            if self._pre:
                self._end_line()
                self._pre -= 1
                self._write("```\n\n")
        elif tag == "blockquote":
            self._paragraph()
            self._quotes = max(0, self._quotes - 1)
        elif tag in ("li", "tr"):
            self._end_line()
        elif tag in _BLOCKS or tag in _HEADINGS:
            self._paragraph()

    def handle_data(self, data: str) -> None:
        """Text between tags."""
        if self._unseen is not None:
            return
        if not self._pre:
            self._put(_SPACE.sub(" ", data))
            return
        first, *others = data.replace("\r\n", "\n").split("\n")
        self._put(first)
        for line in others:
            self._end_line(keep_empty=True)
            self._put(line)

    def _put(self, text: str) -> None:
        if text and self._size < MOST_CHARACTERS:
            self._size += len(text)
            self._line.append(text)

    def _mark(self, mark: str) -> None:
        if not self._pre:
            self._line.append(mark)

    def _item(self) -> None:
        self._end_line()
        depth = max(0, len(self._lists) - 1)
        number = self._lists[-1] if self._lists else None
        if self._lists and number is not None:
            self._lists[-1] = number + 1
        self._prefix = "  " * depth + ("- " if number is None else f"{number}. ")

    def _end_link(self, began: int, target: str) -> None:
        words = "".join(self._line[began:])
        if not target or self._pre or not words.strip() or began > len(self._line):
            return
        del self._line[began:]
        lead, trail = words[: len(words) - len(words.lstrip())], words[len(words.rstrip()) :]
        self._line.append(f"{lead}[{words.strip()}]({target}){trail}")

    def _end_line(self, *, keep_empty: bool = False) -> None:
        joined = "".join(self._line)
        line = joined.rstrip() if self._pre else _tidied(joined)
        self._line, self._links = [], []
        if line or keep_empty:
            quoted = "> " * min(self._quotes, 5)
            self._write(f"{quoted}{self._prefix}{line}\n")
            self._prefix = ""

    def _paragraph(self) -> None:
        self._end_line()
        if self._prefix.endswith(("- ", ". ")):
            return  # the first paragraph of an item begins behind its mark
        self._prefix = ""
        self._write("\n")

    def _write(self, text: str) -> None:
        # What is put is counted there; this bounds pages of nothing but tags.
        if len(self._written) < MOST_CHARACTERS // 4:
            self._written.append(text)

    def _whole(self, target: str) -> str:
        """A link made whole; empty when it leads nowhere on the web."""
        target = "".join(target.split())
        if not target or target.startswith("#") or len(target) > 2000:
            return ""
        try:
            whole = urljoin(self._base, target) if self._base else target
        except ValueError:
            return ""
        outside = ":" in whole.partition("/")[0] and not whole.lower().startswith(_WEB)
        return "" if outside else whole.replace("(", "%28").replace(")", "%29")


def _joined(written: Iterable[str]) -> str:
    return _GAPS.sub("\n\n", "".join(written)).strip()


def _tidied(line: str) -> str:
    line = _SPACE.sub(" ", line).strip()
    for mark in ("****", "``"):
        line = line.replace(mark, "")
    return "" if not line.strip("*`| ") else line


def _is_hidden(tag: str, given: dict[str, str | None]) -> bool:
    """Of what may go without an end tag the end is not known: it is shown rather than too much."""
    return tag not in _OPEN_ENDED and ("hidden" in given or given.get("aria-hidden") == "true")


def _number(start: str | None) -> int:
    return int(start) if start and start.isascii() and start.isdigit() and len(start) < 7 else 1
