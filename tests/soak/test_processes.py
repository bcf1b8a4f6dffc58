"""Ten thousand spawns and a hundred killed runtimes; `make test` runs a share of each.

The share is in `tests/execution/processes`; this is the long run.
"""

import asyncio
import os
from collections import Counter
from pathlib import Path

import pytest
from execution.processes.ground import IS_ROOT, each, opened, until_empty
from execution.processes.test_wardens import kill_at_random_moments, open_files, threads_of

from holdfast.execution.processes.command import Limits

SEED = int(os.environ.get("SEED", "1"))
SPAWNS = 10_000
KILLS = 100
AT_ONCE = 8


@pytest.fixture(autouse=True)
def soaking(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a soak run; start it with: make soak SEED=1 MINUTES=10")


@pytest.mark.timeout(0)
@each("namespaces" if IS_ROOT else "landlock", "landlock")
async def test_ten_thousand_spawns_leave_nothing(tmp_path: Path, kind: str) -> None:
    """Every one is counted, and no file and no thread stays, here or in the warden."""
    ended: Counter[int] = Counter()

    async def some(count: int) -> None:
        for number in range(count):
            report = await ground.run(f"echo {number}; exit {number % 3}", Limits(wall=60))
            assert report.ended is not None
            assert report.captured.stdout.head == f"{number}\n".encode()
            ended[report.ended.exit] += 1

    async with opened(tmp_path, kind) as ground:
        await asyncio.gather(*(some(20) for _ in range(AT_ONCE)))
        await asyncio.sleep(1)
        files, threads = open_files(ground), threads_of(ground)
        ended.clear()
        await asyncio.gather(*(some(SPAWNS // AT_ONCE) for _ in range(AT_ONCE)))
        assert sum(ended.values()) == SPAWNS
        async with asyncio.timeout(30):
            while open_files(ground) > files or threads_of(ground) > threads:
                await asyncio.sleep(0.1)
        await until_empty(ground.workspace)


@pytest.mark.timeout(0)
@each()
async def test_a_hundred_killed_runtimes_leave_nothing(tmp_path: Path, kind: str) -> None:
    await kill_at_random_moments(tmp_path, kind, SEED, KILLS)
