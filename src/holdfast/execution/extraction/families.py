"""Which kinds of foreign bytes there are, which module reads each, and what that module needs.

Names alone: what they stand for is loaded by a worker, and by nobody else.
"""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from holdfast.contract.json_value import JsonObject

Family = Literal["pages", "documents", "pictures"]


class Answer(NamedTuple):
    """What came of a job: facts, and bytes."""

    facts: JsonObject
    content: bytes = b""


Parse = Callable[[JsonObject, bytes], Answer]
"""What a job asks for and the bytes, to an answer; Unparsable says why there is none."""


class Reader(NamedTuple):
    """A module with a function `parse`, and another in its place where packages are missing."""

    module: str
    without: str | None
    packages: tuple[str, ...]
    extra: str


READERS: Mapping[Family, Reader] = {
    "pages": Reader(
        "holdfast.execution.extraction.pages",
        "holdfast.execution.extraction.plain_pages",
        ("trafilatura", "lxml"),
        "web",
    ),
    "documents": Reader("holdfast.execution.extraction.documents", None, ("pypdf",), "web"),
    "pictures": Reader("holdfast.execution.extraction.pictures", None, ("PIL",), "images"),
}


class Unparsable(Exception):
    """The bytes cannot be read; the message goes to whoever asked."""
