"""Whoever stands still in the middle of a transaction of a real PostgreSQL keeps nothing locked."""

from contextlib import closing

import psycopg
import pytest
from record.stores import postgres_at
from record.test_postgres_waits import SAID, begun

from holdfast.contract.journal import JournalUnavailable
from holdfast.record.appending import SessionWork
from holdfast.record.postgres.connection import PostgresConnections
from holdfast.record.postgres.desk import desk_on

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("url_says", "seconds", "is_freed"),
    [("", 0.2, True), ("", 60, False), ("&options=-c%20transaction_timeout%3D200", 60, True)],
)
async def test_who_stands_still_in_a_transaction_keeps_no_session_locked(
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
    url_says: str,
    seconds: float,
    is_freed: bool,
) -> None:
    """Stopped, or cut off: nobody could take over what it has locked, for as long as it is."""
    monkeypatch.setattr("holdfast.record.postgres.desk.APPEND_SECONDS", seconds)
    async with postgres_at(postgres_url)() as journal:
        await begun(journal, "ses_1")
        with (
            closing(PostgresConnections(f"{postgres_url}{url_says}")) as connections,
            connections.connect() as stands_still,
        ):
            stands_still.execute("BEGIN")
            desk_on(stands_still, [SessionWork("ses_1", bool)], 0)
            monkeypatch.setattr("holdfast.record.postgres.committing.LOCK_SECONDS", 2.0)
            if is_freed:
                await journal.append("ses_1", SAID)
                with pytest.raises(psycopg.Error, match="transaction timeout"):
                    stands_still.execute("COMMIT")
            else:
                with pytest.raises(JournalUnavailable, match="somebody keeps it locked"):
                    await journal.append("ses_1", SAID)


async def test_what_may_take_long_is_not_ended(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.record.postgres.desk.APPEND_SECONDS", 0.1)
    async with postgres_at(postgres_url)() as journal:
        await begun(journal, "ses_1")
        with (
            closing(PostgresConnections(postgres_url)) as connections,
            connections.connect() as connection,
        ):
            for is_long, told in ((False, "100ms"), (True, "0")):
                with connection.transaction():
                    desk_on(connection, [SessionWork("ses_1", bool, is_long=is_long)], 0)
                    row = connection.execute("SHOW transaction_timeout").fetchone()
                    assert row == (told,)
