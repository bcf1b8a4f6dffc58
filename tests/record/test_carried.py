"""Every store of carried files: the kit, what goes with its session, and who may remove."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from record.store_places import StorePlace

from holdfast.contract.carried import piece_name
from holdfast.contract.events import SessionCreated
from holdfast.record.store import Store
from holdfast.testing.carried_kit import check_carried

pytestmark = pytest.mark.anyio

PIECE = piece_name(b"piece")


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Store]:
    where = str(tmp_path / "home" / "holdfast.db")
    if request.param == "postgres":
        where = str(request.getfixturevalue("postgres_url"))
    async with StorePlace(where).opened() as opened:
        yield opened


async def test_each_store_passes_the_kit(store: Store) -> None:
    assert store.carried is not None
    await check_carried(store.carried(), store.journal)


async def test_what_a_session_carries_is_of_its_weight_and_goes_with_it(store: Store) -> None:
    assert store.carried is not None
    for name in ("ses_one", "ses_two"):
        await store.journal.create(name, [SessionCreated()])
    before = (await store.upkeep.weights())["ses_one"].bytes
    for name in ("ses_one", "ses_two"):
        await store.carried().put(name, {PIECE: b"piece"})
    assert (await store.upkeep.weights())["ses_one"].bytes == before + 5
    await store.archive.delete("ses_one")
    assert await store.carried().read("ses_one", [PIECE]) == {}
    assert await store.carried().read("ses_two", [PIECE]) == {PIECE: b"piece"}


async def test_what_came_for_a_session_that_is_gone_is_swept(store: Store) -> None:
    assert store.carried is not None
    await store.carried().put("ses_gone", {PIECE: b"piece"})
    await store.upkeep.sweep(dry=True)
    assert await store.carried().read("ses_gone", [PIECE]) == {PIECE: b"piece"}
    await store.upkeep.sweep(dry=False)
    assert await store.carried().read("ses_gone", [PIECE]) == {}
