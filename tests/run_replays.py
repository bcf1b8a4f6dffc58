"""Runs of agents that are recorded, to be run once more."""

from collections.abc import Sequence

import msgspec
from agents_at_work import Desk

from holdfast import tool
from holdfast.app.run_replaying import RunReplayed, replay_run
from holdfast.contract.events import Event, Payload

RAN: list[str] = []
"""Every body that really ran."""


@tool(permission_policy="always_ask")
def deploy(place: str) -> str:
    """Deploy to a place."""
    RAN.append(f"deploy {place}")
    return f"deployed to {place}"


@tool(parallel_safe=True)
def look(place: str) -> str:
    """Look at a place."""
    RAN.append(f"look {place}")
    return f"{place} is fine"


@tool(ownership="custom")
def order(item: str) -> str:
    """Order something; the application does it."""
    raise AssertionError("the application does it")


@tool
def fail(text: str) -> str:
    """Fail."""
    raise RuntimeError(text)


async def all_events(desk: Desk) -> tuple[Event, ...]:
    log = desk.holdfast.parts.log
    assert log is not None
    journal = await log.journal()
    return await journal.events(desk.session.id, limit=100_000)


async def again(events: Sequence[Event]) -> RunReplayed:
    """Run it once more, without a tool being run."""
    before = len(RAN)
    found = await replay_run(events)
    assert len(RAN) == before
    return found


async def replays(desk: Desk) -> RunReplayed:
    """Everything that was recorded comes out again."""
    found = await again(await all_events(desk))
    assert found.divergence is None, found.divergence
    return found


def with_payload(events: Sequence[Event], sequence: int, payload: Payload) -> list[Event]:
    """The same events, of which one says something else."""
    changed = list(events)
    changed[sequence - 1] = msgspec.structs.replace(changed[sequence - 1], payload=payload)
    return changed


def first_of(events: Sequence[Event], kind: type[Payload], number: int = 0) -> Event:
    return [one for one in events if isinstance(one.payload, kind)][number]
