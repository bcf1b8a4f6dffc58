"""The benchmark of the agent loop still goes: a row that cannot be measured is noticed here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

LOOP = Path(__file__).parents[2] / "bench" / "agent_loop.py"


@pytest.mark.timeout(60)
def test_each_loop_that_needs_no_peer_asks_twice_and_calls_once() -> None:
    done = subprocess.run(
        [sys.executable, str(LOOP), "--once"],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [row["role"] for row in json.loads(done.stdout)] == [
        "limit",
        "floor",
        "ours",
        "also ours",
        "also ours",
    ]
