"""`view_image`: what a picture is, and a copy of it for models that see."""

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.extraction import Extraction, PictureBounds
from holdfast.contract.json_value import JsonObject
from holdfast.contract.results import Image
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Limits

_MOST_BYTES = 32 * 1024 * 1024
_BOUNDS = PictureBounds()


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What is said beside a picture."""

    format: str
    width: int
    height: int
    bytes: int
    mode: str
    frames: int
    shown_width: int
    shown_height: int


_KEPT_PICTURE = {
    "type": "object",
    "description": "The copy, by reference, and what is known of the picture.",
    "properties": {
        "kind": {"const": "image"},
        "path": {"type": "string"},
        "media_type": {"type": "string"},
        "byte_count": {"type": "integer"},
        "about": {"type": "object"},
    },
    "required": ["kind", "path", "media_type", "byte_count"],
    "additionalProperties": False,
}


@builtin(
    requires={"fs": {"read": ["**"]}},
    uses={"path": "fs.read"},
    read_only=True,
    parallel_safe=True,
    interrupt_behavior="cancel",
    acp_kind="read",
    effects=("resource_read",),
    limits=Limits(wall_seconds=60),
    output_schema=_KEPT_PICTURE,
)
def view_image(rt: Runtime, path: str, extraction: Extraction) -> Image:
    """Look at a picture of the workspace: PNG, JPEG, GIF, WebP or BMP.

    Gives its format, size, mode and number of frames, and a copy of the first frame, made smaller
    where it is large. For text use read. Example: {"path": "docs/diagram.png"}

    Args:
        path: The picture's path, relative to the workspace.
    """
    facts = rt.fs.stat(path)
    if facts.kind == "directory":
        raise InvalidArguments(f"{facts.path} is a directory; name a picture in it.", field="path")
    if facts.byte_count > _MOST_BYTES:
        raise InvalidArguments(
            f"{facts.path} has {facts.byte_count:,} bytes, and pictures of more than"
            f" {_MOST_BYTES:,} are not read; make it smaller first.",
            field="path",
        )
    content = rt.fs.read_bytes(path, limit=_MOST_BYTES)
    picture = rt.wait(extraction.picture(content, _BOUNDS))
    seen = Seen(
        format=picture.format,
        width=picture.width,
        height=picture.height,
        bytes=len(content),
        mode=picture.mode,
        frames=picture.frames,
        shown_width=picture.copy_width,
        shown_height=picture.copy_height,
    )
    about: JsonObject = msgspec.structs.asdict(seen)
    return Image(picture.content, picture.media_type, about)
