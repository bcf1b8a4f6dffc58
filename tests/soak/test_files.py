"""Files under attack and killed at every step, for as long as asked; `make test` runs a share.

The share is in `tests/execution/files`; this is the long run.
"""

import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest
from execution.files import race
from execution.files.test_crash import killed

SEED = int(os.environ.get("SEED", "1"))
MINUTES = float(os.environ.get("MINUTES", "10"))
SWAPS = 20_000


@pytest.fixture
def until(request: pytest.FixtureRequest) -> float:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a soak run; start it with: make soak SEED=1 MINUTES=10")
    return time.monotonic() + 60 * MINUTES / 2


@pytest.mark.timeout(0)
def test_no_link_wins_any_of_many_races(tmp_path: Path, until: float) -> None:
    """At least 20,000 swaps, and every use makes progress."""
    swaps, seed = 0, SEED
    done: Counter[str] = Counter()
    while swaps < SWAPS or time.monotonic() < until:
        counted = race.fight(tmp_path / str(seed), seed, _long)
        swaps += counted.pop("attacker")["swaps"]
        for name, endings in counted.items():
            assert endings["escaped"] == 0, f"{name}, seed {seed}: {endings}"
            done[name] += endings["done"]
        seed += 1
    assert min(done.values()) >= 100, done


def _long(_name: str, counted: Counter[str]) -> bool:
    return counted["done"] < 100


@pytest.mark.timeout(0)
def test_undo_is_right_wherever_a_process_was_killed(tmp_path: Path, until: float) -> None:
    dice, kills = random.Random(SEED), 0
    while time.monotonic() < until or not kills:
        kills += killed(tmp_path, dice.randrange(1 << 30), dice.choice(["change", "undo"]))
    assert kills > 0
