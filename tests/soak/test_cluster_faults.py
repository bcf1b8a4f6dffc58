"""At least 200 rounds of faults over a cluster, and for as long as asked.

The share that `make test` runs is in `tests/engine/cluster_faults`; `make soak SEED=1 MINUTES=10`
runs this beside other long runs. By itself:

    SEED=1 ROUNDS=200 python -m pytest -q -s tests/soak/test_cluster_faults.py --run-soak

What is planned follows from the seed. A round that fails says how it is run alone; `FIRST=17
ROUNDS=1` begins with the one of that number. Everything is at hand for the super-user alone: for
others no disk gets full, and relays stand for networks that lose packets.
"""

import os
import statistics
import sys
import time
from itertools import count

import pytest
from engine.cluster_faults.disks import can_be_full
from engine.cluster_faults.plan import planned
from engine.cluster_faults.rounds import TAKEN_BY_LEASE_END, Rig, farm, rig

SEED = int(os.environ.get("SEED", "1"))
FIRST = int(os.environ.get("FIRST", "0"))
MINUTES = float(os.environ.get("MINUTES", "0"))
ROUNDS = int(os.environ.get("ROUNDS", "200"))
WORKERS = 3
MOST_IN_VAIN = 5
"""Faults of a kind, of which none hit anybody: it proves nothing then."""
TAKEN_SECONDS = 1.0


@pytest.mark.anyio
@pytest.mark.timeout(0)
async def test_faults_of_a_cluster(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a soak run; start it with: make soak SEED=1 MINUTES=10")
    until = time.monotonic() + 60 * MINUTES
    wrong: list[str] = []
    with farm() as servers:
        async with rig(servers, WORKERS) as at_work:
            for number in count(FIRST):
                if number >= FIRST + ROUNDS and time.monotonic() >= until:
                    break
                round_ = planned(SEED, number)
                found = await at_work.play(round_)
                again = f"again: SEED={SEED} FIRST={number} ROUNDS=1"
                wrong.extend(f"round {number} {round_.told}: {one}; {again}" for one in found)
                rested = f"{at_work.last_late} {at_work.rested[-1]:.1f} s"
                _say(f"{number} {round_.told}: {rested} {found or ''}")
                if found or max(at_work.last_late, default=0) > TAKEN_SECONDS:
                    _say(at_work.trouble())
            _say(_told(at_work))
    assert wrong == []
    assert _in_vain(at_work) == []
    assert _slow(at_work) == {}


def _in_vain(at_work: Rig) -> list[str]:
    """The kinds of faults that hit nobody, where they can."""
    impossible = () if can_be_full() else ("full", "full nats")
    return [
        kind
        for kind, times in at_work.played.items()
        if times >= MOST_IN_VAIN and kind not in impossible and not at_work.hits[kind]
    ]


def _slow(at_work: Rig) -> dict[str, float]:
    """Where nothing but a worker was in trouble, and another one was there too late."""
    most = {str(kind): max(at_work.late[str(kind)], default=0) for kind in TAKEN_BY_LEASE_END}
    return {kind: late for kind, late in most.items() if late > TAKEN_SECONDS}


def _told(at_work: Rig) -> str:
    hits = (f"{kind}: {at_work.hits[kind]} of {all_}" for kind, all_ in at_work.played.items())
    rested = f"at rest after {max(at_work.rested):.1f} s at most"
    return "\n".join((f"hit: {', '.join(hits)}", *_late(at_work), rested))


def _late(at_work: Rig) -> list[str]:
    return [
        f"{kinds}: {len(late)} taken over, {statistics.median(late):.3f} s, at most {max(late):.3f}"
        for kinds, late in at_work.late.items()
        if late
    ]


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")  # a soak run is looked at
    sys.stderr.flush()
