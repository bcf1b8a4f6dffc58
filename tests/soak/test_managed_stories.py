"""Stories of a managed agent whose program is killed anywhere, for as long as asked.

A share runs with the tests, in `tests/managed_story`; `make soak SEED=1 MINUTES=10` runs this.
"""

import os
import time
from itertools import count
from pathlib import Path

import pytest
from forked_workers import workers
from managed_story.rounds import WORKER, told_over_kills

SEED = int(os.environ.get("SEED", "1"))
MINUTES = float(os.environ.get("MINUTES", "10"))
STORIES = 10


@pytest.mark.anyio
@pytest.mark.timeout(0)
async def test_stories_killed_anywhere(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a soak run; start it with: make soak SEED=1 MINUTES=10")
    until = time.monotonic() + 60 * MINUTES
    killed = 0
    with workers(WORKER) as at_work:
        for number in count(SEED * 10_000):
            if number >= SEED * 10_000 + STORIES and time.monotonic() >= until:
                break
            killed += await told_over_kills(tmp_path / str(number), at_work, number)
    assert killed >= STORIES
