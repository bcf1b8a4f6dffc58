"""Text as an editor shows it: pieces of content, and output in a fence that nothing in it ends."""

import re

from acp.schema import ContentToolCallContent, TextContentBlock

from holdfast.contract.truncate import cut_text

MOST_CHARACTERS = 20_000
"""Of one piece of content; the whole stands in the raw output, or in the file that it names."""
_TICKS = re.compile("`{3,}")


def text_block(text: str) -> TextContentBlock:
    """A piece of a message."""
    return TextContentBlock(type="text", text=text)


def content(text: str) -> ContentToolCallContent:
    """A piece of what belongs to a call."""
    return ContentToolCallContent(type="content", content=text_block(text))


def fenced(text: str) -> str:
    """Text to be shown letter by letter, whatever stands in it; its beginning where it is long."""
    return fenced_whole(cut_text(text, MOST_CHARACTERS).rstrip())


def fenced_whole(text: str) -> str:
    """The same, however long it is."""
    longest = max((len(one) for one in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def fenced_end(text: str) -> str:
    """The same of something that goes on: its end."""
    left = len(text) - MOST_CHARACTERS
    return fenced(text if left <= 0 else f"…{text[left:]}")
