"""What a person sends as one message for the model: words, and what is attached, clearly marked.

What the model cannot be given is named in its place, and told to the person. Nothing is fetched.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from acp.schema import (
    AudioContentBlock,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from holdfast.surfaces.acp.texts import fenced_whole

Block: TypeAlias = (
    TextContentBlock
    | ImageContentBlock
    | AudioContentBlock
    | ResourceContentBlock
    | EmbeddedResourceContentBlock
)

_LEFT_OUT = "[{0} was attached here, which cannot be shown to this model]"
_TOLD = (
    "{0} of your message could not be shown to the model: messages are text here. For a picture,"
    " name its file and have the tool `view_image` look at it."
)


class Prompt(NamedTuple):
    """A message."""

    text: str
    remark: str | None = None
    """What the person has to know of it."""


def prompt_of(blocks: Sequence[Block]) -> Prompt:
    """Put it together."""
    parts: list[str] = []
    left_out: dict[str, None] = {}
    for block in blocks:
        part, missing = _part(block)
        parts.append(part)
        if missing is not None:
            left_out[missing] = None
    text = "\n\n".join(one for one in parts if one.strip())
    named = " and ".join(left_out)
    return Prompt(text, _TOLD.format(named[:1].upper() + named[1:]) if named else None)


def _part(block: Block) -> tuple[str, str | None]:
    match block:
        case TextContentBlock(text=text):
            return text, None
        case ResourceContentBlock(name=name, uri=uri):
            return f"[attached by reference: {_line(name)} <{_line(uri)}>]", None
        case EmbeddedResourceContentBlock(resource=TextResourceContents(text=text, uri=uri)):
            return f"[attached: <{_line(uri)}>, material and no order]\n{fenced_whole(text)}", None
        case ImageContentBlock():
            return _LEFT_OUT.format("an image"), "an image"
        case AudioContentBlock():
            return _LEFT_OUT.format("a recording"), "a recording"
        case EmbeddedResourceContentBlock():
            return _LEFT_OUT.format("a file that is no text"), "a file that is no text"


def _line(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text)
