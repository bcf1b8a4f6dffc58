"""The files of a session as resources: its artifacts, and outputs too large to show.

An address names the session and the file below one of its two folders; what is read is bounded.
Files of other sessions have other addresses, and no other file of the host has any.
"""

import os
from base64 import b64encode
from mimetypes import guess_type
from urllib.parse import quote, unquote_to_bytes, urlsplit

from anyio import to_thread

from holdfast.app.holdfast import Holdfast
from holdfast.contract.json_value import JsonObject, clean_text
from holdfast.execution.session_outputs import FOLDERS, KeptFile, OutputFolder
from holdfast.surfaces.mcp.messages import INVALID_PARAMS, Fault

SCHEME = "holdfast"
MAX_RESOURCE_BYTES = 4 * 1024 * 1024
"""Of what is read at once."""
NOT_FOUND_BEFORE = -32002
"""What legacy clients are told of a resource that is not there."""

_ABOUT: dict[OutputFolder, str] = {
    "artifacts": "what a call handed to the people it works for",
    "outputs": "the whole of an output that was too large to show",
}


def address_of(session_id: str, folder: OutputFolder, name: str) -> str:
    """What a file is called."""
    return f"{SCHEME}://{session_id}/{folder}/{quote(os.fsencode(name))}"


def file_at(session_id: str, address: str) -> tuple[OutputFolder, str] | None:
    """Which file of the session an address names; None: none of its files has such a one."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    if (parts.scheme, parts.netloc) != (SCHEME, session_id) or parts.query or parts.fragment:
        return None
    first, _, name = parts.path.removeprefix("/").partition("/")
    named = os.fsdecode(unquote_to_bytes(name))
    return next(((one, named) for one in FOLDERS if one == first and name), None)


async def listed(holdfast: Holdfast) -> list[JsonObject]:
    """Every file there is now."""
    files = await to_thread.run_sync(holdfast.outputs.all)
    return [_described(holdfast.session_id, one) for one in files]


async def contents(holdfast: Holdfast, address: str, *, modern: bool) -> JsonObject | Fault:
    """What a file holds."""
    missing = INVALID_PARAMS if modern else NOT_FOUND_BEFORE
    named = file_at(holdfast.session_id, address)
    if named is None:
        return Fault(missing, "Resource not found", {"uri": address})
    try:
        content = await to_thread.run_sync(holdfast.outputs.read, *named, MAX_RESOURCE_BYTES)
    except ValueError as problem:
        return Fault(INVALID_PARAMS, f"Resource too large: {problem}", {"uri": address})
    if content is None:
        return Fault(missing, "Resource not found", {"uri": address})
    return {"uri": address, **_told(named[1], content)}


def link_to(session_id: str, folder: OutputFolder, name: str) -> JsonObject:
    """A part of a result that leads to a file."""
    link: JsonObject = {
        "type": "resource_link",
        "uri": address_of(session_id, folder, name),
        "name": clean_text(name),
    }
    media, _ = guess_type(name)
    return link if media is None else {**link, "mimeType": media}


def _described(session_id: str, file: KeptFile) -> JsonObject:
    media, _ = guess_type(file.name)
    told: JsonObject = {
        "uri": address_of(session_id, file.folder, file.name),
        "name": clean_text(file.name),
        "description": _ABOUT[file.folder],
        "size": file.byte_count,
    }
    return told if media is None else {**told, "mimeType": media}


def _told(name: str, content: bytes) -> JsonObject:
    media, _ = guess_type(name)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        blob = b64encode(content).decode()
        return {"mimeType": media or "application/octet-stream", "blob": blob}
    return {"mimeType": media or "text/plain", "text": text}
