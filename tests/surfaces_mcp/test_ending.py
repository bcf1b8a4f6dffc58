"""How it ends: everybody has their last word, and nobody can hold it up."""

import signal
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp_peer import MODERN, peer
from mcp_pipe import GREETING, Piped
from mcp_process import serving

pytestmark = pytest.mark.timeout(60)


def listen(piped: Piped) -> None:
    params: dict[str, Any] = {"_meta": MODERN, "notifications": {"toolsListChanged": True}}
    asked = {"jsonrpc": "2.0", "id": "L", "method": "subscriptions/listen", "params": params}
    piped.say(asked)
    assert piped.hear()["method"] == "notifications/subscriptions/acknowledged"


@pytest.mark.parametrize("by", ["the end of input", "a signal"])
def test_who_listens_is_told_that_it_is_over(piped: Piped, by: str) -> None:
    listen(piped)
    if by == "a signal":
        piped.process.send_signal(signal.SIGTERM)
    else:
        piped.stdin.close()
    told = piped.hear()
    assert (told["id"], told["result"]["resultType"]) == ("L", "complete")
    assert piped.process.wait(20) == 0


@pytest.mark.anyio
async def test_work_that_swallows_its_cancellation_is_ended_all_the_same(
    stubborn_file: Path, tmp_path: Path
) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    async with peer(stubborn_file) as one:
        await one.greet()
        one.ask("tools/call", name="stay", arguments={"marks": str(marks), "times": 2})
        with anyio.fail_after(20):
            while not (marks / "began").exists():  # noqa: ASYNC110 - the tool tells nobody
                await anyio.sleep(0.01)
        one.client.end()
        with anyio.fail_after(20):
            await one.client.close()
        assert (marks / "left").exists()
        assert (marks / "cancelled-1").exists()


def test_a_tool_that_is_hard_to_end_holds_no_process_up(
    piped_stubborn: Piped, tmp_path: Path
) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    piped_stubborn.greet()
    piped_stubborn.call(1, "stay", marks=str(marks), times=4)
    while not (marks / "began").exists():
        pass
    piped_stubborn.process.send_signal(signal.SIGTERM)
    assert piped_stubborn.process.wait(40) is not None


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_over_http_it_holds_nobody_up_either(
    stubborn_file: Path, tmp_path: Path, era: str
) -> None:
    home, work, marks = (tmp_path / name for name in ("home", "work", "marks"))
    home.mkdir(mode=0o700)
    for folder in (work, marks):
        folder.mkdir()
    call: dict[str, Any] = {"name": "stay", "arguments": {"marks": str(marks), "times": 4}}
    async with serving(home, work, "--from", str(stubborn_file)) as server:
        headers = {"Authorization": f"Bearer {server.token}", "Accept": "application/json"}
        headers["Accept"] += ", text/event-stream"
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as client,
            anyio.create_task_group() as calls,
        ):
            if era == "legacy":
                greeted = await client.post(server.url, json=GREETING)
                client.headers["Mcp-Session-Id"] = greeted.headers["mcp-session-id"]
            else:
                call["_meta"] = MODERN
                client.headers["MCP-Protocol-Version"] = "2026-07-28"
                client.headers["Mcp-Method"], client.headers["Mcp-Name"] = "tools/call", "stay"
            asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            calls.start_soon(partial(_sent, client, server.url, asked))
            with anyio.fail_after(20):
                while not (marks / "began").exists():  # noqa: ASYNC110 - the tool tells nobody
                    await anyio.sleep(0.01)
            server.process.terminate()
            with anyio.fail_after(40):
                await server.process.wait()
            calls.cancel_scope.cancel()


async def _sent(client: httpx2.AsyncClient, url: str, asked: dict[str, Any]) -> None:
    with suppress(httpx2.HTTPError):  # the server may end first
        await client.post(url, json=asked)
