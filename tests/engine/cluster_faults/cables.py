"""Cables between a worker's machine and the servers: what goes over a cut one is lost on the way.

A worker's machine is a network namespace whose only ways out are its cables, each a pair of virtual
interfaces. A cut one swallows every packet behind its sender, in one direction or in both: no
connection ends by that, nobody is refused, and both ends repeat themselves as they would over a
network that is broken. Only the super-user can lay them: elsewhere a relay that keeps everything
to itself stands for a cut one.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Literal

Direction = Literal["both", "to the worker", "from the worker"]
_PROGRAMS = ("ip", "tc", "nsenter", "unshare")
# Addresses that are set apart for tests of networks. A block is what one machine may use of them.
_FIRST = 198 << 24 | 18 << 16
_BLOCKS = 2048
_BLOCK = 64
_CABLES = 15
_SINK = "sink"
_KEEPER = "ip link set lo up && echo up && read -r _; exit 0"
_PASSED = re.compile(r"Sent \d+ bytes (\d+) pkt")
_machines = count(os.getpid() * 16)


class Cable:
    """One, from a machine to the outside."""

    def __init__(self, machine: "Machine", number: int) -> None:
        first = _FIRST + machine.block * _BLOCK + 4 * number
        self.outside = _address(first + 1)
        """Where whoever is to be reached over it has to listen."""
        self._inside = _address(first + 2)
        self._name = f"hf{machine.block:x}c{number}"
        self._machine = machine
        self._ends: list[tuple[Sequence[str], str]] = []
        """Those that swallow what arrives there."""
        self._lay()

    def cut(self, direction: Direction = "both") -> None:
        """Nothing arrives any more."""
        ends: list[tuple[Sequence[str], str]] = []
        if direction != "to the worker":
            ends.append(((), self._machine.sink))
        if direction != "from the worker":
            ends.append((self._machine.inside, _SINK))
        for where, sink in ends:
            _do(*where, "tc", "qdisc", "add", "dev", self._name, "ingress")
            everything = ("protocol", "all", "u32", "match", "u32", "0", "0")
            swallow = ("action", "mirred", "egress", "redirect", "dev", sink)
            at = ("dev", self._name, "parent", "ffff:")
            _do(*where, "tc", "filter", "add", *at, *everything, *swallow)
        self._ends = ends

    def mend(self) -> int:
        """Everything arrives again; how many packets did not."""
        lost = 0
        for where, _ in self._ends:
            at = ("dev", self._name, "parent", "ffff:")
            told = _do(*where, "tc", "-s", "filter", "show", *at)
            lost += sum(map(int, _PASSED.findall(told)))
            _do(*where, "tc", "qdisc", "del", "dev", self._name, "ingress")
        self._ends = []
        return lost

    def take_away(self) -> None:
        _do("ip", "link", "del", self._name)

    def _lay(self) -> None:
        inside = self._machine.inside
        peer = ("peer", "name", self._name, "netns", str(self._machine.number))
        _do("ip", "link", "add", self._name, "type", "veth", *peer)
        for where, address in (((), self.outside), (inside, self._inside)):
            _do(*where, "ip", "addr", "add", f"{address}/30", "dev", self._name)
            _do(*where, "ip", "link", "set", self._name, "up")


class Machine:
    """Where a worker runs, which has the files of this one and a network of its own."""

    def __init__(self) -> None:
        self.block = next(_machines) % _BLOCKS
        self._keeper = subprocess.Popen(
            ["unshare", "-n", "/bin/sh", "-c", _KEEPER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.number = self._keeper.pid
        assert self._keeper.stdout is not None
        assert self._keeper.stdout.readline() == b"up\n"
        self.inside = ("nsenter", f"--net=/proc/{self.number}/ns/net", "--")
        """Before a command: it is run there."""
        self.sink = f"hf{self.block:x}sink"
        """An interface that is never up: whatever is sent there is lost."""
        self._cables: list[Cable] = []
        _do("ip", "link", "add", self.sink, "type", "veth", "peer", "name", f"{self.sink}2")
        _do(*self.inside, "ip", "link", "add", _SINK, "type", "veth", "peer", "name", f"{_SINK}2")

    def cable(self) -> Cable:
        assert len(self._cables) < _CABLES
        laid = Cable(self, len(self._cables))
        self._cables.append(laid)
        return laid

    def close(self) -> None:
        for cable in self._cables:
            cable.take_away()
        _do("ip", "link", "del", self.sink)
        self._keeper.communicate()


@contextmanager
def machine() -> Generator[Machine | None]:
    """One, until the end of the block; None: there are none here."""
    if not can_be_laid():
        yield None
        return
    found = Machine()
    try:
        yield found
    finally:
        found.close()


def can_be_laid() -> bool:
    """Whether packets can be lost here."""
    if os.geteuid() != 0 or not all(map(shutil.which, _PROGRAMS)):
        return False
    tried = (
        "ip link add one type veth peer name two && tc qdisc add dev one ingress && "
        "tc filter add dev one parent ffff: protocol all u32 match u32 0 0"
        " action mirred egress redirect dev two"
    )
    asked = ["unshare", "-n", "/bin/sh", "-c", tried]
    return subprocess.run(asked, check=False, capture_output=True).returncode == 0


def _address(number: int) -> str:
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def _do(*command: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout
