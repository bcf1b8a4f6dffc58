"""A share of the faults, for every run of the tests; the long runs are in `tests/soak`.

Whatever was said is taken into account once, has its effect once at the most, and every journal
verifies. How soon that is so is measured where a machine has nothing else to do.

    SEED=1 ROUNDS=200 python -m pytest -q -s tests/soak/test_cluster_faults.py --run-soak

A soak run also runs a round of every kind here.
"""

import socket
import subprocess
import sys
from collections.abc import Generator

import pytest
from engine.cluster_faults.cables import Direction, can_be_laid, machine
from engine.cluster_faults.disks import can_be_full, disk
from engine.cluster_faults.oracle import Outage, Takeover
from engine.cluster_faults.plan import KINDS, Fault, Round, planned
from engine.cluster_faults.rounds import Farm, Rig, farm, rig

pytestmark = pytest.mark.anyio
SEED = 11
STUCK_SECONDS = 45.0
SHORT = {0: "kill", 1: "zombie", 3: "postgres", 7: "mute postgres"}
"""The rounds that are always run, by their numbers, and what goes wrong in them."""
_SAYS = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2])), 10) as connection:
    while word := connection.recv(1):
        connection.sendall(word)
"""


@pytest.fixture(scope="module")
def servers() -> Generator[Farm]:
    with farm() as found:
        yield found


def test_a_plan_is_the_same_for_the_same_seed() -> None:
    rounds = [planned(SEED, number) for number in range(2 * len(KINDS))]
    assert rounds == [planned(SEED, number) for number in range(2 * len(KINDS))]
    assert rounds != [planned(SEED + 1, number) for number in range(2 * len(KINDS))]
    assert {kind for one in rounds for kind in one.kinds} == {*KINDS}


def test_a_takeover_is_late_from_when_it_could_be() -> None:
    """From the end of the lease; from when the store is back, where that was away in between."""
    taken = Takeover("ses_1", since=10_000_000, until=12_500_000)
    assert taken.late_seconds([]) == 2.5
    assert taken.late_seconds([Outage(9_000_000, 12_000_000)]) == 0.5
    assert taken.late_seconds([Outage(8_000_000, 9_000_000)]) == 2.5
    assert taken.late_seconds([Outage(13_000_000, 14_000_000)]) == 2.5


@pytest.mark.skipif(not can_be_laid(), reason="only the super-user lays cables")
@pytest.mark.parametrize("direction", ["both", "to the worker", "from the worker"])
def test_what_goes_over_a_cut_cable_is_lost_and_no_connection_ends(direction: Direction) -> None:
    with machine() as apart, socket.socket() as listener:
        assert apart is not None
        cable = apart.cable()
        listener.bind((cable.outside, 0))
        listener.listen()
        says = [*apart.inside, sys.executable, "-c", _SAYS]
        where = (cable.outside, str(listener.getsockname()[1]))
        with subprocess.Popen([*says, *where]) as there, listener.accept()[0] as connection:
            connection.settimeout(10)
            assert _heard(connection)
            cable.cut(direction)
            connection.settimeout(0.5)
            with pytest.raises(TimeoutError):
                _heard(connection)
            assert cable.mend() > 0
            connection.settimeout(10)
            assert connection.recv(1) == b"x"
            connection.shutdown(socket.SHUT_RDWR)
            assert there.wait(10) == 0


def _heard(connection: socket.socket) -> bool:
    connection.sendall(b"x")
    return connection.recv(1) == b"x"


@pytest.mark.skipif(not can_be_full(), reason="only the super-user has a disk of its own")
def test_a_full_disk_has_no_room_until_it_is_emptied() -> None:
    with disk("1m") as small:
        assert small is not None
        write = [*small.before, "/bin/sh", "-c", f"echo x > {small.folder}/x"]
        small.fill()
        assert subprocess.run(write, check=False, capture_output=True).returncode != 0
        small.empty()
        assert subprocess.run(write, check=False).returncode == 0
        assert not (small.folder / "x").exists()


@pytest.mark.timeout(90)
async def test_nothing_is_lost_and_nothing_happens_twice(servers: Farm) -> None:
    rounds = [planned(SEED, number) for number in SHORT]
    rounds = [one._replace(faults=one.faults[:1]) for one in rounds]
    assert [one.kinds for one in rounds] == [(kind,) for kind in SHORT.values()]
    async with rig(servers, patience=STUCK_SECONDS) as at_work:
        for round_ in rounds:
            await _played(at_work, round_)
        assert at_work.played.total() == len(SHORT)
        assert at_work.hits.total() > 0


@pytest.mark.timeout(90)
@pytest.mark.parametrize("number", range(len(KINDS)))
async def test_faults_of_every_kind(
    servers: Farm, number: int, request: pytest.FixtureRequest
) -> None:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a soak run; start it with: make soak SEED=1 MINUTES=10")
    async with rig(servers, patience=STUCK_SECONDS) as at_work:
        await _played(at_work, planned(SEED, number))


async def _played(at_work: Rig, round_: Round) -> None:
    short = [Fault(*one)._replace(lasts=min(one.lasts, 2.5)) for one in round_.faults]
    assert await at_work.play(round_._replace(faults=tuple(short))) == [], at_work.trouble()
