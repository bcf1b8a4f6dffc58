"""A manifest that changes while it is served: clients are told, and call what there is then."""

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp_sdk import server_for

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    programs = tmp_path / "tools" / "bin"
    programs.mkdir(parents=True)
    for name in ("first", "second"):
        program = programs / name
        program.write_text(f'#!/bin/bash\necho \'{{"am":"{name}"}}\'\n', "utf-8")
        program.chmod(0o755)
    path = tmp_path / "tools.json"
    declare(path, "first")
    return path


def declare(path: Path, *names: str) -> None:
    tools = [{"name": name, "command": [f"./tools/bin/{name}"]} for name in names]
    written = path.with_name("tools.json.new")
    written.write_text(json.dumps({"tools": tools}), "utf-8")
    written.replace(path)


@asynccontextmanager
async def connected(transport: str, manifest: Path, heard: anyio.Event) -> AsyncGenerator[Client]:
    home, work = manifest.parent / "home", manifest.parent / "work"
    home.mkdir(mode=0o700)
    work.mkdir()

    async def hear(message: Any) -> None:
        if "tools/list_changed" in str(getattr(message, "method", "")):
            heard.set()

    words = ["--manifest", str(manifest)]
    async with AsyncExitStack() as stack:
        server = await server_for(transport, home, work, words, stack)
        client = Client(server, mode="legacy", message_handler=hear)
        yield await stack.enter_async_context(client)


@pytest.mark.parametrize("transport", ["pipe", "http"])
async def test_a_client_is_told_and_calls_the_new_one(transport: str, manifest: Path) -> None:
    heard = anyio.Event()
    async with connected(transport, manifest, heard) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "first" in names
        assert "second" not in names
        called = await client.call_tool("first", {})
        assert called.structured_content == {"am": "first"}
        declare(manifest, "second")
        await heard.wait()
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "first" not in names
        called = await client.call_tool("second", {})
        assert called.structured_content == {"am": "second"}


@pytest.mark.parametrize("transport", ["pipe", "http"])
async def test_a_tool_of_a_server_that_is_not_there_is_unavailable(
    transport: str, tmp_path: Path
) -> None:
    """To a client it is a call that failed, not a tool that nobody knows."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir(mode=0o700)
    work.mkdir()
    (home / "config.toml").write_text('[mcp.dead]\ncommand = ["false"]\n', "utf-8")
    async with AsyncExitStack() as stack:
        server = await server_for(transport, home, work, [], stack)
        client = await stack.enter_async_context(Client(server, mode="legacy"))
        answer = await client.call_tool("dead_echo", {})
        assert answer.is_error
        assert "mcp server dead is unavailable: " in str(answer.content)
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.session.call_tool("living_echo", {})
