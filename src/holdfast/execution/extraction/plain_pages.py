"""Pages and texts, by the standard library alone. Runs in a worker."""

from typing import cast

from holdfast.contract.json_value import JsonObject
from holdfast.execution.extraction.charsets import decoded
from holdfast.execution.extraction.families import Answer
from holdfast.execution.extraction.plain_html import read_page, title_of


def parse(asked: JsonObject, content: bytes) -> Answer:
    """The text of a page, or a text as it is."""
    text = text_in(asked, content)
    if asked.get("kind") != "html":
        return answer(text)
    read = read_page(text, str(asked.get("url") or ""))
    return answer(titled(read.main or read.whole, text))


def text_in(asked: JsonObject, content: bytes) -> str:
    """What is to be read, decoded."""
    charset = cast("str | None", asked.get("charset"))
    return decoded(content, charset, marked_up=asked.get("kind") != "text")


def titled(text: str, markup: str) -> str:
    """A page's text under its title, unless it begins with it."""
    title = title_of(markup)
    beginning = text[: 2 * len(title) + 200]
    return text if not title or title.casefold() in beginning.casefold() else f"# {title}\n\n{text}"


def answer(text: str) -> Answer:
    """A text as an answer."""
    return Answer({}, text.encode("utf-8", "replace"))


def warm_up() -> None:
    """Load what is otherwise loaded late."""
    parse({"kind": "html", "url": "https://example.com/"}, b"<p>A <a href=/b>link</a>")
