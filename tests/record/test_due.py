"""Sessions that have to be run are found, the most urgent first, on every store."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace
from record.store_places import StorePlace
from record.test_waiting import DEFERRED, NOON, queued

from holdfast.contract.events import (
    EventsProcessed,
    Payload,
    SessionClosed,
    SessionCreated,
    StatusChanged,
    UserMessage,
)
from holdfast.contract.journal import Journal
from holdfast.contract.session_state import due_micros
from holdfast.contract.wake_events import WakesCompleted
from holdfast.record.codec import micros_of
from holdfast.record.store import Store

CREATED = SessionCreated(agent_id="coder")
HI = UserMessage(message="hi")
RUNS = StatusChanged(from_status="idle", to_status="running", reason="a wake")
LATER = micros_of(NOON + timedelta(hours=1))


@pytest.fixture
async def store(place: StorePlace) -> AsyncGenerator[Store]:
    async with place.opened() as opened:
        yield opened


async def due(journal: Journal, before: int = LATER, limit: int = 10) -> list[str]:
    return [one.id for one in await journal.due(before, limit=limit)]


async def test_sessions_that_are_due_come_by_their_urgency_each_once(store: Store) -> None:
    sessions: dict[str, list[Payload]] = {
        "ses_low": [queued("q", minutes=-9, priority="low")],
        "ses_late": [queued("q", minutes=5)],
        "ses_early": [queued("q", minutes=1)],
        "ses_high": [queued("q", minutes=9, priority="high")],
        "ses_words_b": [HI, HI, queued("q", minutes=1)],
        "ses_words_a": [HI],
        "ses_future": [queued("q", minutes=99, priority="high")],
        "ses_nothing": [],
        "ses_over": [HI, SessionClosed(reason="done")],
    }
    for name, payloads in sessions.items():
        await store.journal.create(name, [CREATED, *payloads])
    await store.journal.create("ses_nobodys", [SessionCreated(), HI])
    assert await due(store.journal) == [
        *("ses_words_a", "ses_words_b", "ses_high", "ses_early", "ses_late", "ses_low"),
    ]
    assert await due(store.journal, limit=3) == ["ses_words_a", "ses_words_b", "ses_high"]
    assert await due(store.journal, micros_of(NOON) - 1) == [
        "ses_words_a",
        "ses_words_b",
        "ses_low",
    ]


async def test_of_many_that_are_due_the_most_urgent_is_found(store: Store) -> None:
    for number in range(30):
        await store.journal.create(f"ses_{number:02}", [CREATED, queued("q", minutes=number)])
    await store.journal.create("ses_99", [CREATED, queued("q", minutes=40, priority="high")])
    assert await due(store.journal, limit=2) == ["ses_99", "ses_00"]


async def test_what_is_due_follows_every_change(store: Store) -> None:
    journal = store.journal
    assert await journal.next_due() is None
    await journal.create("ses_1", [CREATED])
    assert await journal.next_due() is None
    await journal.append("ses_1", [queued("q1", minutes=2), queued("q2", minutes=1)])
    assert await journal.next_due() == micros_of(NOON + timedelta(minutes=1))
    await journal.append("ses_1", [WakesCompleted(queued_wake_ids=("q2",), cancelled=True)])
    assert await journal.next_due() == micros_of(NOON + timedelta(minutes=2))
    (said,) = await journal.append("ses_1", [HI])
    assert await journal.next_due() == 0
    await journal.append("ses_1", [DEFERRED])
    assert await journal.next_due() == micros_of(NOON)
    lease = await journal.lease("ses_1", "me", 60)
    assert await journal.next_due() == micros_of(NOON)
    await journal.append("ses_1", [RUNS], epoch=lease.epoch)
    assert await journal.next_due() == 0
    done = EventsProcessed(event_ids=(said.id,))
    rests = StatusChanged(from_status="running", to_status="idle", reason="done")
    await journal.append("ses_1", [done, rests, WakesCompleted(queued_wake_ids=("q1",))])
    assert await journal.next_due() is None
    await journal.append("ses_1", [HI])
    await store.archive.delete("ses_1", seen=await journal.session("ses_1"))
    assert await journal.next_due() is None


async def test_what_is_due_is_put_right_from_the_events(place: StorePlace) -> None:
    async with place.opened() as store:
        await store.journal.create("ses_1", [CREATED, HI])
        place.rows("UPDATE chat_sessions SET due = 77")
        (found,) = await store.archive.rebuild("ses_1", repair=True)
        assert (found.what, found.kept, found.wanted) == ("session due", "77", "0")
        assert await store.journal.next_due() == 0
        await store.journal.append("ses_1", [SessionClosed(reason="x")])
        assert await store.journal.next_due() is None


async def test_one_damaged_row_keeps_no_other_from_being_run(place: StorePlace) -> None:
    async with place.opened() as store:
        for name in ("ses_1", "ses_2"):
            await store.journal.create(name, [CREATED, HI])
        place.rows("UPDATE chat_sessions SET state_json = '{' WHERE id = 'ses_1'")
        assert await due(store.journal) == ["ses_2"]


@pytest.mark.parametrize("first", [[HI], [queued("q")], [RUNS]], ids=["words", "wake", "running"])
async def test_a_session_that_was_imported_is_not_run_before_somebody_here_speaks(
    place: StorePlace, tmp_path_factory: pytest.TempPathFactory, first: list[Payload]
) -> None:
    elsewhere = StorePlace(str(tmp_path_factory.mktemp("elsewhere") / "h.db"))
    async with elsewhere.opened() as other:
        await other.journal.create("ses_1", [CREATED, *first])
        events = await other.journal.events("ses_1")
    async with place.opened() as store:
        await store.archive.restore("ses_1", events)
        state = (await store.journal.session("ses_1")).state
        assert due_micros(state) is None
        assert state.status != "running"
        assert await store.journal.next_due() is None
        kept = await store.journal.events("ses_1")
        assert [one.payload for one in kept[: len(events)]] == [one.payload for one in events]
        assert await store.archive.rebuild("ses_1", repair=False) == ()
        await store.journal.append("ses_1", [HI])
        assert await due(store.journal) == ["ses_1"]


async def test_a_wake_of_any_time_is_kept_as_it_is(store: Store) -> None:
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC)
    wakes = [replace(queued(f"q{one.year}"), due_at=one) for one in (last, first)]
    await store.journal.create("ses_1", [CREATED, *wakes])
    assert await store.journal.next_due() == 0
    await store.journal.append("ses_1", [WakesCompleted(queued_wake_ids=("q1",))])
    assert await store.journal.next_due() == micros_of(last)
    assert await due(store.journal, micros_of(last)) == ["ses_1"]
