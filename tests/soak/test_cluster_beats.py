"""Rounds in which workers are hit while confined processes of their tools run.

    SEED=1 ROUNDS=20 python -m pytest -q -s tests/soak/test_cluster_beats.py --run-soak

A round that fails says how it is run alone.
"""

import os
import sys
import time
from collections import Counter
from itertools import count

import pytest
from engine.cluster_faults.beats import HITS, Hit, ward
from engine.cluster_faults.disks import can_be_full
from engine.cluster_faults.rounds import farm

SEED = int(os.environ.get("SEED", "1"))
FIRST = int(os.environ.get("FIRST", "0"))
MINUTES = float(os.environ.get("MINUTES", "0"))
ROUNDS = int(os.environ.get("ROUNDS", "20"))
MOST_IN_VAIN = 4
TAKEN_SECONDS = 1.0


@pytest.mark.anyio
@pytest.mark.timeout(0)
async def test_no_process_outlives_its_workers_right(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a soak run; start it with: make soak SEED=1 MINUTES=10")
    until = time.monotonic() + 60 * MINUTES
    wrong: list[str] = []
    late: list[str] = []
    played: Counter[Hit] = Counter()
    hits: Counter[Hit] = Counter()
    with farm() as servers:
        async with ward(servers) as watched:
            for number in count(FIRST):
                if number >= FIRST + ROUNDS and time.monotonic() >= until:
                    break
                found = await watched.play(SEED, number)
                kind: Hit = HITS[number % len(HITS)]
                played[kind] += 1
                hits[kind] += found.hit > 0
                again = f"round {number} {kind}; again: SEED={SEED} FIRST={number} ROUNDS=1"
                wrong.extend(f"{one} in {again}" for one in found.wrong)
                late.extend(f"{one:.2f} s in {again}" for one in found.late if one > TAKEN_SECONDS)
                _say(f"{number} {kind} {found}")
                if found.wrong:
                    for worker in watched.workers:
                        _say(worker.trouble()[-4000:])
    _say(f"{dict(played)}; hit: {dict(hits)}")
    assert wrong == []
    assert late == []
    if not can_be_full():
        del played["full home"]
    assert [one for one, times in played.items() if times >= MOST_IN_VAIN and not hits[one]] == []


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")  # a soak run is looked at
    sys.stderr.flush()
