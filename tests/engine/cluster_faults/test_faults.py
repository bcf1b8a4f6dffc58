"""A share of the faults, kind by kind; the long run is in `tests/soak`.

Workers that are killed or stand still, servers that go and come back, ways that are cut, a disk
that is full: whatever was said is taken into account once, has its effect once at the most, and
every journal verifies.
"""

from collections.abc import Generator

import pytest
from engine.cluster_faults.plan import KINDS, planned
from engine.cluster_faults.rounds import TAKEN_BY_LEASE_END, Farm, farm, rig

pytestmark = pytest.mark.anyio
SEED = 11
STUCK_SECONDS = 10.0
TAKEN_SECONDS = 5.0
"""Generous, as the machine may be busy: what was measured is in design/0031."""


@pytest.fixture(scope="module")
def servers() -> Generator[Farm]:
    with farm() as found:
        yield found


def test_a_plan_is_the_same_for_the_same_seed() -> None:
    rounds = [planned(SEED, number) for number in range(len(KINDS))]
    assert rounds == [planned(SEED, number) for number in range(len(KINDS))]
    assert rounds != [planned(SEED + 1, number) for number in range(len(KINDS))]
    assert {kind for one in rounds for kind in one.kinds} == {*KINDS}


@pytest.mark.parametrize("numbers", [(0, 1), (2, 3), (4, 5), (6, 7), (8,)])
async def test_nothing_is_lost_and_nothing_happens_twice(
    servers: Farm, numbers: tuple[int, ...]
) -> None:
    async with rig(servers, patience=STUCK_SECONDS) as at_work:
        for number in numbers:
            assert await at_work.play(planned(SEED, number)) == []
    for kind in TAKEN_BY_LEASE_END:
        assert max(at_work.late[kind], default=0) < TAKEN_SECONDS
