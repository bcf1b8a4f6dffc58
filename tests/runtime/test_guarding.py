"""A tool's guard: asked before anything is judged, and told as invalid_args."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tool_kit import UNRECORDED, failure, result

from holdfast import tool
from holdfast.app.holdfast import Holdfast
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.tool import ArgumentFault

pytestmark = pytest.mark.anyio


def no_dots(arguments: Mapping[str, object], session: SessionFacts) -> ArgumentFault | None:
    if ".." not in str(arguments.get("path")):
        return None
    return ArgumentFault(message=f"stay below {session.workspace}", field="path")


@tool(requires={"fs": {"read": ["**"]}}, uses={"path": "fs.read"}, guard=no_dots)
def look(path: str) -> str:
    """Look at a path.

    Args:
        path: The path.
    """
    return path


async def test_what_the_guard_refuses_is_not_judged(workspace: Path) -> None:
    async with Holdfast(tools=[look], workspace=workspace, settings=UNRECORDED) as hf:
        refused = await failure(hf, "look", path="../a")
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "path")
        assert refused.message.startswith(f"stay below {workspace}")
        assert (await failure(hf, "look", path="/etc/passwd")).kind == FailureKind.REJECTED
        assert (await failure(hf, "look", path=3)).kind == FailureKind.INVALID_ARGS
        assert await result(hf, "look", path="a") == {"text": "a"}


async def test_explaining_a_call_asks_the_guard_too(workspace: Path) -> None:
    async with Holdfast(tools=[look], workspace=workspace, settings=UNRECORDED) as hf:
        told = await hf.explain("look", {"path": "../a"})
        assert isinstance(told, Failure)
        assert told.field == "path"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    return made
