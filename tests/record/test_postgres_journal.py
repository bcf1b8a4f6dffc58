"""The journal in PostgreSQL: the same kit, many sessions in one commit, a server that goes away."""

from contextlib import AbstractAsyncContextManager

import anyio
import psycopg
import pytest
from anyio import create_task_group
from record.stores import postgres_at

from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.journal import Journal, JournalError, JournalUnavailable
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
