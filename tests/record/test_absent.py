"""A PostgreSQL whose tables are gone: the sessions that were in it are named."""

from pathlib import Path

import psycopg
import pytest

from holdfast.app.ledger import Verdict, verified
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.app.store import open_store
from holdfast.contract.events import SessionCreated
from holdfast.record.verifying import Verified
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

pytestmark = pytest.mark.anyio


def seen(_one: Verified) -> None:
    """Nobody looks on."""


async def test_sessions_that_are_gone_with_their_tables_are_named(
    postgres_url: str, tmp_path: Path
) -> None:
    settings = Settings(store=StoreSettings(kind="postgres", url=postgres_url))
    around = Surroundings(data_home=tmp_path / "data", state_home=tmp_path / "state")
    assert verified(settings, around, None, seen) == Verdict(0, 0, 0, 0, ())
    clock = SystemClock()
    store = open_store(settings, around, clock, TimeIds(clock))
    await store.journal.create("ses_1", [SessionCreated()])
    await store.journal.close()
    assert verified(settings, around, "last", seen) == Verdict(1, 1, 0, 0, ())
    with psycopg.connect(postgres_url) as connection:
        connection.execute("DROP SCHEMA holdfast CASCADE")
    (problem,) = verified(settings, around, None, seen).problems
    assert (problem.trouble, problem.told[:25]) == ("gone", "it had come to event 1, a")
