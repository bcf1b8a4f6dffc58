"""Workers killed at any moment, on both stores: a share of what `make soak` does for longer."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from forked_workers import Workers, workers
from record.crash_rounds import WORKER, killed_again_and_again
from record.crash_stores import Place

from holdfast.record.sqlite.connection import Durability

SEED = int(os.environ.get("SEED", "1"))
KILLS = 12


@pytest.fixture(scope="module")
def at_work() -> Generator[Workers]:
    with workers(WORKER) as started:
        yield started


@pytest.mark.timeout(90)
@pytest.mark.parametrize("durability", ["process", "power"])
def test_a_share_of_kills_over_a_file(
    tmp_path: Path, at_work: Workers, durability: Durability
) -> None:
    place = Place(kind="sqlite", home=str(tmp_path), durability=durability)
    assert killed_again_and_again(place, at_work, SEED, KILLS) > 0


@pytest.mark.timeout(90)
def test_a_share_of_kills_over_a_server(
    tmp_path: Path, at_work: Workers, postgres_url: str
) -> None:
    place = Place(kind="postgres", home=str(tmp_path), url=postgres_url)
    assert killed_again_and_again(place, at_work, SEED, KILLS) > 0
