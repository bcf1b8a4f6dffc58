"""The benchmark of the journal still goes: a way that cannot be measured is noticed here."""

import subprocess
import sys
from pathlib import Path

WAYS = Path(__file__).parents[2] / "bench" / "journal_ways.py"


def test_each_way_of_writing_a_call_down_goes_once() -> None:
    done = subprocess.run(
        [sys.executable, str(WAYS)], capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "journal, 64 sessions, power" in done.stdout.splitlines()
    assert "journal, 64 sessions, PostgreSQL" in done.stdout.splitlines()
