"""Pages and texts; where a page does not say which part is its own content, trafilatura finds it.

On some pages of documentation trafilatura alone drops code and cuts the path out of links: so it is
asked only where the page itself says nothing, and heard only when what it found is whole. Runs in a
worker.
"""

from collections import Counter
from importlib import import_module
from typing import Any

import trafilatura

from holdfast.contract.json_value import JsonObject
from holdfast.execution.extraction.families import Answer
from holdfast.execution.extraction.plain_html import read_page
from holdfast.execution.extraction.plain_pages import answer, text_in, titled

_html: Any = import_module("lxml.html")  # it is not typed
_LXML_ERROR: type[Exception] = import_module("lxml.etree").LxmlError
_LARGEST = 2_000_000
_GOOD_PART = 0.2
_FEW = 200


def parse(asked: JsonObject, content: bytes) -> Answer:
    """The text of a page, or a text as it is."""
    markup = text_in(asked, content)
    if asked.get("kind") != "html":
        return answer(markup)
    url = str(asked.get("url") or "")
    read = read_page(markup, url)
    return answer(titled(read.main or _article(markup, url, read.whole) or read.whole, markup))


def _article(markup: str, url: str, whole: str) -> str | None:
    """What trafilatura takes for the article; None when it lost what matters."""
    if len(markup) > _LARGEST:
        return None
    try:
        # As bytes: lxml refuses text that declares an encoding.
        parser = _html.HTMLParser(encoding="utf-8")
        tree = _html.document_fromstring(markup.encode("utf-8", "replace"), parser=parser)
        if url:
            tree.make_links_absolute(url, handle_failures="ignore")
        found = trafilatura.extract(
            tree,
            output_format="markdown",
            include_links=True,
            include_formatting=True,
            include_tables=True,
            favor_recall=True,
        )
    except (_LXML_ERROR, ValueError, TypeError, AttributeError, RecursionError):
        return None  # there is the whole page still
    if found is None or len(found) < max(_FEW, _GOOD_PART * len(whole)):
        return None
    return None if _lost(whole, found) else found


def _lost(whole: str, found: str) -> bool:
    """Whether code or most headings are missing."""
    before, after = _marks(whole), _marks(found)
    return after["code"] < before["code"] or 2 * after["heading"] < before["heading"]


def _marks(text: str) -> Counter[str]:
    lines = text.split("\n")
    return Counter(
        {
            "code": sum(line.startswith("```") for line in lines),
            "heading": sum(line.startswith("#") for line in lines),
        }
    )


def warm_up() -> None:
    """Load what is otherwise loaded late."""
    page = b"<title>T</title><h1>T</h1>" + b"<p>Some words of a page, and more of them.</p>" * 9
    parse({"kind": "html", "url": "https://example.com/"}, page)
