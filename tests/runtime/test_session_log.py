"""A session's log: begun once, leased, renewed on the way, let go; whatever the store does."""

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest
from runtime.shaky_journal import Shaky, When, kinds, log_on

from holdfast.contract.events import SessionCreated, StatusChanged, UserMessage
from holdfast.contract.journal import (
    Journal,
    JournalError,
    JournalUnavailable,
    Lease,
    LeaseHeld,
    StaleEpoch,
    UnknownSession,
)
from holdfast.record.codec import Chain
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.runtime.held_lease import LEASE_SECONDS
from holdfast.runtime.session_log import SessionLog
from holdfast.testing.fake_journal import FakeJournal
from holdfast.testing.fakes import FakeClock, FakeIds

pytestmark = pytest.mark.anyio
HELLO = UserMessage(message="hello")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def journal(clock: FakeClock) -> AsyncGenerator[Shaky]:
    shaky = Shaky(clock)
    yield shaky
    await FakeJournal.close(shaky)


async def test_nothing_is_opened_before_there_is_something_to_write(
    journal: Shaky, clock: FakeClock
) -> None:
    await log_on(journal, clock).close()
    assert (journal.asked, journal.closed) == ([], 0)


async def test_first_appends_at_once_begin_the_session_once(
    journal: Shaky, clock: FakeClock
) -> None:
    log = log_on(journal, clock)
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(log.append, [HELLO])
    assert (journal.asked.count("create"), journal.asked.count("lease")) == (1, 1)
    assert await kinds(journal) == ["session.created", *["user.message"] * 20]


async def test_whoever_gets_the_journal_while_it_is_begun_finds_the_session_in_it(
    journal: Shaky, clock: FakeClock
) -> None:
    log = log_on(journal, clock)

    async def looking() -> None:
        assert (await (await log.journal()).session("ses_1")).lease is not None

    async with anyio.create_task_group() as group:
        group.start_soon(log.append, [HELLO])
        for _ in range(8):
            group.start_soon(looking)
            await anyio.lowlevel.checkpoint()
    await looking()


async def test_the_lease_is_renewed_once_half_its_time_is_over(
    journal: Shaky, clock: FakeClock
) -> None:
    log = log_on(journal, clock)
    await log.append([HELLO])
    first = (await journal.session("ses_1")).lease
    assert first is not None
    clock.advance(LEASE_SECONDS / 2)
    await log.append([HELLO])
    assert "renew" not in journal.asked
    clock.advance(1)
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(log.append, [HELLO])
    assert journal.asked.count("renew") == 1
    renewed = (await journal.session("ses_1")).lease
    assert renewed is not None
    assert (renewed.epoch, renewed.holder) == (first.epoch, first.holder)
    assert renewed.until_micros - first.until_micros == (LEASE_SECONDS / 2 + 1) * 1e6


async def test_who_lost_the_lease_appends_nothing_more(journal: Shaky, clock: FakeClock) -> None:
    log = log_on(journal, clock)
    await log.append([HELLO])
    clock.advance(LEASE_SECONDS + 1)
    await journal.lease("ses_1", "another", 60)
    with pytest.raises(StaleEpoch, match="lost to another"):
        await log.append([HELLO])
    assert await kinds(journal) == ["session.created", "user.message"]


async def test_a_renewal_that_failed_is_tried_again(journal: Shaky, clock: FakeClock) -> None:
    log = log_on(journal, clock)
    await log.append([HELLO])
    clock.advance(LEASE_SECONDS)
    journal.fails["renew"] = ["before", "after"]
    for _ in range(2):
        with pytest.raises(JournalUnavailable):
            await log.append([HELLO])
    await log.append([HELLO])
    assert await kinds(journal) == ["session.created", "user.message", "user.message"]


@pytest.mark.parametrize("what", ["create", "lease"])
@pytest.mark.parametrize("script", [["before"], ["after"], ["before", "after"]])
async def test_a_beginning_that_nobody_heard_of_is_tried_again(
    journal: Shaky, clock: FakeClock, what: str, script: list[When]
) -> None:
    log = log_on(journal, clock)
    journal.fails[what] = script[:]
    for _ in script:
        with pytest.raises(JournalUnavailable):
            await log.append([HELLO])
    await log.append([HELLO])
    assert await kinds(journal) == ["session.created", "user.message"]
    await log.close()
    assert (await kinds(journal))[-1] == "session.closed"
    assert (await journal.session("ses_1")).lease is None


async def test_a_session_of_the_same_name_that_another_began_is_left_alone(
    journal: Shaky, clock: FakeClock
) -> None:
    await journal.create("ses_1", [SessionCreated()])
    log = log_on(journal, clock)
    for _ in range(2):
        with pytest.raises(JournalError, match="there is a session ses_1 already"):
            await log.append([HELLO])
    await log.close()
    assert await kinds(journal) == ["session.created"]


