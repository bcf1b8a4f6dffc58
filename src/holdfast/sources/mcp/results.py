"""What an MCP server answers a call with, as a result of ours. The wire form is plain JSON here.

Text becomes text and structured content the result itself, checked by the schema the tool was
offered with. Pictures, sound and other bytes are stored and referred to. Nothing of an answer is
taken for an envelope: whatever it says, it is what the tool said.
"""

import base64
import binascii
from collections.abc import Awaitable, Callable
from typing import NamedTuple, cast

import jsonschema_rs

from holdfast.contract.errors import OperationFailed
from holdfast.contract.json_value import JsonObject, JsonValue, plain
from holdfast.contract.ports import StoredOutput
from holdfast.contract.results import Binary, BinaryPart, Image, ImagePart
from holdfast.contract.told import Told
from holdfast.contract.truncate import cut_text


class Keep(NamedTuple):
    """Where bytes of an answer go."""

    store: Callable[[bytes], Awaitable[StoredOutput | None]]
    """Stores bytes for the session; None: there is no room."""
    clean: Callable[[bytes], bytes]
    """Takes secrets out of them."""


LONGEST_MESSAGE = 8000
_ANY_BYTES = "application/octet-stream"


class OutputCheck:
    """The schema that structured content has to fit."""

    def __init__(self, schema: JsonObject) -> None:
        """ValueError: it is no schema."""
        self._validator = jsonschema_rs.Draft202012Validator(
            schema, validate_formats=False, offline=True
        )

    def misfit(self, value: JsonValue) -> str | None:
        """Where a value does not fit; None: it fits."""
        for problem in self._validator.iter_errors(value):
            way = "".join(f"[{part!r}]" for part in problem.instance_path)
            return cut_text(f"result{way}: {problem.message}", 500)
        return None


async def result_of(
    wire: JsonObject, check: OutputCheck | None, keep: Keep, hint: Callable[[str], str | None]
) -> object:
    """What the body gives back; OperationFailed where the server says that the call failed.

    ``hint``: what to say beside the words of a failure.
    """
    _refuse_failed(wire, hint)
    parts = _parts(wire)
    if "structuredContent" in wire:
        return await _structured(wire["structuredContent"], parts, check, keep)
    if check is not None:
        raise OperationFailed(
            "the server declares an output schema for this tool and answered without structured"
            " content"
        )
    if all(part.get("type") == "text" for part in parts):
        return {"text": _joined(parts)}
    if len(parts) == 1 and (alone := _bytes_alone(parts[0])) is not None:
        return alone
    return {"parts": [await _part(one, keep) for one in parts]}


def _refuse_failed(wire: JsonObject, hint: Callable[[str], str | None]) -> None:
    if wire.get("isError") is True:
        said = cut_text(_joined(_parts(wire)), LONGEST_MESSAGE)
        advice = hint(said)
        raise OperationFailed(
            said or "the tool failed and said nothing",
            extras=None if advice is None else {"hint": advice},
        )


async def _structured(
    value: JsonValue, parts: list[JsonObject], check: OutputCheck | None, keep: Keep
) -> object:
    misfit = None if check is None else check.misfit(value)
    if misfit is not None:
        raise OperationFailed(
            f"the server's structured content does not fit the output schema it declares: {misfit}"
        )
    others = [await _part(one, keep) for one in parts if one.get("type") != "text"]
    said = tuple(f"the tool also answered with {_described(one)}" for one in others)
    return Told(result=value, warnings=said)


def _described(part: JsonObject) -> str:
    where = part.get("path") or part.get("uri") or part.get("text") or ""
    return cut_text(f"{part.get('kind')} {where}".strip(), 300)


def _bytes_alone(part: JsonObject) -> Image | Binary | None:
    content = _decoded(part.get("data"))
    if content is None:
        return None
    media = _media_type(part)
    if part.get("type") == "image":
        return Image(content, media)
    return Binary(content, media) if part.get("type") == "audio" else None


async def _part(part: JsonObject, keep: Keep) -> JsonObject:
    kind = part.get("type")
    if kind == "text":
        return {"kind": "text", "text": part.get("text")}
    if kind in ("image", "audio"):
        return await _stored(part.get("data"), _media_type(part), keep, picture=kind == "image")
    if kind == "resource_link":
        return _named(part, "link")
    resource = part.get("resource")
    if kind == "resource" and isinstance(resource, dict):
        if "blob" in resource:
            stored = await _stored(resource["blob"], _media_type(resource), keep, picture=False)
            return {**stored, "uri": resource.get("uri")}
        return {**_named(resource, "resource"), "text": resource.get("text")}
    return {"kind": "unknown", "type": kind}


def _named(part: JsonObject, kind: str) -> JsonObject:
    found: JsonObject = {"kind": kind, "uri": part.get("uri")}
    for ours, theirs in (("name", "name"), ("title", "title"), ("media_type", "mimeType")):
        if isinstance(part.get(theirs), str):
            found[ours] = part[theirs]
    return found


async def _stored(data: JsonValue, media: str, keep: Keep, *, picture: bool) -> JsonObject:
    content = _decoded(data)
    if content is None:
        return {"kind": "text", "text": f"[{media}: its base64 cannot be decoded]"}
    content = keep.clean(content)
    stored = await keep.store(content)
    if stored is None or stored.stored_bytes < len(content):
        return {"kind": "text", "text": f"[{media}: no room for its {len(content):,} bytes]"}
    form = ImagePart if picture else BinaryPart
    part = form(path=stored.path, media_type=media, byte_count=len(content))
    return cast("JsonObject", plain(part))


def _decoded(data: JsonValue) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True) if isinstance(data, str) else None
    except (binascii.Error, ValueError):
        return None


def _media_type(part: JsonObject) -> str:
    media = part.get("mimeType")
    return media if isinstance(media, str) and media else _ANY_BYTES


def _parts(wire: JsonObject) -> list[JsonObject]:
    content = wire.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _joined(parts: list[JsonObject]) -> str:
    texts = [part.get("text") for part in parts if part.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))
