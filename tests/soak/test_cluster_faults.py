"""At least 200 rounds of faults over a cluster, and for as long as asked.

The share that `make test` runs is in `tests/engine/cluster_faults`; `make soak SEED=1 MINUTES=10`
runs this. What is planned follows from the seed.
"""

import os
import statistics
import sys
import time
from collections import Counter
from itertools import count

import pytest
from engine.cluster_faults.plan import planned
from engine.cluster_faults.postgres_node import can_be_full
from engine.cluster_faults.rounds import Rig, farm, rig

SEED = int(os.environ.get("SEED", "1"))
MINUTES = float(os.environ.get("MINUTES", "10"))
ROUNDS = int(os.environ.get("ROUNDS", "200"))
WORKERS = 3


@pytest.mark.anyio
@pytest.mark.timeout(0)
async def test_faults_of_a_cluster(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a soak run; start it with: make soak SEED=1 MINUTES=10")
    until = time.monotonic() + 60 * MINUTES
    wrong: list[str] = []
    kinds: Counter[str] = Counter()
    with farm() as servers:
        async with rig(servers, WORKERS) as at_work:
            for number in count():
                if number >= ROUNDS and time.monotonic() >= until:
                    break
                round_ = planned(SEED, number)
                found = await at_work.play(round_)
                kinds.update(round_.kinds)
                wrong.extend(f"round {number} {round_.kinds}: {one}" for one in found)
                _say(f"{number} {round_.kinds} {at_work.rested[-1]:.1f} s {found or ''}")
                if found:
                    _say(at_work.trouble())
            _say(f"{dict(kinds)}; {_late(at_work)}; wrong: {len(wrong)}")
            full = at_work.refused_as_full
            _say(f"at rest after {max(at_work.rested):.1f} s at most; refused as full: {full}")
    assert wrong == []
    assert full or not can_be_full()


def _late(at_work: Rig) -> dict[str, str]:
    return {
        kind: f"{len(late)} taken over, {statistics.median(late):.3f} s, at most {max(late):.3f} s"
        for kind, late in at_work.late.items()
        if late
    }


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")  # a soak run is looked at
    sys.stderr.flush()
