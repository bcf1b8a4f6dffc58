"""Who hears of what a session's log writes, and how long it may write."""

import logging
from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta

import anyio
import pytest
from runtime.shaky_journal import Shaky, kinds, log_on

from holdfast.contract.events import (
    ApprovalAnswered,
    Event,
    Payload,
    SessionCreated,
    UserMessage,
)
from holdfast.contract.journal import (
    Journal,
    JournalUnavailable,
    Lease,
    LeaseHeld,
    NotFitting,
    StaleEpoch,
)
from holdfast.runtime.held_lease import LEASE_SECONDS, LeaseTimes
from holdfast.runtime.session_log import SessionLog
from holdfast.testing.fake_journal import FakeJournal
from holdfast.testing.fakes import FakeClock

HELLO = UserMessage(message="hello")
OTHERS = UserMessage(message="of another")
QUICK = LeaseTimes(lease_seconds=15, heartbeat_seconds=0)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def journal(clock: FakeClock) -> AsyncGenerator[Shaky]:
    shaky = Shaky(clock)
    yield shaky
    await FakeJournal.close(shaky)


def quick_log(journal: Journal, clock: FakeClock, times: LeaseTimes = QUICK) -> SessionLog:
    async def opening() -> Journal:
        return journal

    return SessionLog(opening, SessionCreated(), "ses_1", "me", clock, times)


async def test_what_is_appended_here_is_heard_of(journal: Shaky, clock: FakeClock) -> None:
    heard: list[str] = []
    log = log_on(journal, clock)
    log.listeners.append(lambda event: heard.append(event.type))
    await log.append([HELLO, HELLO])
    await FakeJournal.append(journal, "ses_1", [OTHERS])
    await log.close()
    assert heard == ["user.message", "user.message"]


