"""Whose sessions a worker runs, and how much it does: values."""

import msgspec

from holdfast.contract.journal import Journal
from holdfast.contract.outbox import Outbox
from holdfast.contract.ports import Clock
from holdfast.contract.wakes import WakeRunner
from holdfast.engine.cluster.streams import ACK_SECONDS


class Tenant(msgspec.Struct, frozen=True, kw_only=True):
    """Whose sessions are in one store."""

    name: str
    journal: Journal
    outbox: Outbox
    runner: WakeRunner
    clock: Clock | None = None
    """By which its times are kept; None: by that of the engine."""


class Who(msgspec.Struct, frozen=True, kw_only=True):
    """Which process a worker is, for people who look at a cluster."""

    name: str
    """As leases have it."""
    host: str = ""
    version: str = ""


class ClusterPace(msgspec.Struct, frozen=True, kw_only=True):
    """How much an engine does at once, and how long it waits for what."""

    concurrency: int = 8
    labels: tuple[str, ...] = ()
    """Sessions that ask for one of these are run here, and those that ask for none."""
    look_seconds: float = 2.0
    """What nobody told, as its writer was killed or knew no NATS, is found by looking."""
    sweep_seconds: float = 60.0
    """What was told and is still due that much later is told again, if nobody has it in hand."""
    ack_seconds: float = ACK_SECONDS
    most_in_vain: int = 5
    """Runs that change nothing, or never come to an end: then it goes to the dead."""
    wait_seconds: float = 5.0
    """How long a request for hints waits; whoever does not hear of a lost one is deaf so long."""


def pace_within(
    lease_seconds: float, concurrency: int = 8, labels: tuple[str, ...] = ()
) -> ClusterPace:
    """One by which somebody else has a worker's hints before its leases end.

    What a worker asked for before it stood still is over by then, too: or its hints would be handed
    to it once more.
    """
    usual = ClusterPace()
    ack_seconds = min(usual.ack_seconds, lease_seconds * 2 / 3)
    return ClusterPace(
        concurrency=concurrency,
        labels=labels,
        ack_seconds=ack_seconds,
        wait_seconds=min(usual.wait_seconds, ack_seconds / 2),
    )
