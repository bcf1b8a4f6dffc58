"""The engine of one process: what is due runs, and nothing keeps it from that."""

import logging
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from engine.engines import embedded
from record.store_places import StorePlace

from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.journal import Journal, JournalUnavailable
from holdfast.contract.wake_events import WakeQueued
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.embedded import EmbeddedEngine, EnginePace
from holdfast.runtime.clock import SystemClock
from holdfast.testing.engine_kit import ToyRunner, check_engine
from holdfast.testing.fake_journal import FakeJournal
from holdfast.testing.fakes import FakeClock

S = "ses_1"
CREATED = SessionCreated(agent_id="coder")
WORD = UserMessage(message="go")
SELDOM = EnginePace(look_seconds=30)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def journal(clock: FakeClock) -> AsyncGenerator[FakeJournal]:
    journal = FakeJournal(clock)
    yield journal
    await journal.close()


@pytest.mark.req("BOA-WAKE-08")
@pytest.mark.timeout(60)
async def test_the_embedded_engine_passes_the_kit_in_memory(journal: FakeJournal) -> None:
    await check_engine(journal, embedded(journal, SystemClock()))


@pytest.mark.req("BOA-WAKE-08")
@pytest.mark.timeout(60)
async def test_the_embedded_engine_passes_the_kit_on_a_file(tmp_path: Path) -> None:
    async with StorePlace(str(tmp_path / "holdfast.db")).opened() as store:
        await check_engine(store.journal, embedded(store.journal, SystemClock()))


class InVain(ToyRunner):
    """Runs, and leaves everything as it was."""

    end = WakeEnd(session_id=S, executed=True)

    async def __call__(self, session_id: str, /) -> WakeEnd:
        self.order.append(session_id)
        await anyio.lowlevel.checkpoint()
        return self.end


class Contended(InVain):
    end = WakeEnd(session_id=S, executed=False, reason="lease_contended")


class NotOurs(InVain):
    end = WakeEnd(session_id=S, executed=False, reason="not_ours")


async def pauses(runner: InVain, journal: FakeJournal, clock: FakeClock) -> list[float]:
    """How many seconds pass between runs, looked at every half a second."""
    await journal.create(S, [CREATED, WORD])
    engine = EmbeddedEngine(journal, runner, clock, SELDOM)
    found: list[float] = []
    last = 0.0
    for half in range(220):
        before = len(runner.order)
        await engine.run_until_idle()
        assert len(runner.order) <= before + 1
        if len(runner.order) > before:
            found.append(half / 2 - last)
            last = half / 2
        clock.advance(0.5)
    return found


@pytest.mark.parametrize("kind", [InVain, NotOurs])
async def test_what_stays_due_is_left_alone_for_longer_and_longer(
    journal: FakeJournal, clock: FakeClock, kind: type[InVain]
) -> None:
    assert await pauses(kind(journal), journal, clock) == [0, 2, 4, 8, 16, 30, 30]


async def test_what_another_runs_is_looked_at_every_few_seconds(
    journal: FakeJournal, clock: FakeClock
) -> None:
    found = await pauses(Contended(journal), journal, clock)
    assert found[:4] == [0, 2, 4, 5]
    assert {*found[4:]} == {5}


async def test_what_is_new_is_not_left_alone(journal: FakeJournal, clock: FakeClock) -> None:
    runner = InVain(journal)
    engine = EmbeddedEngine(journal, runner, clock, SELDOM)
    await journal.create(S, [CREATED, WORD])
    for ran in (1, 2, 3):
        await engine.run_until_idle()
        await engine.run_until_idle()
        assert len(runner.order) == ran
        await journal.append(S, [WORD])
    well = ToyRunner(journal)
    engine = EmbeddedEngine(journal, well, clock, SELDOM)
    assert await engine.run_until_idle() == 1


async def test_the_same_wake_queued_again_by_its_run_is_nothing_new(
    journal: FakeJournal, clock: FakeClock
) -> None:
    def wake() -> WakeQueued:
        number = len(runner.order)
        return WakeQueued(queued_wake_id=f"qwk_{number}", due_at=clock.now(), reason="again")

    class Again(ToyRunner):
        async def works(self, session_id: str) -> None:
            await journal.append(session_id, [wake()])

    runner = Again(journal)
    await journal.create(S, [CREATED, wake()])
    engine = EmbeddedEngine(journal, runner, clock, SELDOM)
    assert await engine.run_until_idle() == 1
    clock.advance(2)
    assert await engine.run_until_idle() == 1


async def test_whoever_pokes_gets_one_more_run(journal: FakeJournal, clock: FakeClock) -> None:
    runner = InVain(journal)
    engine = EmbeddedEngine(journal, runner, clock, SELDOM)
    await journal.create(S, [CREATED, WORD])
    await engine.run_until_idle()
    engine.poke(S)
    engine.poke("ses_nobody")
    await engine.run_until_idle()
    await engine.run_until_idle()
    assert len(runner.order) == 2
    clock.advance(3.9)
    await engine.run_until_idle()
    assert len(runner.order) == 2, "it is known how often it was in vain"
    clock.advance(0.1)
    await engine.run_until_idle()
    assert len(runner.order) == 3


