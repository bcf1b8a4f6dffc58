"""MCP servers behind ours that take their time: clients have all other tools at once."""

import sys
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from mcp_peer import MODERN, peer

from holdfast.app.settings import Settings
from holdfast.app.source_settings import McpSettings
from holdfast.surfaces.mcp import served as served_module

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

RAW = Path(__file__).parents[1] / "sources" / "mcp" / "raw_server.py"
LATE = """
import os, sys, time
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
sys.argv[1:] = ["plain"]
"""


@pytest.fixture
def sign(tmp_path: Path) -> Path:
    return tmp_path / "work" / "sign"


@pytest.fixture
def impatient(tmp_path: Path, sign: Path) -> dict[str, Any]:
    """Options of a session with a server that is there once the sign is, and that nobody awaits."""
    script = tmp_path / "late.py"
    script.write_text(LATE + RAW.read_text("utf-8"), "utf-8")
    sign.parent.mkdir()
    command = [sys.executable, str(script), str(sign)]
    reads = {"read": [f"{sign.parent}/**"]}
    table = {"command": command, "era": "2025-11-25", "requires": reads, "startup_seconds": 3600}
    settings = Settings(mcp={"late": msgspec.convert(table, McpSettings)})
    return {
        "settings": settings,
        "profile": "locked",
        "workspace": sign.parent,
        "server_patience": 0.0,
    }


async def test_a_client_has_everything_else_at_once_and_is_told_of_the_rest(
    tool_file: Path, impatient: dict[str, Any], sign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served_module, "PATIENCE_SECONDS", 0.1)
    async with peer(tool_file, **impatient) as one, anyio.create_task_group() as watching:
        one.client.listed_to(one)
        watching.start_soon(one.served.watch)
        await one.greet()
        first = await one.asked("tools/list")
        names = {tool["name"] for tool in first["result"]["tools"]}
        assert names
        assert "late_echo" not in names
        modern = await one.asked("tools/list", _meta=MODERN)
        assert modern["result"]["ttlMs"] == 0  # it is another one soon
        away = await one.asked("tools/call", name="late_echo", arguments={"text": "x"})
        assert "it is being connected" in away["result"]["content"][0]["text"]
        sign.touch()
        await one.until(lambda told: told.get("method") == "notifications/tools/list_changed")
        second = await one.asked("tools/list", _meta=MODERN)
        assert {tool["name"] for tool in second["result"]["tools"]} >= {*names, "late_echo"}
        assert second["result"]["ttlMs"] > 0
        watching.cancel_scope.cancel()


async def test_a_list_waits_a_moment_for_those_that_are_there_soon(
    tool_file: Path, impatient: dict[str, Any], sign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served_module, "PATIENCE_SECONDS", 45.0)
    async with peer(tool_file, **impatient) as one:
        await one.greet()
        own = one.ask("tools/list")
        assert (await one.asked("ping"))["result"] == {}  # nothing else waits
        sign.touch()
        told = await one.answer(own)
        assert "late_echo" in {tool["name"] for tool in told["result"]["tools"]}
