"""The journal in PostgreSQL: the same kit, many sessions in one commit, a server that goes away."""

from contextlib import AbstractAsyncContextManager

import anyio
import psycopg
import pytest
from anyio import create_task_group
from record.stores import postgres_at

from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.journal import Journal, JournalError, JournalUnavailable
from holdfast.record import sql
from holdfast.record.postgres import search
from holdfast.record.postgres.statements import query
from holdfast.testing.journal_kit import check_journal

pytestmark = pytest.mark.anyio


def opened(url: str) -> AbstractAsyncContextManager[Journal]:
    return postgres_at(url)()


async def test_it_passes_the_kit(postgres_url: str) -> None:
    async with opened(postgres_url) as journal:
        await check_journal(journal)


async def test_two_processes_that_append_to_the_same_sessions_share_one_order(
    postgres_url: str,
) -> None:
    names = [f"ses_{number}" for number in range(8)]

    async def say(journal: Journal, name: str) -> None:
        for number in range(10):
            await journal.append(name, [UserMessage(message=f"{number}")])

    async with opened(postgres_url) as first, opened(postgres_url) as second:
        for name in names:
            await first.create(name, [SessionCreated()])
        with anyio.fail_after(15):
            async with create_task_group() as group:
                for journal in (first, second):
                    for name in names if journal is first else reversed(names):
                        group.start_soon(say, journal, name)
        for name in names:
            kept = await second.events(name)
            assert [event.sequence for event in kept] == list(range(1, 22))


async def test_a_lost_connection_is_told_and_the_next_append_finds_another(
    postgres_url: str,
) -> None:
    async with opened(postgres_url) as journal:
        await journal.create("ses_1", [SessionCreated()])
        with psycopg.connect(postgres_url, autocommit=True) as killer:
            killer.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )
        with pytest.raises(JournalUnavailable):
            await journal.append("ses_1", [UserMessage(message="lost")])
        await journal.append("ses_1", [UserMessage(message="kept")])
        assert [event.sequence for event in await journal.events("ses_1")] == [1, 2]


async def test_one_that_the_server_cannot_take_does_not_harm_the_others(postgres_url: str) -> None:
    outcomes: list[str] = []

    async def begin(journal: Journal, name: str) -> None:
        try:
            await journal.create(name, [SessionCreated()])
        except JournalError as problem:
            outcomes.append(str(problem))
        else:
            outcomes.append("begun")

    async with opened(postgres_url) as journal:
        async with create_task_group() as group:
            for name in ("ses_1", "ses_2", "ses_\0", "ses_3"):
                group.start_soon(begin, journal, name)
        assert [event.sequence for event in await journal.events("ses_3")] == [1]
    assert outcomes.count("begun") == 3
    (told,) = set(outcomes) - {"begun"}
    assert "NUL" in told


async def test_what_has_its_id_already_is_told_alone(postgres_url: str) -> None:
    async with opened(postgres_url) as journal:
        await journal.create("ses_1", [SessionCreated()])
        said = [UserMessage(message="a")]
        await journal.append("ses_1", said, ids=["evt_same"])
        await journal.create("ses_2", [SessionCreated()])
        with pytest.raises(JournalError, match="duplicate key"):
            await journal.append("ses_2", said, ids=["evt_same"])
        await journal.append("ses_2", said, ids=["evt_other"])


async def test_events_of_one_session_are_looked_up_however_many_others_there_are(
    postgres_url: str,
) -> None:
    """By itself the planner would read all that there are: a session is a large part to it."""
    async with opened(postgres_url) as journal:
        await journal.create("ses_1", [SessionCreated(), UserMessage(message="hello")])
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            for statement in _MANY_OTHERS:
                connection.execute(statement)
            asked = query(sql.EVENTS_AFTER).decode().replace("%s", "{}").format("'ses_1'", 0, 32)
            explained = connection.execute(
                f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {asked}".encode()
            ).fetchone()
        assert explained is not None
        plan = explained[0][0]["Plan"]
        assert plan["Actual Rows"] == 2
        assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 20
        assert len(await journal.events("ses_1")) == 2


def test_no_statement_leaves_it_to_the_planner_where_the_events_of_a_session_are() -> None:
    of_one = "FROM chat_sessions, events WHERE chat_sessions.id = ?"
    everything = (*vars(sql).values(), *vars(search).values())
    statements = [one for one in everything if isinstance(one, str) and of_one in one]
    assert len(statements) >= 7
    for one in statements:
        assert b" CROSS JOIN LATERAL " in query(one), one


_MANY_OTHERS = (
    b"""
    INSERT INTO holdfast.chat_sessions
        (id, created_at, updated_at, sequence, hash, state_json, epoch, until, number)
    SELECT 'ses_other_' || n, 0, 0, 40, hash, state_json, 0, 0, n - 5000
    FROM holdfast.chat_sessions, generate_series(1, 2500) AS n WHERE id = 'ses_1'
    """,
    b"""
    INSERT INTO holdfast.events (place, id, micros, type, version, body, previous, hash)
    SELECT (n / 40 - 5000) * 4294967296 + n % 40, 'evt_' || n, 0, type, version, body, hash, hash
    FROM (SELECT * FROM holdfast.events LIMIT 1) AS kept, generate_series(1, 100000) AS n
    """,
    b"ANALYZE holdfast.events, holdfast.chat_sessions",
)
