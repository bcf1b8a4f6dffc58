"""What was told of a session that is due is remembered, and forgotten when that changes."""

from datetime import UTC, datetime

import psycopg
import pytest
from record.store_places import StorePlace
from record.test_migrations import older_database

from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.outbox import Outbox
from holdfast.contract.wake_events import WakeQueued
from holdfast.record.postgres import schema
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.testing.fake_outbox import FakeOutbox
from holdfast.testing.outbox_kit import check_outbox

pytestmark = pytest.mark.anyio

WORD = UserMessage(message="go")
LATE = 9_000_000_000_000_000


def outbox_of(store: Store) -> Outbox:
    assert store.outbox is not None
    return store.outbox


async def test_the_outbox_of_a_database_passes_the_kit(postgres_url: str) -> None:
    async with StorePlace(postgres_url).opened() as store:
        await check_outbox(store.journal, outbox_of(store), SystemClock())


async def test_the_fake_passes_the_kit() -> None:
    clock = SystemClock()
    fake = FakeOutbox(clock)
    await check_outbox(fake, fake, clock)
    await fake.close()


async def test_a_file_has_none(place: StorePlace) -> None:
    async with place.opened() as store:
        assert (store.outbox is not None) is place.is_postgres


@pytest.mark.parametrize("version", [3, 5, len(schema.MIGRATIONS) - 1])
async def test_what_was_due_in_an_older_database_is_untold(
    postgres_url: str, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = older_database(postgres_url, 3, monkeypatch)
    with monkeypatch.context() as then:
        then.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:version])
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            schema.migrate(connection)
    agents = """UPDATE chat_sessions SET state_json = '{"agent_id":"coder","pending":["evt_1"]}'"""
    moved = ", due = 0" if version > 4 else ""
    older.rows(f"{agents}{moved} WHERE id = 'ses_other'")
    async with older.opened() as store:
        found = await outbox_of(store).untold(0, 1, limit=9)
        assert [one.id for one in found] == ["ses_other"]
        await outbox_of(store).told(found)
        assert await outbox_of(store).untold(0, 1, limit=9) == ()


async def test_what_a_program_of_before_writes_is_untold_too(postgres_url: str) -> None:
    """It knows nothing of what was told: it only moves the session."""
    place = StorePlace(postgres_url)
    async with place.opened() as store:
        outbox = outbox_of(store)
        await store.journal.create("ses_1", [SessionCreated(agent_id="kit"), WORD])
        await outbox.told(await outbox.untold(0, 1, limit=9))
        assert await outbox.untold(0, 1, limit=9) == ()
        place.rows("UPDATE chat_sessions SET due = due WHERE id = 'ses_1'")
        assert len(await outbox.untold(0, 1, limit=9)) == 1


async def test_nobody_is_waited_for(postgres_url: str) -> None:
    """Whoever has the session locked is about to change it: it stays untold."""
    place = StorePlace(postgres_url)
    async with place.opened() as store:
        outbox = outbox_of(store)
        for name in ("ses_1", "ses_2"):
            await store.journal.create(name, [SessionCreated(agent_id="kit"), WORD])
        found = await outbox.untold(0, 1, limit=9)
        with place.holding("SELECT 1 FROM chat_sessions WHERE id = 'ses_1' FOR UPDATE"):
            await outbox.told(found)
        assert [one.id for one in await outbox.untold(0, 1, limit=9)] == ["ses_1"]


async def test_a_damaged_row_keeps_no_other_from_being_told(postgres_url: str) -> None:
    place = StorePlace(postgres_url)
    async with place.opened() as store:
        for name in ("ses_1", "ses_2"):
            await store.journal.create(name, [SessionCreated(agent_id="kit"), WORD])
        place.rows("UPDATE chat_sessions SET state_json = '{' WHERE id = 'ses_1'")
        found = await outbox_of(store).untold(0, 1, limit=9)
        assert [one.id for one in found] == ["ses_2"]


async def test_what_is_untold_is_found_without_a_look_at_what_was_told(postgres_url: str) -> None:
    place = StorePlace(postgres_url)
    async with place.opened() as store:
        outbox = outbox_of(store)
        later = WakeQueued(
            queued_wake_id="qwk_1", due_at=datetime(2200, 1, 1, tzinfo=UTC), reason="later"
        )
        for number in range(50):
            await store.journal.create(f"ses_{number}", [SessionCreated(agent_id="kit"), later])
        await outbox.told(await outbox.untold(0, LATE, limit=50))
        place.rows("ANALYZE chat_sessions")
        plan = place.rows(
            "EXPLAIN SELECT id FROM chat_sessions WHERE due <= 9 AND announced IS NULL"
        )
        assert "sessions_untold" in str(plan)


async def test_damaged_rows_do_not_make_a_page_look_like_the_last_one(postgres_url: str) -> None:
    """Whoever has a page that is not full looks for no other one behind it."""
    place = StorePlace(postgres_url)
    async with place.opened() as store:
        outbox = outbox_of(store)
        names = [f"ses_{number}" for number in range(6)]
        for name in names:
            await store.journal.create(name, [SessionCreated(agent_id="kit"), WORD])
        place.rows("UPDATE chat_sessions SET state_json = '{' WHERE id IN ('ses_0', 'ses_1')")
        untold = await outbox.untold(0, 1, limit=2)
        assert [one.id for one in untold] == ["ses_2", "ses_3"]
        assert len(await outbox.untold(0, 1, limit=5)) == 4
        await outbox.told(await outbox.untold(0, 1, limit=6))
        place.rows("UPDATE chat_sessions SET announced = 0 WHERE announced IS NULL")
        overdue = await outbox.overdue(0, 1, after="", limit=2)
        assert [one.id for one in overdue] == ["ses_2", "ses_3"]
