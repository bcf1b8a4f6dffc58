"""Work in the background that ended with its program: whoever takes the session up hears of it."""

import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from agent.lost_child_program import CODER, REVIEWER
from agents_at_work import at_work
from this_tree import this_tree

from holdfast.agent.beginning import LOST
from holdfast.contract.events import ChildIdle, StatusChanged

PROGRAM = Path(__file__).with_name("lost_child_program.py")


@pytest.mark.anyio
async def test_a_lost_child_is_a_reason_to_run_although_nobody_said_anything(
    tmp_path: Path,
) -> None:
    (tmp_path / "work").mkdir()
    killed = await anyio.run_process(
        [sys.executable, str(PROGRAM), str(tmp_path)], env=this_tree(), check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    options: dict[str, Any] = {
        "profile": "locked",
        "agent": CODER,
        "subagents": REVIEWER,
        "session": killed.stdout.decode(),
        "workspace": tmp_path / "work",
    }
    async with at_work(tmp_path, ["Somebody has to."], **options) as desk:
        before = await desk.state()
        assert (before.status, before.pending, before.wakes) == ("idle", (), ())
        end = await desk.session.wake()
        assert (end.executed, end.response) == (True, "Somebody has to.")
        began = [one for one in await desk.payloads(StatusChanged) if one.to_status == "running"]
        assert began[-1].reason == "work in the background was lost"
        (lost,) = await desk.payloads(ChildIdle)
        assert (lost.summary, lost.child_stop_reason) == (LOST, "terminated")
        assert LOST in str(desk.rows()[-1].content)
        assert (await desk.session.wake()).executed is False, "it is heard of once"