async def test_opened_again_it_takes_the_session_from_nobody_else(
    journal: Shaky, clock: FakeClock
) -> None:
    log = log_on(journal, clock)
    await log.append([HELLO])
    await log.close()
    other = log_on(journal, clock, "other")
    await other.take_up(lambda _: False)
    log.open()
    with pytest.raises(LeaseHeld, match="is run by other"):
        await log.append([HELLO])
    await other.append([HELLO])
    await other.close()
    await log.append([HELLO])
    assert (await kinds(journal)).count("user.message") == 3


@pytest.mark.parametrize("gone", [True, False])
async def test_a_session_is_taken_up_from_whoever_is_gone(
    journal: Shaky, clock: FakeClock, gone: bool, caplog: pytest.LogCaptureFixture
) -> None:
    await log_on(journal, clock, "first").append([HELLO])
    log = log_on(journal, clock)
    if not gone:
        with pytest.raises(LeaseHeld, match="is run by first"):
            await log.take_up(lambda holder: holder != "first")
        await log.close()
        assert (await kinds(journal))[-1] == "user.message"
        assert caplog.text == ""
        return
    found, epoch = await log.take_up(lambda holder: holder == "first")
    assert (found, epoch) == (journal, 2)
    await log.append([HELLO])
    await log.close()
    assert await kinds(journal) == ["session.created", "user.message", "user.message"]
    assert (await journal.session("ses_1")).lease is None
    log.open()
    await log.append([HELLO])
    assert (await kinds(journal))[-1] == "user.message"


async def test_whoever_is_late_and_lives_is_not_taken_from(
    journal: Shaky, clock: FakeClock
) -> None:
    await log_on(journal, clock, "first").append([HELLO])
    clock.advance(2 * LEASE_SECONDS)
    with pytest.raises(LeaseHeld, match="session ses_1 is run by first"):
        await log_on(journal, clock).take_up(lambda _: False, lambda holder: holder == "first")
    assert (await log_on(journal, clock).take_up(lambda _: False, lambda _: False))[1] == 2


async def closed_by_the_first(journal: Shaky, clock: FakeClock) -> None:
    first = log_on(journal, clock, "first")
    await first.append([HELLO])
    await first.close()


async def test_a_session_that_was_closed_is_opened_again_and_that_is_written(
    journal: Shaky, clock: FakeClock
) -> None:
    await closed_by_the_first(journal, clock)
    log = log_on(journal, clock)
    await log.take_up(lambda _: False)
    *_, told = await journal.events("ses_1")
    assert told.payload == StatusChanged(
        from_status="terminated", to_status="idle", reason="taken up"
    )
    assert (await journal.session("ses_1")).state.status == "idle"
    await log.append([HELLO])
    await log.close()
    assert (await kinds(journal))[3:] == [
        *("session.status_changed", "user.message", "session.closed"),
    ]
    assert (await journal.session("ses_1")).state.status == "terminated"


async def test_used_again_after_it_was_closed_it_is_open(journal: Shaky, clock: FakeClock) -> None:
    log = log_on(journal, clock)
    await log.append([HELLO])
    await log.close()
    for use in (log.append([HELLO]), log.journal()):
        with pytest.raises(JournalUnavailable, match="session ses_1 was closed meanwhile"):
            await use
    assert (await journal.session("ses_1")).lease is None
    log.open()
    await log.append([HELLO])
    assert (await kinds(journal))[2:] == [
        *("session.closed", "session.status_changed", "user.message"),
    ]


@pytest.mark.parametrize("when", ["before", "after"])
async def test_opening_again_that_failed_is_tried_again_and_written_once(
    journal: Shaky, clock: FakeClock, when: When
) -> None:
    await closed_by_the_first(journal, clock)
    log = log_on(journal, clock)
    journal.fails["append"] = [when]
    with pytest.raises(JournalUnavailable):
        await log.take_up(lambda _: False)
    await log.append([HELLO])
    await log.close()
    assert (await kinds(journal))[3:] == [
        *("session.status_changed", "user.message", "session.closed"),
    ]
    assert (await journal.session("ses_1")).lease is None


async def test_opening_again_that_failed_leaves_no_lease(journal: Shaky, clock: FakeClock) -> None:
    await closed_by_the_first(journal, clock)
    log = log_on(journal, clock)
    journal.fails["append"] = ["before"]
    with pytest.raises(JournalUnavailable):
        await log.take_up(lambda _: False)
    await log.close()
    session = await journal.session("ses_1")
    assert (session.lease, session.state.status) == (None, "terminated")


