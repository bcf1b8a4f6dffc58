"""`view_image`: facts of a picture and a copy within bounds, by reference."""

import zlib
from io import BytesIO
from pathlib import Path

import anyio
import pytest
from PIL import Image
from tool_kit import answer, failure, opened, result
from web_site import stopped

from holdfast.app.profiles import TOOLSETS
from holdfast.contract.extraction import Extraction, Picture, PictureBounds
from holdfast.contract.failure import FailureKind
from holdfast.contract.tool import LOCKED_NAMES
from holdfast.execution.extraction.parsers import MissingPackages
from holdfast.sources.intake import built_in
from holdfast.tools.code.view_image import view_image

pytestmark = pytest.mark.anyio


def drawn(size: tuple[int, int] = (40, 30), form: str = "PNG", mode: str = "RGB") -> bytes:
    made = BytesIO()
    Image.new(mode, size).save(made, form)
    return made.getvalue()


@pytest.mark.req("SPEC-EXT-08")
async def test_it_is_an_extension_of_its_own_outside_of_the_lock(workspace: Path) -> None:
    assert "view_image" not in LOCKED_NAMES
    assert view_image in TOOLSETS["code"]
    assert view_image not in TOOLSETS["locked"]
    async with opened(workspace, "locked") as hf:
        assert "view_image" not in {tool.name for tool in hf.tools}
    tool = built_in(view_image)
    assert (tool.acp_kind, tool.read_only, tool.parallel_safe) == ("read", True, True)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
async def test_a_picture_is_told_of_and_shown(workspace: Path, form: str) -> None:
    content = drawn((2000, 1000), form)
    (workspace / "picture").write_bytes(content)
    async with opened(workspace) as hf:
        got = await result(hf, "view_image", path="picture")
        shown = Path(got["path"]).read_bytes()
    about = got["about"]
    assert (got["kind"], got["byte_count"]) == ("image", len(shown))
    assert about == {
        "format": form,
        "width": 2000,
        "height": 1000,
        "bytes": len(content),
        "mode": about["mode"],
        "frames": 1,
        "shown_width": 1568,
        "shown_height": 784,
    }
    with Image.open(BytesIO(shown)) as copy:
        assert copy.size == (1568, 784)
        assert got["media_type"] == f"image/{(copy.format or '').lower()}"


async def test_a_copy_has_a_bound_in_bytes(workspace: Path) -> None:
    made = BytesIO()
    Image.effect_noise((1500, 1500), 90).save(made, "PNG")
    (workspace / "noise.png").write_bytes(made.getvalue())
    async with opened(workspace) as hf:
        got = await result(hf, "view_image", path="noise.png")
    assert got["byte_count"] <= PictureBounds().max_bytes < len(made.getvalue())


def bomb() -> bytes:
    content = bytearray(drawn())
    content[16:24] = (50_000).to_bytes(4) * 2
    content[29:33] = zlib.crc32(content[12:29]).to_bytes(4)
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (bomb(), "declares 50000 x 50000 pixels"),
        (b"words", "none of PNG, JPEG, GIF, WEBP, BMP"),
        (b"", "none of PNG"),
        (drawn((400, 400), "JPEG")[:300], "cannot be read"),
        (drawn(form="TIFF"), "none of PNG"),
    ],
)
async def test_what_is_no_picture_to_decode_is_refused(
    workspace: Path, content: bytes, words: str
) -> None:
    (workspace / "it.png").write_bytes(content)
    async with opened(workspace) as hf:
        told = await failure(hf, "view_image", path="it.png")
    assert (told.kind, told.retryable) == (FailureKind.EXECUTION_ERROR, False)
    assert words in told.message


async def test_what_is_not_there_or_not_for_it_is_refused(workspace: Path) -> None:
    (workspace / "folder").mkdir()
    with (workspace / "large.png").open("wb") as large_file:
        large_file.truncate(33 << 20)
    async with opened(workspace) as hf:
        missing = await failure(hf, "view_image", path="none.png")
        folder = await failure(hf, "view_image", path="folder")
        large = await failure(hf, "view_image", path="large.png")
        outside = await failure(hf, "view_image", path="../../etc/passwd")
    assert (missing.kind, missing.field) == (FailureKind.NOT_FOUND, "path")
    assert (folder.kind, folder.field) == (FailureKind.INVALID_ARGS, "path")
    assert (large.kind, large.field) == (FailureKind.INVALID_ARGS, "path")
    assert outside.kind in (FailureKind.REJECTED, FailureKind.INVALID_ARGS)


class Stuck:
    """Never ends by itself."""

    def __init__(self) -> None:
        self.begun = anyio.Event()

    async def picture(self, _content: bytes, _bounds: PictureBounds, /) -> Picture:
        self.begun.set()
        await anyio.sleep_forever()
        raise AssertionError


async def test_a_call_that_is_stopped_ends_at_once(workspace: Path) -> None:
    (workspace / "a.png").write_bytes(drawn())
    stuck = Stuck()
    async with opened(workspace, ports={Extraction: lambda _call: stuck}) as hf:
        took = await stopped(hf, "view_image", {"path": "a.png"}, stuck.begun.wait)
    assert took < 2  # 250 ms, on a machine that does nothing else


class Bare:
    """A host without the packages."""

    async def picture(self, _content: bytes, _bounds: PictureBounds, /) -> Picture:
        raise MissingPackages("pip install 'holdfast[images]'")


async def test_missing_packages_are_named(workspace: Path) -> None:
    (workspace / "a.png").write_bytes(drawn())
    async with opened(workspace, ports={Extraction: lambda _call: Bare()}) as hf:
        envelope = await answer(hf, "view_image", path="a.png")
    assert envelope.failure is not None
    assert (envelope.failure.kind, envelope.failure.retryable) == (FailureKind.UNAVAILABLE, False)
    assert "holdfast[images]" in envelope.failure.message
