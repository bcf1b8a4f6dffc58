"""What every journal must do; each store passes the same kit, with sessions of its own."""

from collections.abc import Awaitable
from datetime import UTC, datetime
from itertools import pairwise
from typing import TypeVar

from anyio import create_task_group

from holdfast.contract.events import (
    AgentMessage,
    Event,
    EventsProcessed,
    SessionCreated,
    UserMessage,
)
from holdfast.contract.journal import (
    Journal,
    JournalError,
    LeaseHeld,
    StaleEpoch,
    UnknownSession,
)
from holdfast.contract.wake_events import Priority, WakeQueued, WakesCompleted

_Error = TypeVar("_Error", bound=JournalError)
_MANY = 40


async def check_journal(journal: Journal, prefix: str = "ses_kit") -> None:
    """Keeps order, refuses whole, fences runners and lets people speak, as the port says.

    ``prefix`` begins the ids of sessions that nobody has used.
    """
    await _check_order(journal, f"{prefix}_order")
    await _check_refusals(journal, f"{prefix}_refusals")
    await _check_leases(journal, f"{prefix}_leases")
    await _check_many(journal, f"{prefix}_many")
    await _check_due(journal, f"{prefix}_due")


async def _check_order(journal: Journal, name: str) -> None:
    begun = await journal.create(name, [SessionCreated(workspace="/ws"), UserMessage(message="a")])
    more = await journal.append(name, [UserMessage(message="b")], wake_id="wak_1")
    kept = await journal.events(name)
    _expect(kept == (*begun, *more), "what is read differs from what was appended")
    _expect([event.sequence for event in kept] == [1, 2, 3], "there are gaps")
    _expect([event.wake_id for event in kept] == [None, None, "wak_1"], "wakes are mixed up")
    _expect(_is_linked(kept), "an event does not follow the one before it")
    _expect(await journal.events(name, after=1, limit=1) == kept[1:2], "a page is wrong")
    _expect(await journal.events(name, after=3) == (), "there is something behind the end")
    head = await journal.session(name)
    _expect((head.sequence, head.hash, head.epoch) == (3, kept[-1].hash, 0), f"head is {head}")
    _expect(await journal.append(name, []) == (), "nothing appended is not nothing")


async def _check_refusals(journal: Journal, name: str) -> None:
    await _refused(journal.append(name, [UserMessage(message="a")]), UnknownSession)
    await _refused(journal.session(name), UnknownSession)
    await _refused(journal.lease(name, "me", 60), UnknownSession)
    _expect(await journal.events(name) == (), "a session that is not there has events")
    await journal.create(name, [SessionCreated()])
    await _refused(journal.create(name, [SessionCreated()]), JournalError)
    _expect(len(await journal.events(name)) == 1, "a refused append left something")


async def _check_leases(journal: Journal, name: str) -> None:
    await journal.create(name, [SessionCreated()])
    first = await journal.lease(name, "first", 60)
    await _refused(journal.lease(name, "second", 60), LeaseHeld)
    said = AgentMessage(message="x", summary="y")
    await journal.append(name, [said], epoch=first.epoch)
    longer = await journal.renew(first, 0.0)
    _expect(longer.epoch == first.epoch, "renewing a lease gave another one")
    second = await journal.lease(name, "second", 60)  # the first one is late
    _expect(second.epoch > first.epoch, "an epoch did not grow")
    await _refused(journal.append(name, [said], epoch=first.epoch), StaleEpoch)
    await _refused(journal.renew(first, 60), StaleEpoch)
    await journal.append(name, [UserMessage(message="people need no lease")])
    await journal.release(first)
    await _refused(journal.lease(name, "third", 60), LeaseHeld)
    await journal.release(second)
    third = await journal.lease(name, "third", 60)
    _expect(third.epoch > second.epoch, "an epoch was used twice")
    again = await journal.take_over(third, "third", 60)  # the same name, and another lease
    _expect(again.epoch > third.epoch, "a lease was taken over under its old epoch")
    await _refused(journal.renew(third, 60), StaleEpoch)
    await _refused(journal.take_over(third, "fourth", 60), LeaseHeld)
    await journal.release(third)
    await journal.append(name, [], epoch=again.epoch)
    await _refused(journal.lease(name, "fourth", 60), LeaseHeld)
    kinds = [type(event.payload).__name__ for event in await journal.events(name)]
    _expect(kinds == ["SessionCreated", "AgentMessage", "UserMessage"], f"it holds {kinds}")


async def _check_many(journal: Journal, name: str) -> None:
    await journal.create(name, [SessionCreated()])

    async def say(number: int) -> None:
        pair = [UserMessage(message=f"{number}"), UserMessage(message=f"{number}")]
        await journal.append(name, pair)

    async with create_task_group() as talkers:
        for number in range(_MANY):
            talkers.start_soon(say, number)
    kept = (await journal.events(name))[1:]
    said = [event.payload.message for event in kept if isinstance(event.payload, UserMessage)]
    _expect(sorted(said) == sorted(2 * [str(n) for n in range(_MANY)]), "something was lost")
    _expect(said[::2] == said[1::2], "what belongs together was torn apart")
    _expect([event.sequence for event in kept] == list(range(2, 2 * _MANY + 2)), "there are gaps")


async def _check_due(journal: Journal, name: str) -> None:
    """What waits is found: by priority, then words before wakes, then by time; each once."""
    made = SessionCreated(agent_id="kit")
    wakes: dict[str, tuple[int, Priority]] = {
        "low": (1, "low"),
        "next": (9, "normal"),
        "first": (2, "normal"),
        "high": (5, "high"),
    }
    for what, (seconds, priority) in wakes.items():
        await journal.create(f"{name}_{what}", [made, _wake(seconds, priority)])
    word = UserMessage(message="a")
    (_, said, _) = await journal.create(f"{name}_word", [made, word, _wake(1, "low")])
    await journal.create(f"{name}_nobodys", [SessionCreated(), word])

    async def due(seconds: int) -> list[str]:
        found = await journal.due(seconds * 1_000_000, limit=10_000)
        return [one.id.removeprefix(f"{name}_") for one in found if one.id.startswith(name)]

    order = ["word", "high", "first", "next", "low"]
    _expect(await due(99) == order, f"due are {await due(99)}, not {order}")
    _expect(await due(2) == ["word", "first", "low"], f"due after 2 s are {await due(2)}")
    _expect(await journal.next_due() == 0, f"the next is due at {await journal.next_due()}")
    _expect(len(await journal.due(0, limit=1)) == 1, "a limit was not kept")
    await journal.append(f"{name}_word", [EventsProcessed(event_ids=(said.id,))])
    over = WakesCompleted(queued_wake_ids=("qwk_kit",))
    for what in ("word", *wakes):
        await journal.append(f"{name}_{what}", [over])
    _expect(await due(99) == [], f"{await due(99)} are still due")


def _wake(seconds: int, priority: Priority) -> WakeQueued:
    due = datetime.fromtimestamp(seconds, UTC)
    return WakeQueued(queued_wake_id="qwk_kit", due_at=due, reason="kit", priority=priority)


def _is_linked(events: tuple[Event, ...]) -> bool:
    return all(later.previous == event.hash for event, later in pairwise(events))


async def _refused(attempt: Awaitable[object], kind: type[_Error]) -> None:
    try:
        await attempt
    except kind:
        return
    raise AssertionError(f"it should have been refused with {kind.__name__}")


def _expect(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - a condition is what it takes
    if not holds:
        raise AssertionError(otherwise)
