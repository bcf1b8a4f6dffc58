"""`web_fetch`: one page, as text."""

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import BinaryFile, OperationFailed, ToolError, Unavailable
from holdfast.contract.extraction import Document, Extraction
from holdfast.contract.failure import FailureKind
from holdfast.contract.net import Fetched, FetchLimits
from holdfast.contract.runtime import Progress, Runtime
from holdfast.contract.tool import Limits, OutputBound
from holdfast.tools import content_kinds

_MOST_BYTES = 10 * 1024 * 1024
_SHOWN_BYTES = 200 * 1024
_ACCEPTED = (
    "text/html, application/xhtml+xml, application/json;q=0.9, application/pdf;q=0.9,"
    " text/*;q=0.9, */*;q=0.1"
)
_WELL = range(200, 300)
_GONE = frozenset({404, 410})
_LATER = frozenset({408, 425, 429, *range(500, 600)})


class NoSuchPage(ToolError):
    """The server has nothing there."""

    kind = FailureKind.NOT_FOUND


class Page(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was fetched, as text."""

    url: str
    """Where it came from, after redirects."""
    content: str
    content_type: str
    note: str | None = None
    """What is missing in it, if anything is."""


@builtin(
    requires={"net": {"hosts": ["*"]}},
    uses={"url": "net.fetch"},
    read_only=True,
    parallel_safe=True,
    interrupt_behavior="cancel",
    acp_kind="fetch",
    effects=("resource_read",),
    limits=Limits(wall_seconds=60, output=OutputBound(max_bytes=_SHOWN_BYTES, fields=("content",))),
)
async def web_fetch(rt: Runtime, url: str, extraction: Extraction) -> Page:
    """Fetch one page and give its text: HTML as Markdown, PDF as text, JSON and text as they are.

    Follows redirects to hosts that are allowed. It runs no scripts and logs in nowhere; pictures
    and other binary files are refused. Example: {"url": "https://example.com/guide"}

    Args:
        url: The whole address, beginning with http:// or https://.
    """
    fetched = await rt.net.fetch(
        url, headers={"Accept": _ACCEPTED}, limits=FetchLimits(seconds=30, max_bytes=_MOST_BYTES)
    )
    _refuse_failed(fetched)
    said = content_kinds.media_type(_header(fetched, "content-type"))
    document = _document(fetched, said)
    rt.progress(Progress(message=f"reading {len(fetched.body):,} bytes of {fetched.url}"))
    read = await extraction.text(document)
    return Page(
        url=fetched.url,
        content=read.text,
        content_type=said.name or _assumed(document),
        note=" ".join(note for note in (_cut_short(fetched), read.note) if note) or None,
    )


def _refuse_failed(fetched: Fetched) -> None:
    status = fetched.status
    if status in _WELL:
        return
    told = f"{fetched.url} answered with status {status}"
    extras = {"status": status}
    if status in _GONE:
        raise NoSuchPage(f"{told}. Check the address, or search for the page.", extras=extras)
    if status in _LATER:
        raise Unavailable(f"{told}. Try again later, or take another source.", extras=extras)
    raise OperationFailed(f"{told}. The page cannot be read from here.", extras=extras)


def _document(fetched: Fetched, said: "content_kinds.MediaType") -> Document:
    packing = _header(fetched, "content-encoding")
    if packing is not None and packing.strip().lower() not in ("", "identity"):
        raise BinaryFile(
            f"{fetched.url} answered with content packed as {packing[:40]!r}, which was not asked"
            f" for and cannot be unpacked here ({_size(fetched)})."
        )
    kind = content_kinds.kind_of(said, fetched.body)
    if kind is None:
        raise BinaryFile(
            f"{fetched.url} is no text: {said.name[:100] or 'of unknown type'}, {_size(fetched)}."
        )
    return Document(content=fetched.body, kind=kind, charset=said.charset, url=fetched.url)


def _cut_short(fetched: Fetched) -> str | None:
    if not fetched.truncated:
        return None
    return f"Only the first {_MOST_BYTES:,} bytes were fetched; there is more."


def _assumed(document: Document) -> str:
    return {"html": "text/html", "pdf": "application/pdf", "text": "text/plain"}[document.kind]


def _size(fetched: Fetched) -> str:
    return f"{'more than ' if fetched.truncated else ''}{len(fetched.body):,} bytes"


def _header(fetched: Fetched, name: str) -> str | None:
    return next((value for key, value in fetched.headers if key.lower() == name), None)
