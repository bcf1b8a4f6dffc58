"""A journal that fails when it is told to."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeVar

import anyio

from holdfast.contract.events import Event, Payload, SessionCreated
from holdfast.contract.journal import Journal, JournalUnavailable, Lease
from holdfast.runtime.session_log import SessionLog
from holdfast.testing.fake_journal import FakeJournal
from holdfast.testing.fakes import FakeClock

_T = TypeVar("_T")
When = Literal["before", "after", "never"]


class Shaky(FakeJournal):
    """Fails when it is told to: before it did something, or after, when nobody hears of it."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.fails: dict[str, list[When]] = {}
        self.asked: list[str] = []
        self.closed = 0
        self.intruder: Callable[[Payload], Payload | None] = lambda _: None
        """What somebody else appends right before."""

    async def create(self, session_id: str, payloads: Sequence[Payload], /) -> tuple[Event, ...]:
        return await self._failing("create", lambda: FakeJournal.create(self, session_id, payloads))

    async def append(
        self,
        session_id: str,
        payloads: Sequence[Payload],
        /,
        *,
        epoch: int | None = None,
        wake_id: str | None = None,
        ids: Sequence[str] | None = None,
    ) -> tuple[Event, ...]:
        for intruding in filter(None, map(self.intruder, payloads)):
            await FakeJournal.append(self, session_id, [intruding])
        return await self._failing(
            "append", lambda: FakeJournal.append(self, session_id, payloads, epoch=epoch)
        )

    async def lease(self, session_id: str, holder: str, seconds: float, /) -> Lease:
        return await self._failing(
            "lease", lambda: FakeJournal.lease(self, session_id, holder, seconds)
        )

    async def renew(self, lease: Lease, seconds: float, /) -> Lease:
        return await self._failing("renew", lambda: FakeJournal.renew(self, lease, seconds))

    async def close(self) -> None:
        """It is looked at afterwards: so it stays."""
        self.closed += 1

    async def _failing(self, what: str, do: Callable[[], Awaitable[_T]]) -> _T:
        self.asked.append(what)
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        script = self.fails.get(what, [])
        when = script.pop(0) if script else None
        if when == "before":
            raise JournalUnavailable("the disk is full")
        done = await do()
        if when == "after":
            raise JournalUnavailable("the connection was lost")
        return done


def log_on(journal: Journal, clock: FakeClock, holder: str = "me") -> SessionLog:
    async def opening() -> Journal:
        await anyio.lowlevel.checkpoint()
        return journal

    return SessionLog(opening, SessionCreated(), "ses_1", holder, clock)


async def kinds(journal: Journal) -> list[str]:
    return [event.type for event in await journal.events("ses_1")]
