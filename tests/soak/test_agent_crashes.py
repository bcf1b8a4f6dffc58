"""Agents killed over at least 200 sessions, and for as long as asked.

The share that `make test` runs is in `tests/agent_chaos`; `make soak SEED=1 MINUTES=10` runs this.
"""

import os
import time
from itertools import count
from pathlib import Path

import pytest
from agent_chaos.rounds import WORKER, killed_again_and_again
from forked_workers import workers

SEED = int(os.environ.get("SEED", "1"))
MINUTES = float(os.environ.get("MINUTES", "10"))
ROUNDS = int(os.environ.get("ROUNDS", "200"))
KILLS = 5


@pytest.mark.anyio
@pytest.mark.timeout(0)
async def test_agents_killed_at_any_moment(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a soak run; start it with: make soak SEED=1 MINUTES=10")
    until = time.monotonic() + 60 * MINUTES
    effects = 0
    with workers(WORKER) as at_work:
        for number in count():
            if number >= ROUNDS and time.monotonic() >= until:
                break
            folder = tmp_path / str(number)
            effects += await killed_again_and_again(folder, at_work, SEED * 10_000 + number, KILLS)
    assert effects > ROUNDS
