"""What happens in which round: pure, and the same for the same seed.

A round is a few sessions to which something is said, now or for later, and what goes wrong
meanwhile.
"""

from collections.abc import Iterator
from random import Random
from typing import Literal, NamedTuple, get_args

from engine.cluster_faults.cables import Direction

Kind = Literal[
    "kill",  # a worker ends, with no time to say goodbye; another one is started
    "zombie",  # a worker stands still for longer than a lease lasts
    "nats",  # one of the servers of NATS is killed, and comes back
    "postgres",  # PostgreSQL is ended at once, and comes back
    "lost nats",  # a worker's connections to NATS end, and none can be made
    "lost postgres",
    "mute nats",  # nothing of what a worker and NATS tell each other arrives
    "mute postgres",
    "full",  # PostgreSQL's disk is full for a while
    "full nats",  # the disk of one of the servers of NATS is
]
KINDS: tuple[Kind, ...] = get_args(Kind)
SESSIONS = 5
SAID = 4
"""Words and wakes, for each session."""
SECONDS = 1.5
"""In which all of it is said, and all of it goes wrong."""
_SECOND_FAULT = 0.3
_LONG = 0.15
"""So many of those that nothing arrives from are so for longer than a server or a client waits."""
_DIRECTIONS: tuple[Direction, ...] = ("both", "both", "to the worker", "from the worker")


class Fault(NamedTuple):
    kind: Kind
    at: float
    lasts: float
    whom: int
    """Which worker, or which server: any number."""
    direction: Direction = "both"


class Said(NamedTuple):
    """Something is said to a session."""

    id: str
    session: str
    at: float
    later: float | None
    """A wake, due so many seconds later; None: a word."""
    told: bool
    """By its writer; else whoever looks finds it."""


class Round(NamedTuple):
    number: int
    said: tuple[Said, ...]
    faults: tuple[Fault, ...]

    @property
    def sessions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.session for one in self.said))

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(fault.kind for fault in self.faults)

    @property
    def told(self) -> str:
        """What goes wrong, in words."""
        ways = (
            one.kind if one.direction == "both" else f"{one.kind} {one.direction}"
            for one in self.faults
        )
        return " + ".join(ways)


def planned(seed: int, number: int) -> Round:
    """One of many: every kind has its turn, and now and then a second one comes on top."""
    dice = Random(f"{seed}/{number}")
    first = KINDS[number % len(KINDS)]
    second = dice.choice(KINDS) if dice.random() < _SECOND_FAULT else first
    kinds: tuple[Kind, ...] = (first,) if second == first else (first, second)
    faults = tuple(_fault(dice, kind) for kind in kinds)
    return Round(number, tuple(_said(dice, seed, number)), faults)


def _fault(dice: Random, kind: Kind) -> Fault:
    at = dice.uniform(0.05, SECONDS)
    lasts = dice.uniform(1.0, 3.5) if kind == "zombie" else dice.uniform(0.1, 2.5)
    whom = dice.randrange(100)
    if not kind.startswith("mute"):
        return Fault(kind, at, lasts, whom)
    if dice.random() < _LONG:
        lasts = dice.uniform(6, 14)
    return Fault(kind, at, lasts, whom, dice.choice(_DIRECTIONS))


def _said(dice: Random, seed: int, number: int) -> Iterator[Said]:
    for session in range(SESSIONS):
        name = f"ses_{seed}_{number}_{session}"
        for at in range(SAID):
            later = dice.uniform(0, 2) if dice.random() < 0.4 else None
            moment = dice.uniform(0, SECONDS)
            yield Said(f"evt_{name}_{at}", name, moment, later, dice.random() < 0.5)
