"""The inspector, as people use it at the command line, lists and calls our tools."""

import json
import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest
from command import HOLDFAST, TOOLS
from mcp_process import NODE_BIN, script, serving, variables

pytestmark = pytest.mark.timeout(120)


async def _inspected(home: Path, target: list[str], *words: str) -> Any:
    inspector = script(
        "@modelcontextprotocol/inspector", "clients", "launcher", "build", "index.js"
    )
    command = [str(NODE_BIN / "node"), inspector, "--cli", *target, *words]
    done = await anyio.run_process(
        command,
        env={**variables(home), "HOME": str(home)},
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    return json.loads(done.stdout)


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path, Path]:
    home, work, tools = tmp_path / "home", tmp_path / "work", tmp_path / "mine.py"
    home.mkdir(mode=0o700)
    work.mkdir()
    tools.write_text(TOOLS, "utf-8")
    return home, work, tools


async def _looked_at(home: Path, target: list[str]) -> None:
    listed = await _inspected(home, target, "--method", "tools/list")
    names = [one["name"] for one in listed["tools"]]
    assert {"add", "wipe", "read", "bash"} <= set(names)
    words = ("--method", "tools/call", "--tool-name", "add", "--tool-arg", "a=2", "b=3")
    called = await _inspected(home, target, *words)
    assert called["structuredContent"] == {"sum": 5}
    assert called["isError"] is False
    found = await _inspected(home, target, "--method", "resources/list")
    assert found["resources"] == []


async def test_it_lists_and_calls_over_a_pipe(places: tuple[Path, Path, Path]) -> None:
    home, work, tools = places
    own = {
        "command": str(HOLDFAST),
        "args": ["mcp", "--from", str(tools), "--workspace", str(work)],
        "env": {"HOLDFAST_HOME": str(home)},
    }
    servers = home.parent / "servers.json"
    servers.write_text(json.dumps({"mcpServers": {"holdfast": own}}), "utf-8")
    await _looked_at(home, ["--config", str(servers), "--server", "holdfast"])


async def test_it_lists_and_calls_over_http(places: tuple[Path, Path, Path]) -> None:
    home, work, tools = places
    async with serving(home, work, "--from", str(tools)) as server:
        token = f"Authorization: Bearer {server.token}"
        await _looked_at(home, [server.url, "--transport", "http", "--header", token])
