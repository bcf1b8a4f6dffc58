"""A tool that answers with a picture may say something of it beside."""

from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast, Image, tool
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import decode_json

pytestmark = pytest.mark.anyio

SECRET = "s3cr3t-of-the-house"


@tool
def draw() -> Image:
    """Draw."""
    return Image(b"x" + SECRET.encode(), "image/png", {"width": 3, "by": f"me, {SECRET}"})


@tool
def draw_wrongly() -> Image:
    """Draw, and say nothing that can be told."""
    about: Any = "three wide"
    return Image(b"x", "image/png", about)


def opened(tmp_path: Path, *secrets: str) -> Holdfast:
    return Holdfast(
        tools=[draw, draw_wrongly],
        settings=Settings(store=StoreSettings(kind="none")),
        surroundings=Surroundings(data_home=tmp_path / "data", secrets=secrets),
    )


async def test_what_is_said_stands_beside_the_picture(tmp_path: Path) -> None:
    async with opened(tmp_path) as hf:
        got: Any = decode_json((await hf.settle("draw")).result_json)
        assert Path(got["path"]).read_bytes() == b"x" + SECRET.encode()
    assert (got["kind"], got["about"]) == ("image", {"width": 3, "by": f"me, {SECRET}"})


async def test_secrets_are_taken_out_of_both(tmp_path: Path) -> None:
    async with opened(tmp_path, SECRET) as hf:
        envelope = await hf.settle("draw")
        got: Any = decode_json(envelope.result_json)
        assert SECRET.encode() not in Path(got["path"]).read_bytes()
    assert got["about"]["width"] == 3
    assert SECRET not in str(got)


async def test_what_is_no_object_is_malformed(tmp_path: Path) -> None:
    async with opened(tmp_path) as hf:
        failure = (await hf.settle("draw_wrongly")).failure
    assert failure is not None
    assert failure.kind is FailureKind.EXECUTION_ERROR
    assert "malformed Image" in failure.message
