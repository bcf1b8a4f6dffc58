"""Whose clock leases are kept by: machines whose clocks differ never run a session at once."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from record.store_places import CHAIN

from holdfast.contract.events import SessionCreated
from holdfast.contract.journal import LeaseHeld
from holdfast.contract.outbox import Outbox
from holdfast.record.postgres.door import open_postgres
from holdfast.record.store import Store
from holdfast.runtime.clock import ServerClock, SystemClock
from holdfast.runtime.ids import TimeIds

pytestmark = pytest.mark.anyio

HOUR_NS = 3_600_000_000_000
MINUTE = 60_000_000


class Wrong(ServerClock):
    """Of a machine whose clock is wrong, and that never hears what time it is elsewhere."""

    def __init__(self, ahead_ns: int) -> None:
        super().__init__()
        self._wrong = ahead_ns
        self.heard: list[int] = []

    def hear(self, unix_micros: int, /) -> None:
        self.heard.append(unix_micros)

    def unix_ns(self) -> int:
        return time.time_ns() + self._wrong


@asynccontextmanager
async def machine(url: str, clock: ServerClock) -> AsyncGenerator[Store]:
    store = open_postgres(url, CHAIN, clock, TimeIds(SystemClock()))
    try:
        yield store
    finally:
        await store.journal.close()


def outbox_of(store: Store) -> Outbox:
    assert store.outbox is not None
    return store.outbox


@pytest.mark.parametrize("ahead_ns", [HOUR_NS, -HOUR_NS])
async def test_a_lease_is_held_as_long_as_the_clock_of_the_database_says(
    postgres_url: str, ahead_ns: int
) -> None:
    async with (
        machine(postgres_url, Wrong(0)) as right,
        machine(postgres_url, Wrong(ahead_ns)) as wrong,
    ):
        await right.journal.create("ses_1", [SessionCreated()])
        lease = await right.journal.lease("ses_1", "right", 60)
        with pytest.raises(LeaseHeld):
            await wrong.journal.lease("ses_1", "wrong", 60)
        await right.journal.release(lease)
        before = time.time_ns() // 1000
        taken = await wrong.journal.lease("ses_1", "wrong", 60)
        after = time.time_ns() // 1000
        assert before + MINUTE <= taken.until_micros <= after + MINUTE
        renewed = await wrong.journal.renew(taken, 120)
        assert taken.until_micros + MINUTE <= renewed.until_micros <= after + 3 * MINUTE
        over = await right.journal.take_over(renewed, "right", 60)
        assert over.until_micros <= time.time_ns() // 1000 + MINUTE


async def test_a_lease_that_is_over_can_be_taken_by_a_machine_that_is_behind(
    postgres_url: str,
) -> None:
    async with (
        machine(postgres_url, Wrong(0)) as right,
        machine(postgres_url, Wrong(-HOUR_NS)) as behind,
    ):
        await right.journal.create("ses_1", [SessionCreated()])
        await right.journal.lease("ses_1", "right", 0)
        assert (await behind.journal.lease("ses_1", "behind", 60)).holder == "behind"


async def test_whoever_reads_or_writes_hears_what_time_it_is(postgres_url: str) -> None:
    clock = Wrong(-HOUR_NS)
    async with machine(postgres_url, clock) as store:
        before = time.time_ns() // 1000
        await store.journal.create("ses_1", [SessionCreated()])
        await outbox_of(store).standing(["ses_1"])
        assert len(clock.heard) == 2
        assert before <= clock.heard[0] <= clock.heard[1] <= time.time_ns() // 1000


async def test_what_was_heard_is_the_time_of_the_store(postgres_url: str) -> None:
    clock = ServerClock()
    async with machine(postgres_url, clock) as store:
        await store.journal.create("ses_1", [SessionCreated()])
        assert abs(clock.unix_ns() - time.time_ns()) < 1_000_000_000
