"""Killed at any step, while changing or while taking back: undo still leads back to the byte."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from this_tree import this_tree

TESTS = Path(__file__).parents[2]
SEED = int(os.environ.get("SEED", "1"))


def killed(folder: Path, seed: int, what: str, first: int = 1, stride: int = 1) -> int:
    """How often it was killed; the program itself looks whether undo was right."""
    result = subprocess.run(
        [
            *(sys.executable, str(Path(__file__).with_name("crash.py"))),
            *(str(folder), str(seed), what, str(first), str(stride)),
        ],
        env=this_tree(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return int(result.stdout)


@pytest.mark.parametrize("what", ["change", "undo"])
def test_a_process_killed_at_any_step_leaves_what_undo_can_put_right(
    tmp_path: Path, what: str
) -> None:
    assert killed(tmp_path, SEED, what, first=1 + SEED % 3, stride=3) > 20
