"""What tests of built-in tools share: a session over a workspace of their own."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Unpack, cast

from holdfast.app.holdfast import Holdfast
from holdfast.app.options import Options
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import Failure
from holdfast.contract.json_value import decode_json

UNRECORDED = Settings(store=StoreSettings(kind="none"))
"""Most tools have nothing to do with the journal."""


@asynccontextmanager
async def opened(
    workspace: Path,
    profile: str = "code",
    tools: Iterable[object] = (),
    **options: Unpack[Options],
) -> AsyncGenerator[Holdfast]:
    """A session whose data lies beside the workspace."""
    home = workspace.parent / f"{workspace.name}-home"
    options.setdefault("settings", UNRECORDED)
    options.setdefault(
        "surroundings", Surroundings(data_home=home / "data", state_home=home / "state")
    )
    async with Holdfast(tools=tools, profile=profile, workspace=workspace, **options) as hf:
        yield hf


async def answer(hf: Holdfast, tool: str, **arguments: object) -> Envelope:
    return await hf.settle(tool, arguments)


async def result(hf: Holdfast, tool: str, **arguments: object) -> dict[str, Any]:
    """What a call that has to work gives."""
    envelope = await hf.settle(tool, arguments)
    assert envelope.failure is None, envelope.failure
    return cast("dict[str, Any]", decode_json(envelope.result_json))


async def failure(hf: Holdfast, tool: str, **arguments: object) -> Failure:
    """How a call fails that has to fail."""
    envelope = await hf.settle(tool, arguments)
    assert envelope.failure is not None, envelope.result_json
    return envelope.failure