async def test_a_listener_that_fails_is_left_out_and_breaks_nothing(
    journal: Shaky, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[int] = []

    def fails(_event: Event) -> None:
        raise RuntimeError("a bug")

    log = log_on(journal, clock)

    def hears(event: Event) -> None:
        heard.append(event.sequence)

    log.listeners += [fails, hears]
    with caplog.at_level(logging.ERROR, "holdfast"):
        await log.append([HELLO])
        await log.append([HELLO])
    assert heard == [2, 3]
    assert [one.message for one in caplog.records] == ["a listener of session ses_1 failed"]
    log.listeners.remove(fails)
    assert await kinds(journal) == ["session.created", "user.message", "user.message"]


async def test_the_lease_is_renewed_as_its_times_say(journal: Shaky, clock: FakeClock) -> None:
    log = quick_log(journal, clock, LeaseTimes(lease_seconds=15, heartbeat_seconds=5))
    await log.append([HELLO])

    async def until() -> int:
        held = (await journal.session("ses_1")).lease
        assert held is not None
        return held.until_micros

    assert await until() == clock.unix_ns() // 1000 + 15_000_000
    clock.advance(4)
    await log.append([HELLO])
    assert "renew" not in journal.asked
    clock.advance(2)
    await log.append([HELLO])
    assert await until() == clock.unix_ns() // 1000 + 15_000_000
    clock.advance(1)
    await log.heartbeat()
    assert await until() == clock.unix_ns() // 1000 + 15_000_000
    assert LeaseTimes() == LeaseTimes(lease_seconds=LEASE_SECONDS, heartbeat_seconds=300)


async def test_nothing_is_renewed_where_nothing_is_held(journal: Shaky, clock: FakeClock) -> None:
    await quick_log(journal, clock).heartbeat()
    assert journal.asked == []


async def taken_by_another(journal: Journal, clock: FakeClock) -> Lease:
    clock.advance(100)
    return await journal.lease("ses_1", "another", 60)


async def test_beating_ends_once_the_lease_is_lost(journal: Shaky, clock: FakeClock) -> None:
    log = quick_log(journal, clock)
    await log.append([HELLO])
    await taken_by_another(journal, clock)
    assert isinstance(await log.beating(), StaleEpoch)
    with pytest.raises(StaleEpoch):
        await log.append([HELLO])


async def test_beating_goes_on_while_the_store_comes_back_in_time(
    journal: Shaky, clock: FakeClock
) -> None:
    log = quick_log(journal, clock)
    await log.append([HELLO])
    journal.fails["renew"] = ["before", "after", "never"]
    with anyio.move_on_after(1) as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(log.beating)
            while journal.asked.count("renew") < 5:
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
    assert not scope.cancelled_caught


async def test_beating_ends_when_the_store_does_not_come_back_before_the_lease_is_over(
    journal: Shaky, clock: FakeClock
) -> None:
    log = quick_log(journal, clock)
    await log.append([HELLO])
    clock.advance(16)
    journal.fails["renew"] = ["before"]
    assert isinstance(await log.beating(), JournalUnavailable)


async def test_a_wall_clock_that_is_set_ends_no_lease(journal: Shaky) -> None:
    clock = FakeClock()
    log = quick_log(journal, clock, LeaseTimes(lease_seconds=15, heartbeat_seconds=10))
    await log.append([HELLO])
    clock.set_to(clock.now() + timedelta(hours=1))
    assert not log.right.has_run_out
    assert not log.right.is_due
    clock.advance(11)
    assert log.right.is_due
    assert not log.right.has_run_out
    clock.advance(5)
    assert log.right.has_run_out


async def test_a_run_takes_a_lease_anew_that_ran_out_meanwhile(
    journal: Shaky, clock: FakeClock
) -> None:
    log = quick_log(journal, clock)
    await log.append([HELLO])
    other = await taken_by_another(journal, clock)
    await FakeJournal.release(journal, other)
    await log.begin_run()
    await log.append([HELLO])
    held = (await journal.session("ses_1")).lease
    assert held is not None
    assert (held.holder, held.epoch) == ("me", other.epoch + 1)


async def test_a_run_does_not_begin_while_another_has_the_session(
    journal: Shaky, clock: FakeClock
) -> None:
    log = quick_log(journal, clock)
    await log.append([HELLO])
    await taken_by_another(journal, clock)
    await log.begin_run()
    with pytest.raises(LeaseHeld, match="is run by another"):
        await log.append([HELLO])


async def test_a_lease_that_holds_is_kept_when_a_run_begins(
    journal: Shaky, clock: FakeClock
) -> None:
    log = quick_log(journal, clock)
    await log.append([HELLO])
    await log.begin_run()
    await log.append([HELLO])
    assert journal.asked.count("lease") == 1


async def test_what_is_held_is_written_before_what_comes_next(
    journal: Shaky, clock: FakeClock
) -> None:
    heard: list[int] = []
    log = log_on(journal, clock)
    log.listeners.append(lambda event: heard.append(event.sequence))
    log.hold([HELLO])
    assert "append" not in journal.asked
    (told,) = await log.append([OTHERS])
    assert told.payload == OTHERS
    assert [one.payload for one in (await journal.events("ses_1"))[1:]] == [HELLO, OTHERS]
    assert heard == [2, 3]
    await log.flush()
    assert journal.asked.count("append") == 1
    log.hold([HELLO])
    await log.flush()
    assert heard == [2, 3, 4]


async def test_what_is_held_is_not_lost_by_what_does_not_fit(
    journal: Shaky, clock: FakeClock
) -> None:
    log = log_on(journal, clock)
    log.hold([HELLO])
    unknown = ApprovalAnswered(approval_id="apr_1", call_id="cal_1", allowed=True, by="me")
    with pytest.raises(NotFitting):
        await log.append([unknown])
    assert [one.payload for one in (await journal.events("ses_1"))[1:]] == [HELLO]


async def test_what_is_held_waits_for_a_store_that_comes_back(
    journal: Shaky, clock: FakeClock
) -> None:
    log = log_on(journal, clock)
    await log.append([HELLO])
    log.hold([OTHERS])
    journal.fails["append"] = ["before"]
    with pytest.raises(JournalUnavailable):
        await log.append([HELLO])
    await log.append([HELLO])
    assert [one.payload for one in (await journal.events("ses_1"))[1:]] == [HELLO, OTHERS, HELLO]


async def test_who_stood_still_while_it_was_written_down_begins_nothing_that_it_stands_before(
    clock: FakeClock,
) -> None:
    """It was written in time, and by now another one may have the session."""
    taken: list[Lease] = []

    class StandsStill(Shaky):
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
            events = await super().append(session_id, payloads, epoch=epoch)
            if HELLO in payloads:
                taken.append(await taken_by_another(self, clock))
            return events

    journal = StandsStill(clock)
    log = quick_log(journal, clock, LeaseTimes(lease_seconds=15, heartbeat_seconds=5))
    await log.append([OTHERS])
    with pytest.raises(StaleEpoch):
        await log.append([HELLO])
    assert taken
    await FakeJournal.close(journal)
