"""Agents killed at any moment: a share of what `make soak` does for longer."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from agent_chaos.rounds import WORKER, killed_so_often
from forked_workers import Workers, workers

SEED = int(os.environ.get("SEED", "1"))
SHARES = 4
KILLS = 10


@pytest.fixture(scope="module")
def at_work() -> Generator[Workers]:
    with workers(WORKER) as started:
        yield started


@pytest.mark.anyio
@pytest.mark.timeout(120)
@pytest.mark.parametrize("share", range(SHARES))
async def test_agents_come_to_the_end_of_their_work_over_dead_programs(
    tmp_path: Path, at_work: Workers, share: int
) -> None:
    killed = await killed_so_often(tmp_path, at_work, SEED * 1000 + 100 * share, KILLS)
    assert killed["kill"] >= KILLS
    assert killed["blocking"] + killed["background"] >= 2, "no subagent was under way"
    assert killed["job"] >= 1, "nothing ran in the background"
