"""The files that a session keeps for others to read: artifacts, and outputs as a whole."""

import mimetypes
import re
from typing import Annotated

import msgspec
from anyio import to_thread
from starlette.responses import Response

from holdfast.execution.session_outputs import FOLDERS, KeptFile, OutputFolder, SessionOutputs
from holdfast.surfaces.http.house import House
from holdfast.surfaces.http.problems import Problem
from holdfast.surfaces.http.routes import Asked, Body, Plain, Query, Route

MOST_BYTES = 64 * 1024 * 1024
"""Of one answer; more is read by `Range`."""
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"})
_TEXT = "text/plain; charset=utf-8"
_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})", re.ASCII)
_ALONE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""What a picture may do that somebody drew: nothing but be seen."""


class FileRow(msgspec.Struct, frozen=True, kw_only=True):
    """One file."""

    name: str
    """With its folder, as in `artifacts/chart.svg`."""
    bytes: int
    media_type: str


class FileList(msgspec.Struct, frozen=True, kw_only=True):
    """Every file there is now, by name."""

    files: list[FileRow]


async def list_files(asked: Plain) -> FileList:
    """The artifacts and whole outputs of a session."""
    await asked.house.journal.session(asked.names["id"])
    found = await to_thread.run_sync(_outputs(asked.house, asked.names["id"]).all)
    return FileList(files=[_row(one) for one in found])


class FileAsked(Query, frozen=True, kw_only=True):
    """How much of it."""

    tail: Annotated[int, msgspec.Meta(ge=1, le=MOST_BYTES)] | None = None
    """Only its last bytes."""


async def read_file(asked: Asked[FileAsked, Body]) -> Response:
    """A file; pictures are shown, everything else is plain text or a download."""
    house, name = asked.house, asked.names["id"]
    await house.journal.session(name)
    folder, _, rest = asked.names["name"].partition("/")
    if folder not in FOLDERS or not rest:
        raise Problem(404, f"session {name} keeps no file {asked.names['name']}")
    outputs = _outputs(house, name)
    given = asked.request.headers.get("range")
    read = await to_thread.run_sync(_content, outputs, folder, rest, asked.query.tail, given)
    if read is None:
        raise Problem(404, f"session {name} keeps no file {asked.names['name']}")
    return _answer(rest, *read)


def _content(
    outputs: SessionOutputs, folder: OutputFolder, name: str, tail: int | None, given: str | None
) -> tuple[bytes, str | None] | None:
    """The bytes, and which of them they are."""
    whole = 0

    def choose(size: int) -> tuple[int, int]:
        nonlocal whole
        whole = size
        if tail is not None:
            return max(0, size - tail), tail
        if given is None:
            if size > MOST_BYTES:
                told = f"the file has {size:,} bytes; read {MOST_BYTES:,} at once, with Range"
                raise Problem(413, told)
            return 0, size
        begin, last = _span(given, size)
        return begin, min(last - begin + 1, MOST_BYTES)

    part = outputs.part(folder, name, choose)
    if part is None or tail is not None or given is None:
        return None if part is None else (part, None)
    first = choose(whole)[0]
    return part, f"bytes {first}-{first + len(part) - 1}/{whole}"


def _span(given: str, size: int) -> tuple[int, int]:
    found = _RANGE.fullmatch(given.strip())
    if found is None or not (found[1] or found[2]):
        raise Problem(422, "the Range header names one range of bytes, as in bytes=0-99")
    if found[1]:
        first, last = int(found[1]), int(found[2] or size - 1)
    else:
        first, last = max(0, size - int(found[2])), size - 1
    if first > last or first >= size:
        raise Problem(422, f"the file has {size:,} bytes; the range is outside of it")
    return first, min(last, size - 1)


def _answer(name: str, content: bytes, span: str | None) -> Response:
    media = _media_type(name)
    headers = {"accept-ranges": "bytes", "cache-control": "no-store"}
    if span is not None:
        headers["content-range"] = span
    if media in _PICTURES:
        headers["content-security-policy"] = _ALONE
    elif not media.startswith("text/plain"):
        plain = re.sub(r"[^A-Za-z0-9._-]", "_", name.rpartition("/")[2])
        headers["content-disposition"] = f'attachment; filename="{plain}"'
        headers["content-security-policy"] = _ALONE
    return Response(content, 200 if span is None else 206, headers, media)


def _media_type(name: str) -> str:
    guessed = mimetypes.guess_type(name)[0] or "text/plain"
    if guessed in _PICTURES:
        return guessed
    is_text = guessed.startswith("text/") or guessed in {"application/json", "application/xml"}
    return _TEXT if is_text else "application/octet-stream"


def _row(file: KeptFile) -> FileRow:
    name = f"{file.folder}/{file.name}"
    return FileRow(name=name, bytes=file.byte_count, media_type=_media_type(file.name))


def _outputs(house: House, session_id: str) -> SessionOutputs:
    return SessionOutputs(house.around.data_home / "sessions", session_id)


ROUTES = (
    Route(
        method="GET",
        path="/sessions/{id}/files",
        name="list_files",
        says="The artifacts and whole outputs of a session.",
        answer=list_files,
        gives=FileList,
        fails=(404,),
    ),
    Route(
        method="GET",
        path="/sessions/{id}/files/{name:path}",
        name="read_file",
        says="A file that a session keeps.",
        answer=read_file,
        query=FileAsked,
        media="application/octet-stream",
        fails=(404, 413),
    ),
)
