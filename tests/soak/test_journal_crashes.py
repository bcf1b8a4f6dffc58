"""Workers killed at least 300 times over each store, and for as long as asked.

The share that `make test` runs is in `tests/record`; `make soak SEED=1 MINUTES=10` runs this.
"""

import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path

import pytest
from forked_workers import workers
from postgres_server import running_server
from record.crash_rounds import KILLS_A_HOME, WORKER, killed_again_and_again
from record.crash_stores import Place

from holdfast.record.sqlite.connection import Durability

SEED = int(os.environ.get("SEED", "1"))
MINUTES = float(os.environ.get("MINUTES", "10"))
KILLS = 300
STORES = 3


@pytest.fixture
def until(request: pytest.FixtureRequest) -> float:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a soak run; start it with: make soak SEED=1 MINUTES=10")
    return time.monotonic() + 60 * MINUTES / STORES


Home = Callable[[], AbstractContextManager[Place]]


def kill_on(homes: Home, until: float) -> None:
    """A new home every few kills: what is checked after each stays small."""
    kills, seeds = 0, count(SEED * 1000)
    with workers(WORKER) as at_work:
        while kills < KILLS or time.monotonic() < until:
            with homes() as place:
                assert killed_again_and_again(place, at_work, next(seeds), KILLS_A_HOME) > 0
            kills += KILLS_A_HOME


def folders(tmp_path: Path) -> Iterator[str]:
    return (str(_made(tmp_path / str(number))) for number in count())


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.timeout(0)
@pytest.mark.parametrize("durability", ["process", "power"])
def test_kills_over_a_file(tmp_path: Path, until: float, durability: Durability) -> None:
    homes = folders(tmp_path)

    @contextmanager
    def home() -> Generator[Place]:
        yield Place(kind="sqlite", home=next(homes), durability=durability)

    kill_on(home, until)


@pytest.mark.timeout(0)
def test_kills_over_a_server(tmp_path: Path, until: float) -> None:
    homes = folders(tmp_path)
    with running_server() as server:

        @contextmanager
        def home() -> Generator[Place]:
            with server.database() as url:
                yield Place(kind="postgres", home=next(homes), url=url)

        kill_on(home, until)
