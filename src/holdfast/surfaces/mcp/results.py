"""From an envelope to the result of a call, as the client's era has it.

The dialect writes what the envelope says; here pictures and sounds that it refers to are put in,
where they are small, and files of the session are linked to by addresses that can be read.
"""

from base64 import b64encode
from pathlib import Path
from typing import cast

from anyio import to_thread

from holdfast.app.holdfast import Holdfast
from holdfast.contract.envelope import Envelope
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.envelope.dialects.mcp_result import render
from holdfast.surfaces.mcp.resources import link_to

MAX_INLINE_BYTES = 1024 * 1024
"""Of a picture or a sound; a larger one is linked to."""
_INLINE = ("image", "audio")
_BY_REFERENCE = (b'"kind":"image"', b'"kind":"binary"')


async def result_of(
    envelope: Envelope, holdfast: Holdfast, *, structured: bool, modern: bool
) -> JsonObject:
    """The result object. ``structured``: the tool says what its results are, so they are data, too.

    Before the modern era only an object can be.
    """
    wire = render(envelope)
    if envelope.failure is None:
        if structured and "structuredContent" not in wire:
            result = envelope.result
            if modern or isinstance(result, dict):
                wire["structuredContent"] = result
        if any(mark in envelope.result_json for mark in _BY_REFERENCE):
            await _put_in(wire, holdfast)
    whole = envelope.metadata.output_path
    if whole is not None and (named := holdfast.outputs.named(whole)) is not None:
        content = cast("list[JsonValue]", wire["content"])
        content.append(link_to(holdfast.session_id, *named))
    return wire


async def _put_in(wire: JsonObject, holdfast: Holdfast) -> None:
    """In place of the first part, which the dialect made a link to a file of this host."""
    result = wire.get("structuredContent")
    content = cast("list[JsonValue]", wire["content"])
    if not isinstance(result, dict):
        return
    path, media = result.get("path"), result.get("media_type")
    if not isinstance(path, str) or not isinstance(media, str):
        return
    named = holdfast.outputs.named(path)
    if named is None:
        return
    try:
        held = await to_thread.run_sync(holdfast.outputs.read, *named, MAX_INLINE_BYTES)
    except ValueError:
        held = None
    family = media.partition("/")[0]
    if held is None or family not in _INLINE:
        link = link_to(holdfast.session_id, *named)
        content[0] = {**link, "name": Path(path).name, "mimeType": media}
        return
    content[0] = {"type": family, "data": b64encode(held).decode(), "mimeType": media}