async def test_a_session_that_is_not_there_cannot_be_taken_up(
    journal: Shaky, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    log = log_on(journal, clock)
    with pytest.raises(UnknownSession):
        await log.take_up(lambda _: True)
    await log.close()
    assert (journal.closed, caplog.text) == (1, "")


async def test_taking_up_that_nobody_heard_of_leaves_the_session_to_the_next(
    journal: Shaky, clock: FakeClock
) -> None:
    first = log_on(journal, clock, "first")
    await first.append([HELLO])
    await first.close()
    log = log_on(journal, clock)
    for _ in range(2):
        journal.fails["lease"] = ["before"]
        with pytest.raises(JournalUnavailable):
            await log.take_up(lambda _: False)
    journal.fails["lease"] = ["after"]
    with pytest.raises(JournalUnavailable):
        await log.take_up(lambda _: False)
    assert await log.take_up(lambda _: False) == (journal, 3)
    await log.close()
    journal.fails["lease"] = ["after"]
    with pytest.raises(JournalUnavailable):
        await log.take_up(lambda _: False)
    await log.close()
    assert (await journal.session("ses_1")).lease is None
    assert (await log_on(journal, clock, "next").take_up(lambda _: False))[0] is journal


async def test_a_first_call_given_up_while_it_takes_the_lease_leaves_nothing_taken(
    journal: Shaky, clock: FakeClock
) -> None:
    log = log_on(journal, clock)
    given_up = anyio.CancelScope()
    lease = FakeJournal.lease

    async def cancelling(session_id: str, holder: str, seconds: float, /) -> Lease:
        await lease(journal, session_id, holder, seconds)
        given_up.cancel()
        await anyio.sleep_forever()
        raise AssertionError

    with pytest.MonkeyPatch.context() as patched, given_up:
        patched.setattr(journal, "lease", cancelling)
        await log.append([HELLO])
    assert (await journal.session("ses_1")).lease is not None
    await log.close()
    assert (await journal.session("ses_1")).lease is None
    assert await kinds(journal) == ["session.created", "session.closed"]
    await log_on(journal, clock, "other").take_up(lambda _: False)
    log.open()
    with pytest.raises(LeaseHeld, match="is run by other"):
        await log.append([HELLO])


@pytest.mark.parametrize("what", ["append", "lease"])
async def test_an_end_that_could_not_be_written_is_told_and_the_journal_let_go(
    journal: Shaky, clock: FakeClock, caplog: pytest.LogCaptureFixture, what: str
) -> None:
    log = log_on(journal, clock)
    if what == "append":
        await log.append([HELLO])
    else:
        journal.fails["lease"] = ["after"]
        with pytest.raises(JournalUnavailable):
            await log.append([HELLO])
    journal.fails[what] = ["before"]
    await log.close()
    assert "the end of session ses_1 was not written down: the disk is full" in caplog.text
    assert journal.closed == 1


async def test_closing_waits_for_a_beginning_that_is_under_way(
    journal: Shaky, clock: FakeClock
) -> None:
    log = log_on(journal, clock)
    async with anyio.create_task_group() as group:
        group.start_soon(log.journal)
        await anyio.lowlevel.checkpoint()
        await log.close()
    assert await kinds(journal) == ["session.created", "session.closed"]
    assert (await journal.session("ses_1")).lease is None


@pytest.mark.parametrize("failing", [True, False])
async def test_what_cannot_be_opened_is_opened_later(
    journal: Shaky, clock: FakeClock, failing: bool
) -> None:
    refusals = [JournalUnavailable("no such place")] if failing else []

    async def opening() -> Journal:
        if refusals:
            raise refusals.pop()
        return journal

    log = SessionLog(opening, SessionCreated(), "ses_1", "me", clock)
    if failing:
        with pytest.raises(JournalUnavailable, match="no such place"):
            await log.append([HELLO])
    await log.append([HELLO])
    assert await kinds(journal) == ["session.created", "user.message"]


async def test_on_a_file_the_same_holds(tmp_path: Path) -> None:
    clock = FakeClock()

    async def opening() -> Journal:
        return open_sqlite(tmp_path / "it.db", Chain(bytes(32)), clock, FakeIds()).journal

    log = SessionLog(opening, SessionCreated(), "ses_1", "me", clock)
    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(log.append, [HELLO])
    clock.advance(LEASE_SECONDS)
    await log.append([HELLO])
    await log.close()
    again = SessionLog(opening, SessionCreated(), "ses_1", "you", clock)
    journal, epoch = await again.take_up(lambda _: False)
    assert epoch == 2
    told = ["session.created", *["user.message"] * 9, "session.closed", "session.status_changed"]
    assert await kinds(journal) == told
    await again.close()
