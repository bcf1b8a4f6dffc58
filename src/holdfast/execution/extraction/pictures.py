"""What a picture is, and a smaller copy of it, by Pillow. Runs in a worker.

What a picture declares is looked at before anything of it is decoded. A copy is drawn anew: nothing
that was hidden in the file is in it.
"""

from collections.abc import Iterator
from io import BytesIO
from typing import cast

from PIL import Image, ImageOps

from holdfast.contract.json_value import JsonObject
from holdfast.execution.extraction.families import Answer, Unparsable

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
_TRANSPARENT = frozenset({"RGBA", "LA", "PA", "La", "RGBa"})
_QUALITIES = (85, 65, 45)
_SMALLEST = 64
_DAMAGE = (OSError, ValueError, SyntaxError, EOFError, TypeError, IndexError, KeyError,
           AttributeError, OverflowError, ZeroDivisionError)  # fmt: skip
"""What Pillow raises over files that are not as they should be."""

Image.MAX_IMAGE_PIXELS = None  # it is looked at here, by what was asked for


def parse(asked: JsonObject, content: bytes) -> Answer:
    """Facts of a picture, and a copy within bounds."""
    side, most, pixels = (cast("int", asked[name]) for name in ("side", "max_bytes", "pixels"))
    try:
        with Image.open(BytesIO(content), formats=_FORMATS) as picture:
            width, height = picture.size
            if width * height > pixels:
                raise Unparsable(
                    f"the picture declares {width} x {height} pixels, more than the"
                    f" {pixels:,} that are decoded here; make it smaller first"
                )
            facts: JsonObject = {
                "format": picture.format or "",
                "width": width,
                "height": height,
                "mode": picture.mode,
                "frames": getattr(picture, "n_frames", 1),
            }
            picture.seek(0)
            copy, media_type, drawn = _copy(picture, side, most)
    except Image.UnidentifiedImageError:
        raise Unparsable(f"it is none of {', '.join(_FORMATS)}") from None
    except MemoryError:
        raise Unparsable("the picture takes more memory than there is for it") from None
    except _DAMAGE as problem:
        raise Unparsable(f"the picture is damaged ({problem})"[:300]) from None
    facts |= {"media_type": media_type, "copy_width": drawn[0], "copy_height": drawn[1]}
    return Answer(facts, copy)


def _copy(picture: Image.Image, side: int, most: int) -> tuple[bytes, str, tuple[int, int]]:
    picture.draft("RGB", (side, side))
    drawn = ImageOps.exif_transpose(picture)
    drawn = drawn.convert("RGBA" if _has_holes(drawn) else "RGB")
    while True:
        drawn.thumbnail((side, side))
        for copy, media_type in _encoded(drawn, lossless=picture.format != "JPEG"):
            if len(copy) <= most:
                return copy, media_type, drawn.size
        if side <= _SMALLEST:
            raise Unparsable(f"no copy of the picture is within {most:,} bytes")
        side = max(_SMALLEST, max(drawn.size) * 3 // 4)


def _encoded(drawn: Image.Image, *, lossless: bool) -> Iterator[tuple[bytes, str]]:
    """The copy in ever fewer bytes."""
    if lossless or drawn.mode == "RGBA":
        yield _saved(drawn, "PNG"), "image/png"
    flat = drawn
    if drawn.mode == "RGBA":
        flat = Image.new("RGB", drawn.size, "white")
        flat.paste(drawn, mask=drawn.getchannel("A"))
    for quality in _QUALITIES:
        yield _saved(flat, "JPEG", quality=quality), "image/jpeg"


def _saved(drawn: Image.Image, form: str, **options: int) -> bytes:
    made = BytesIO()
    drawn.save(made, form, **options)
    return made.getvalue()


def _has_holes(picture: Image.Image) -> bool:
    return picture.mode in _TRANSPARENT or "transparency" in picture.info


def warm_up() -> None:
    """Load what is otherwise loaded late."""
    Image.init()
    for form in _FORMATS:
        small = _saved(Image.new("RGB", (8, 8)), form)
        parse({"side": 4, "max_bytes": 10_000, "pixels": 64}, small)
