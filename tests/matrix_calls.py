"""A call of every built-in tool that works, and the workspace it works in."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tool_kit import UNRECORDED, opened

from holdfast.app.holdfast import Holdfast
from holdfast.app.profiles import PROFILES, TOOLSETS
from holdfast.app.settings import LimitSettings, Settings

NOT_IN_THE_WORKSPACE = ("/etc/passwd", "../outside.txt", "link_to_outside/passwd")

CALLS: Mapping[str, dict[str, Any]] = {
    "todo": {"todos": [{"content": "a", "active_form": "doing a", "status": "pending"}]},
}


@asynccontextmanager
async def at_work(
    workspace: Path, tool: str, limits: LimitSettings | None = None
) -> AsyncGenerator[Holdfast]:
    """A session that has the tool, over a small project."""
    _furnish(workspace)
    settings = Settings(store=UNRECORDED.store, limits=limits or LimitSettings())
    async with opened(workspace, _profile_with(tool), settings=settings) as hf:
        yield hf


def _profile_with(tool: str) -> str:
    for name in ("code", "host"):
        sets = PROFILES[name].toolsets or ()
        if any(tool == one.name for toolset in sets for one in TOOLSETS[toolset]):
            return name
    raise LookupError(f"no profile has {tool}")


def _furnish(workspace: Path) -> None:
    (workspace / "src").mkdir(exist_ok=True)
    (workspace / "src" / "app.py").write_text("def add(a, b):\n    return a + b\n", "utf-8")
    (workspace / "README.md").write_text("# A project\n\nIt adds.\n", "utf-8")
    (workspace.parent / "outside.txt").write_text("secret\n", "utf-8")
    (workspace / "link_to_outside").symlink_to("/etc")
