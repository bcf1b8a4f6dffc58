"""What tests of MCP servers in sessions share: servers as tables, and sessions that have them."""

import shutil
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import msgspec
from tool_kit import UNRECORDED, opened

from holdfast import Holdfast
from holdfast.app.settings import Settings
from holdfast.app.source_settings import McpSettings
from holdfast.contract.call import Ask
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Rule

RAW = Path(__file__).parents[1] / "sources" / "mcp" / "raw_server.py"
"""A server of plain Python, which misbehaves as it is told."""


def raw(workspace: Path, mode: str = "plain", **more: object) -> McpSettings:
    script = workspace.parent / "raw_server.py"
    shutil.copy(RAW, script)
    return server(script, mode, **more)


def server(script: Path, *arguments: str, **more: object) -> McpSettings:
    table = {"command": [sys.executable, str(script), *arguments], "era": "2025-11-25", **more}
    return msgspec.convert(table, McpSettings)


def configured(**servers: McpSettings) -> Settings:
    return Settings(store=UNRECORDED.store, mcp=servers)


def session(
    workspace: Path, settings: Settings, **options: Any
) -> AbstractAsyncContextManager[Holdfast]:
    """One in which a rule lets every tool of every server run."""
    rules = [*options.pop("rules", ()), allowed("mcp:*")]
    return opened(workspace, "locked", settings=settings, rules=rules, **options)


async def yes(_ask: Ask) -> Answer:
    return Answer(allowed=True, by="a person")


def allowed(pattern: str) -> Rule:
    return Rule(permission=pattern, pattern="*", action="allow", scope="project", source="a test")


async def until(happened: Callable[[], bool]) -> None:
    """Look until it has."""
    if not happened():
        await anyio.sleep(0.01)
        await until(happened)
