"""Servers that take their time: nobody waits for them who does not want to, and none is lost."""

from pathlib import Path

import anyio
import pytest
from app.servers_kit import configured, server, session, until
from tool_kit import failure, result

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(90)]

RAW = Path(__file__).parents[1] / "sources" / "mcp" / "raw_server.py"
LATE = """
import os, sys, time
sign, way = sys.argv[1:]
while not os.path.exists(sign):
    if way == "fails":
        sys.exit("not yet")
    time.sleep(0.01)
sys.argv[1:] = ["plain"]
"""


@pytest.fixture
def late(workspace: Path) -> Path:
    script = workspace.parent / "late.py"
    script.write_text(LATE + RAW.read_text("utf-8"), "utf-8")
    return script


@pytest.mark.parametrize("way", ["waits", "fails"])
async def test_what_comes_late_is_offered_from_the_next_turn_on(
    workspace: Path, late: Path, way: str
) -> None:
    sign = workspace / "sign"
    table = server(late, str(sign), way, requires={"read": [f"{workspace}/**"]})
    async with session(workspace, configured(late=table), server_patience=0.0) as hf:
        assert not [tool for tool in hf.tools if tool.name.startswith("late_")]
        refused = await failure(hf, "late_echo", text="x")
        assert (refused.kind, refused.retryable) == ("unavailable", True)
        if way == "fails":
            with anyio.fail_after(30):
                await hf.servers_settled()
            assert hf.servers[0].status in ("failed", "connecting")
        sign.touch()
        with anyio.fail_after(60):
            await until(hf.take_changes)
        assert await result(hf, "late_echo", text="x") == {"text": "x"}


async def test_without_a_word_opening_waits_for_them(workspace: Path, late: Path) -> None:
    sign = workspace / "sign"
    table = server(late, str(sign), "waits", requires={"read": [f"{workspace}/**"]})
    opening = session(workspace, configured(late=table))

    async def make_ready() -> None:
        await anyio.sleep(0.2)
        sign.touch()

    async with anyio.create_task_group() as others:
        others.start_soon(make_ready)
        async with opening as hf:
            assert sign.exists()
            assert await result(hf, "late_echo", text="x") == {"text": "x"}
