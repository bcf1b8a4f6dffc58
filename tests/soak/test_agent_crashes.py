"""The programs of agents killed at least 200 times while they run, and for as long as asked.

The share that `make test` runs is in `tests/agent_chaos`; `make soak SEED=1 MINUTES=10` runs this.
"""

import os
import time
from collections import Counter
from itertools import count
from pathlib import Path

import pytest
from agent_chaos.rounds import WORKER, one_session
from forked_workers import workers

SEED = int(os.environ.get("SEED", "1"))
MINUTES = float(os.environ.get("MINUTES", "10"))
KILLS = int(os.environ.get("KILLS", "200"))


@pytest.mark.anyio
@pytest.mark.timeout(0)
async def test_agents_killed_at_any_moment(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a soak run; start it with: make soak SEED=1 MINUTES=10")
    until = time.monotonic() + 60 * MINUTES
    killed: Counter[str] = Counter()
    with workers(WORKER) as at_work:
        for number in count(SEED * 10_000):
            if killed["kill"] >= KILLS and time.monotonic() >= until:
                break
            await one_session(tmp_path / str(number), at_work, number, killed)
    print(dict(killed))  # noqa: T201 - a soak run is looked at
    for kind in ("blocking", "background", "job"):
        assert killed[kind] >= KILLS / 10, f"hardly any kill hit a {kind} one: {killed}"
