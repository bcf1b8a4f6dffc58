"""Patches against git, for as long as asked; `make test` runs a share.

The share is in `tests/tools/code/test_patch_oracle.py`; this is the long run.
"""

import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest
from patch_dice import judged, made

SEED = int(os.environ.get("SEED", "1"))
MINUTES = float(os.environ.get("MINUTES", "10"))


@pytest.mark.timeout(0)
def test_patches_end_as_with_git(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a soak run; start it with: make soak SEED=1 MINUTES=10")
    until = time.monotonic() + 60 * MINUTES
    ends: Counter[str] = Counter()
    seed = SEED
    while time.monotonic() < until:
        tree, patch = made(random.Random(seed), tmp_path)
        try:
            ends[judged(tree, patch, tmp_path)] += 1
        except AssertionError as problem:
            pytest.fail(f"seed {seed}: {problem}\n{tree}\n{patch!r}")
        seed += 1
    assert ends["applied by both"] > 0, ends
