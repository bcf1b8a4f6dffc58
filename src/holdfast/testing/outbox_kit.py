"""What every outbox must do; each passes the same kit, on a journal that nobody else writes."""

from datetime import UTC, datetime

from holdfast.contract.events import EventsProcessed, Payload, SessionCreated, UserMessage
from holdfast.contract.journal import Journal
from holdfast.contract.outbox import Outbox
from holdfast.contract.ports import Clock
from holdfast.contract.wake_events import Priority, WakeQueued, WakesCompleted

_WORD = UserMessage(message="go")
_HOUR = 3_600_000_000
_MANY = 100


async def check_outbox(
    journal: Journal, outbox: Outbox, clock: Clock, prefix: str = "ses_outbox"
) -> None:
    """Tells what is due and was not told, forgets it when that changes, and is overtaken by no one.

    ``prefix`` begins the ids of sessions that nobody has used; nothing else in the journal is due.
    """
    kit = _Kit(journal, outbox, clock)
    await _check_untold(kit, f"{prefix}_untold")
    await _check_moved(kit, f"{prefix}_moved")
    await _check_overtaken(kit, f"{prefix}_overtaken")
    await _check_leased(kit, f"{prefix}_leased")
    await _check_overdue(kit, f"{prefix}_overdue")


class _Kit:
    def __init__(self, journal: Journal, outbox: Outbox, clock: Clock) -> None:
        self.journal = journal
        self.outbox = outbox
        self._clock = clock

    def now(self) -> int:
        return self._clock.unix_ns() // 1000

    async def made(self, name: str, *payloads: Payload) -> None:
        await self.journal.create(name, [SessionCreated(agent_id="kit"), *payloads])

    async def untold(self, limit: int = _MANY) -> list[str]:
        now = self.now()
        return [one.id for one in await self.outbox.untold(now, now + _HOUR, limit=limit)]

    async def tell(self, *names: str) -> None:
        found = await self.outbox.standing(names)
        await self.outbox.told([found[name] for name in names])

    async def overdue(self, after: str = "", limit: int = _MANY) -> list[str]:
        now = self.now()
        found = await self.outbox.overdue(now, now, after=after, limit=limit)
        return [one.id for one in found]

    async def end(self, name: str) -> None:
        """Take all that waits into account."""
        state = (await self.journal.session(name)).state
        over = (
            EventsProcessed(event_ids=state.pending),
            WakesCompleted(queued_wake_ids=tuple(one.id for one in state.wakes)),
        )
        await self.journal.append(name, over)


async def _check_untold(kit: _Kit, name: str) -> None:
    _expect(await kit.untold() == [], "something is untold, and nothing is due")
    await kit.made(f"{name}_nothing")
    await kit.made(f"{name}_low", _wake(1, "low"))
    await kit.made(f"{name}_word", _WORD)
    await kit.made(f"{name}_soon", _wake(kit.now() // 1_000_000 + 60))
    await kit.made(f"{name}_far", _wake(4_000_000_000))
    wanted = [f"{name}_{what}" for what in ("word", "soon", "low")]
    found = await kit.untold()
    _expect(found == wanted, f"untold are {found}, not {wanted}")
    _expect(len(await kit.untold(limit=2)) == 2, "there were more than asked for")
    _expect(await kit.overdue() == [], "what was never told is none that was told long ago")
    await kit.tell(*wanted)
    _expect(await kit.untold() == [], "what was told is told again")
    there = await kit.outbox.standing([f"{name}_far", f"{name}_none"])
    _expect([*there] == [f"{name}_far"], f"there stand {[*there]}")
    for one in wanted:
        await kit.end(one)


async def _check_moved(kit: _Kit, name: str) -> None:
    """Whatever changes when it is due leaves it untold, also where it was due then before."""
    await kit.made(name, _WORD)
    await kit.tell(name)
    await kit.end(name)
    _expect(await kit.untold() == [], "what is not due any more is untold")
    await kit.journal.append(name, [_WORD])
    _expect(await kit.untold() == [name], "it became due again, and counts as told")
    await kit.tell(name)
    await kit.end(name)
    await kit.journal.append(name, [_wake(2)])
    _expect(await kit.untold() == [name], "a queued wake counts as told")
    await kit.end(name)


async def _check_overtaken(kit: _Kit, name: str) -> None:
    """Who tells what was true a moment ago has not told what is true now."""
    await kit.made(name, _wake(3))
    (before,) = (await kit.outbox.standing([name])).values()
    await kit.end(name)
    await kit.journal.append(name, [_wake(3)])
    await kit.outbox.told([before])
    _expect(await kit.untold() == [name], "what came since counts as told")
    await kit.end(name)
    await kit.journal.append(name, [_WORD])
    await kit.tell(name)
    await kit.outbox.told([before])
    _expect(await kit.untold() == [name], "what was told last is not what is true")
    await kit.end(name)
    await kit.outbox.told([before])
    _expect(await kit.untold() == [], "it is told of although it is not due")


async def _check_leased(kit: _Kit, name: str) -> None:
    """What somebody runs is theirs to tell, until their lease ends."""
    await kit.made(name, _WORD)
    lease = await kit.journal.lease(name, "kit", 60)
    _expect(await kit.untold() == [], "it is told of while it is run")
    await kit.journal.renew(lease, 0)
    _expect(await kit.untold() == [name], "whoever ran it is late, and it is not told of")
    await kit.tell(name)
    again = await kit.journal.lease(name, "kit", 60)
    _expect(await kit.overdue() == [], "it is told of again while it is run")
    await kit.journal.release(again)
    _expect(await kit.overdue() == [name], "it was told, is due, and nobody runs it")
    await kit.end(name)


async def _check_overdue(kit: _Kit, name: str) -> None:
    names = [f"{name}_{number}" for number in range(3)]
    for one in names:
        await kit.made(one, _WORD)
    await kit.made(f"{name}_soon", _wake(kit.now() // 1_000_000 + 60))
    await kit.tell(*names, f"{name}_soon")
    _expect(await kit.overdue(limit=2) == names[:2], "not the first two")
    _expect(await kit.overdue(after=names[1]) == names[2:], "not those behind the second")
    for one in (*names, f"{name}_soon"):
        await kit.end(one)
    _expect(await kit.overdue() == [], "what is not due any more is told again")


def _wake(seconds: int, priority: Priority = "normal") -> WakeQueued:
    due = datetime.fromtimestamp(seconds, UTC)
    return WakeQueued(queued_wake_id="qwk_kit", due_at=due, reason="kit", priority=priority)


def _expect(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - a condition is what it takes
    if not holds:
        raise AssertionError(otherwise)
