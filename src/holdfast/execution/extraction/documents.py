"""The text of PDF files, by pypdf. Runs in a worker.

What takes long is given up between pages: the pages so far are an answer, too.
"""

import time
from io import BytesIO
from typing import cast

import pypdf
from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

from holdfast.contract.json_value import JsonObject
from holdfast.execution.extraction.families import Answer, Unparsable

_MOST_CHARACTERS = 4_000_000
_DAMAGE = (PyPdfError, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError,
           RecursionError, AssertionError, NotImplementedError, EOFError, OSError,
           ZeroDivisionError, LookupError)  # fmt: skip
"""What pypdf raises over files that are not as they should be."""


def parse(asked: JsonObject, content: bytes) -> Answer:
    """The text of all pages, as far as there is time."""
    until = time.monotonic() + cast("float", asked["seconds"])
    try:
        reader = pypdf.PdfReader(BytesIO(content), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unparsable("the PDF is protected by a password")
        total = len(reader.pages)
    except (DependencyError, FileNotDecryptedError):
        raise Unparsable("the PDF is encrypted in a way that cannot be read here") from None
    except _DAMAGE as problem:
        raise Unparsable(f"the PDF is damaged ({type(problem).__name__})") from None
    return _text(reader, total, until)


def _text(reader: pypdf.PdfReader, total: int, until: float) -> Answer:
    pages: list[str] = []
    damaged = size = 0
    for number in range(total):
        if time.monotonic() >= until or size >= _MOST_CHARACTERS:
            break
        try:
            text = reader.pages[number].extract_text().strip()
        except _DAMAGE:
            damaged += 1
            text = ""
        pages.append(text)
        size += len(text)
    whole = "\n\n".join(text for text in pages if text)
    return Answer(
        {"pages": total, "read": len(pages), "damaged": damaged}, whole.encode("utf-8", "replace")
    )


def warm_up() -> None:
    """Load what is otherwise loaded late."""
    made = BytesIO()
    writer = pypdf.PdfWriter()
    writer.add_blank_page(10, 10)
    writer.write(made)
    parse({"seconds": 5.0}, made.getvalue())
