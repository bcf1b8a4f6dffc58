"""Callers go away at any moment: the server stays, and the next call works."""

import random
from pathlib import Path

import anyio
import pytest
from sources.mcp.mcp_kit import connected, ports, raw, sandbox, settled
from sources.mcp.sdk_http import http_server

from holdfast.sources.mcp.servers import McpServers
from holdfast.sources.mcp.setup import ServerSetup

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

CANCELS = 200


async def cancelled_at_random(servers: McpServers, server: str, seed: int) -> None:
    """So many calls of which each is given up at another moment, several at a time."""
    dice = random.Random(seed)
    ended = 0

    async def one(tool: str, after: float) -> None:
        nonlocal ended
        with anyio.move_on_after(after):
            await settled(servers, f"{server}_{tool}", {"text": "x"})
        ended += 1

    for _ in range(CANCELS // 20):
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tool = dice.choice(("echo", "slow", "never"))
                tasks.start_soon(one, tool, dice.uniform(0, 0.05))
    assert ended == CANCELS


@pytest.mark.parametrize("seed", [1, 2])
async def test_two_hundred_cancels_of_a_program_leave_it_connected(
    workspace: Path, seed: int
) -> None:
    async with sandbox(workspace) as start:
        given = ports(workspace.parent / "state", start)
        async with connected(given, raw(workspace)) as servers:
            assert (await settled(servers, "raw_echo", {"text": "before"})).ok
            await cancelled_at_random(servers, "raw", seed)
            answer = await settled(servers, "raw_echo", {"text": "after"})
            assert answer.result == {"text": "after"}
            assert servers.states()[0].status == "connected"


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_two_hundred_cancels_over_http_leave_it_connected(tmp_path: Path, era: str) -> None:
    async with http_server() as url:
        setup = ServerSetup(name="web", url=url, era=era)  # pyright: ignore[reportArgumentType] - parametrized
        async with connected(ports(tmp_path), setup) as servers:
            assert (await settled(servers, "web_echo", {"text": "before"})).ok
            await cancelled_at_random(servers, "web", 3)
            answer = await settled(servers, "web_echo", {"text": "after"})
            assert answer.result == {"result": "after"}
            assert servers.states()[0].status == "connected"