async def test_a_session_that_is_gone_after_its_run_is_forgotten(
    journal: FakeJournal, clock: FakeClock
) -> None:
    class Deleting(InVain):
        async def __call__(self, session_id: str, /) -> WakeEnd:
            await journal.archive.delete(session_id)
            return await super().__call__(session_id)

    await journal.create(S, [CREATED, WORD])
    engine = EmbeddedEngine(journal, Deleting(journal), clock, SELDOM)
    assert await engine.run_until_idle() == 1
    await journal.create(S, [CREATED, WORD])
    assert await engine.run_until_idle() == 1


async def until(ready: list[str], count: int) -> None:
    with anyio.fail_after(10):
        while len(ready) < count:  # noqa: ASYNC110 - a list tells nobody when it grows
            await anyio.sleep(0.005)


async def test_what_others_write_is_found_by_looking_and_what_comes_due_in_time() -> None:
    clock = SystemClock()
    journal = FakeJournal(clock)
    runner = ToyRunner(journal)
    engine = EmbeddedEngine(journal, runner, clock, EnginePace(look_seconds=0.01))
    async with anyio.create_task_group() as group:
        group.start_soon(engine.run)
        soon = clock.now() + timedelta(seconds=0.05)
        wake = WakeQueued(queued_wake_id="qwk_1", due_at=soon, reason="later")
        await journal.create(S, [CREATED, wake])
        await journal.create("ses_2", [CREATED, WORD])
        await until(runner.order, 2)
        await engine.stop()
    assert runner.order == ["ses_2", S]
    await journal.close()


async def test_a_wake_is_waited_for_no_longer_than_until_it_is_due() -> None:
    """It is looked for only every half a minute, and this test has 20 s."""
    clock = SystemClock()
    journal = FakeJournal(clock)
    runner = ToyRunner(journal)
    soon = clock.now() + timedelta(seconds=0.05)
    wake = WakeQueued(queued_wake_id="qwk_1", due_at=soon, reason="later")
    await journal.create(S, [CREATED, wake])
    engine = EmbeddedEngine(journal, runner, clock, SELDOM)
    async with anyio.create_task_group() as group:
        group.start_soon(engine.run)
        await until(runner.order, 1)
        assert clock.now() >= soon
        await engine.stop()
    await journal.close()


async def test_a_store_that_cannot_be_read_is_looked_at_again(
    journal: FakeJournal,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked: list[str] = []

    async def next_due(kept: Journal) -> int | None:
        asked.append("next")
        if len(asked) < 3:
            raise JournalUnavailable("the disk is gone")
        return 0

    monkeypatch.setattr(FakeJournal, "next_due", next_due)
    await journal.create(S, [CREATED, WORD])
    runner = ToyRunner(journal)
    engine = EmbeddedEngine(journal, runner, clock, SELDOM)
    with pytest.raises(JournalUnavailable):
        await engine.run_until_idle()
    async with anyio.create_task_group() as group:
        with caplog.at_level(logging.WARNING, "holdfast"):
            group.start_soon(engine.run)
            await until(asked, 2)
            engine.poke(S)
            await until(runner.order, 1)
        await engine.stop()
    assert [one.message for one in caplog.records] == [
        "what is due is not known: the disk is gone; looking again later"
    ]


async def test_a_store_that_is_lost_during_a_run_leaves_the_session_alone(
    journal: FakeJournal, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def session(_kept: Journal, _session_id: str, /) -> object:
        raise JournalUnavailable("the disk is gone")

    await journal.create(S, [CREATED, WORD])
    runner = InVain(journal)
    engine = EmbeddedEngine(journal, runner, clock, SELDOM)
    with monkeypatch.context() as patched:
        patched.setattr(FakeJournal, "session", session)
        await engine.run_until_idle()
    await engine.run_until_idle()
    assert len(runner.order) == 1


async def test_once_stopped_it_begins_nothing(journal: FakeJournal, clock: FakeClock) -> None:
    await journal.create(S, [CREATED, WORD])
    runner = ToyRunner(journal)
    engine = EmbeddedEngine(journal, runner, clock, SELDOM)
    await engine.stop()
    await engine.run()
    assert await engine.run_until_idle() == 0
    assert runner.order == []


async def test_pauses_of_long_ago_are_forgotten(journal: FakeJournal, clock: FakeClock) -> None:
    runner = InVain(journal)
    engine = EmbeddedEngine(journal, runner, clock, SELDOM)
    await journal.create(S, [CREATED, WORD])
    for _ in range(3):
        await engine.run_until_idle()
        clock.advance(8)
    assert len(runner.order) == 3
    clock.advance(120)
    await engine.run_until_idle()
    clock.advance(2)
    await engine.run_until_idle()
    assert len(runner.order) == 5


class Unreachable(FakeJournal):
    """Nobody can be asked what is due; whoever asks is sent to ask again at once."""

    looks = 0
    engine: EmbeddedEngine | None = None

    async def next_due(self) -> int | None:
        self.looks += 1
        assert self.engine is not None
        if self.looks > 1100:
            await anyio.lowlevel.checkpoint()
            return None
        self.engine.poke(S)
        raise JournalUnavailable("the store is away")


async def test_an_engine_outlives_a_store_that_is_away_for_long(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "holdfast")
    journal = Unreachable(clock)
    engine = journal.engine = EmbeddedEngine(journal, ToyRunner(journal), clock, SELDOM)
    async with anyio.create_task_group() as group:
        group.start_soon(engine.run)
        with anyio.fail_after(10):
            while journal.looks <= 1100:
                await anyio.lowlevel.checkpoint()
        await engine.stop()
    await journal.close()
