"""A page as plain text with the marks of Markdown, by the standard library alone.

Pure. Nothing of a page is left out but what nobody reads: scripts, styles, lists of forms and what
is marked as hidden. Which part of it is its own content is known here only as far as it says so.
"""

import re
from collections.abc import Callable, Iterable
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urljoin

from holdfast.execution.extraction.markdown_writer import SPACE, MarkdownWriter

_Given = dict[str, str | None]
"""The attributes of a tag."""

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
_GAPS = re.compile(r"\n{3,}")
_TITLE = re.compile(r"<title\b[^>]{0,500}>([^<]{1,2000})", re.IGNORECASE)
_TITLE_WITHIN = 200_000
_LONGEST_TITLE = 500
_LONGEST_LINK = 2000
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
    found = _TITLE.search(markup[:_TITLE_WITHIN])
    return "" if found is None else read_page(found[1]).whole[:_LONGEST_TITLE]


class _Region:
    """A part of what was written; one that is never ended goes on to the end."""

    def __init__(self, tag: str, began: int) -> None:
        self.tag = tag
        self.began = began
        self.depth = 1
        self.ended: int | None = None


class _Reader(HTMLParser):
    """Writes while it reads."""

    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self._base = url
        self._out = MarkdownWriter()
        self._unseen: str | None = None
        self._nested = 0
        self._regions: dict[str, list[_Region]] = {"main": [], "article": []}

    def text(self) -> str:
        """All that was read."""
        self._out.end_line()
        return _joined(self._out.lines)

    def main_text(self) -> str | None:
        """What was read of the page's main part; None when none is marked, or hardly any of it."""
        written = self._out.lines
        enough = sum(map(len, written)) * _GOOD_PART
        for found in self._regions.values():
            pieces = [piece for one in found for piece in written[one.began : one.ended]]
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
        if tag not in _VOID and (tag in _UNSEEN or _is_hidden(tag, given)):
            self._unseen, self._nested = tag, 1
        elif tag == "a":
            self._out.begin_link(self._whole(given.get("href") or ""))
        elif tag == "base":
            self._base = self._whole(given.get("href") or "") or self._base
        elif tag in _BEGINS:
            _BEGINS[tag](self._out, given)

    def handle_endtag(self, tag: str) -> None:
        """End what the tag ends."""
        if self._unseen is not None:
            self._nested -= tag == self._unseen
            if self._nested <= 0:
                self._unseen = None
            return
        if tag in _ENDS:
            _ENDS[tag](self._out)
        for found in self._regions.values():
            if found and found[-1].ended is None and found[-1].tag == tag:
                found[-1].depth -= 1
                if not found[-1].depth:
                    found[-1].ended = len(self._out.lines)

    def handle_data(self, data: str) -> None:
        """Text between tags."""
        if self._unseen is None:
            self._out.data(data)

    def parse_marked_section(self, i: int, report: int = 1) -> int:  # noqa: ARG002 - as it is called
        """What begins with `<![` is no text: the library would insist on SGML."""
        return self.rawdata.find(">", i) + 1 or -1

    def _begin_region(self, kind: str, tag: str) -> None:
        for name, found in self._regions.items():
            if found and found[-1].ended is None:
                found[-1].depth += tag == found[-1].tag
            elif name == kind:
                self._out.end_line()
                found.append(_Region(tag, len(self._out.lines)))

    def _whole(self, target: str) -> str:
        """A link made whole; empty when it leads nowhere on the web."""
        target = "".join(target.split())
        if not target or target.startswith("#") or len(target) > _LONGEST_LINK:
            return ""
        try:
            whole = urljoin(self._base, target) if self._base else target
        except ValueError:
            return ""
        outside = ":" in whole.partition("/")[0] and not whole.lower().startswith(_WEB)
        return "" if outside else whole.replace("(", "%28").replace(")", "%29")


def _begin_ordered(out: MarkdownWriter, given: _Given) -> None:
    start = given.get("start") or ""
    out.begin_list(int(start) if re.fullmatch(r"[0-9]{1,6}", start) else 1)


def _draw_line(out: MarkdownWriter, _given: _Given) -> None:
    out.paragraph()
    out.put("---")
    out.paragraph()


def _begin_heading(prefix: str) -> Callable[[MarkdownWriter, _Given], None]:
    return lambda out, _given: out.paragraph(prefix)


def _begin_mark(sign: str) -> Callable[[MarkdownWriter, _Given], None]:
    return lambda out, _given: out.mark(sign)


def _end_mark(sign: str) -> Callable[[MarkdownWriter], None]:
    return lambda out: out.mark(sign)


_BEGINS: dict[str, Callable[[MarkdownWriter, _Given], None]] = {
    **{tag: lambda out, _given: out.paragraph() for tag in _BLOCKS},
    **{tag: _begin_heading(prefix) for tag, prefix in _HEADINGS.items()},
    **{tag: _begin_mark(sign) for tag, sign in _MARKS.items()},
    **{tag: lambda out, _given: out.begin_list(None) for tag in ("ul", "menu")},
    **{tag: lambda out, _given: out.code(begins=True) for tag in ("pre", "textarea")},
    **{tag: lambda out, _given: out.row(cell=True) for tag in ("td", "th")},
    "ol": _begin_ordered,
    "li": lambda out, _given: out.item(),
    "br": lambda out, _given: out.end_line(),
    "hr": _draw_line,
    "img": lambda out, given: out.put(SPACE.sub(" ", given.get("alt") or "")),
    "blockquote": lambda out, _given: out.quote(begins=True),
    "tr": lambda out, _given: out.row(cell=False),
}
_ENDS: dict[str, Callable[[MarkdownWriter], None]] = {
    **{tag: lambda out: out.paragraph() for tag in (*_BLOCKS, *_HEADINGS)},
    **{tag: _end_mark(sign) for tag, sign in _MARKS.items()},
    **{tag: lambda out: out.end_list() for tag in ("ul", "ol", "menu")},
    **{tag: lambda out: out.code(begins=False) for tag in ("pre", "textarea")},
    **{tag: lambda out: out.end_line() for tag in ("li", "tr")},
    "a": lambda out: out.end_link(),
    "blockquote": lambda out: out.quote(begins=False),
}


def _joined(written: Iterable[str]) -> str:
    return _GAPS.sub("\n\n", "".join(written)).strip()


def _is_hidden(tag: str, given: _Given) -> bool:
    """Of what may go without an end tag the end is not known: it is shown rather than too much."""
    return tag not in _OPEN_ENDED and ("hidden" in given or given.get("aria-hidden") == "true")
