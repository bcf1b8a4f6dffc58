"""Agents killed at any moment: a share of what `make soak` does for longer."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from agent_chaos.rounds import WORKER, killed_again_and_again
from forked_workers import Workers, workers

SEED = int(os.environ.get("SEED", "1"))
ROUNDS = 12
KILLS = 4


@pytest.fixture(scope="module")
def at_work() -> Generator[Workers]:
    with workers(WORKER) as started:
        yield started


@pytest.mark.anyio
@pytest.mark.timeout(120)
@pytest.mark.parametrize("number", range(ROUNDS))
async def test_an_agent_comes_to_the_end_of_its_work_over_dead_programs(
    tmp_path: Path, at_work: Workers, number: int
) -> None:
    assert await killed_again_and_again(tmp_path, at_work, SEED * 1000 + number, KILLS) > 0
