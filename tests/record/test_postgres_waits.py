"""A PostgreSQL that others use or that stops: nobody waits for ever, nor for another's session."""

import os
import signal
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager

import anyio
import psycopg
import pytest
from anyio import create_task_group
from record.store_places import CHAIN, StorePlace
from record.stores import postgres_at

from holdfast.contract.events import Payload, SessionCreated, UserMessage
from holdfast.contract.journal import Journal, JournalError, JournalUnavailable
from holdfast.record.appending import Appending, SessionWork
from holdfast.record.codec import Unwritten
from holdfast.record.postgres import committing
from holdfast.record.postgres.committing import PostgresCommitter
from holdfast.record.postgres.connection import PostgresConnections
from holdfast.record.postgres.patience import PatientConnection
from holdfast.record.rows import Desk

pytestmark = pytest.mark.anyio

SAID: Sequence[Payload] = (UserMessage(message="said"),)
BACKENDS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'holdfast'"
BY_PLACE = "%20".join(
    f"-c%20enable_{one}%3Doff" for one in ("indexscan", "bitmapscan", "indexonlyscan")
)
"""Has the server find rows in the order they are kept in, as it likes to do in small tables."""


def row_of(session_id: str) -> str:
    return f"SELECT 1 FROM chat_sessions WHERE id = '{session_id}' FOR UPDATE"


async def begun(journal: Journal, *names: str) -> None:
    for name in names:
        await journal.create(name, [SessionCreated()])


async def outcomes(journal: Journal, names: Sequence[str]) -> dict[str, str]:
    """What becomes of an append to each, all at once: in one commit, or in two."""
    found: dict[str, str] = {}

    async def say(name: str) -> None:
        try:
            await journal.append(name, SAID)
        except JournalUnavailable as problem:
            found[name] = str(problem)
        else:
            found[name] = "kept"

    async with create_task_group() as group:
        for name in names:
            group.start_soon(say, name)
    return found


@contextmanager
def committer_at(url: str) -> Generator[PostgresCommitter]:
    with (
        closing(PostgresConnections(url)) as connections,
        closing(PostgresCommitter(connections)) as committer,
    ):
        yield committer


def created(session_id: str) -> Appending:
    events = [Unwritten(f"evt_{session_id}", 1, None, SessionCreated())]
    return Appending(session_id, events, CHAIN, creates=True, named=True)


def said(session_id: str) -> Appending:
    event = Unwritten(f"evt_said_{session_id}", 1, None, UserMessage(message="said"))
    return Appending(session_id, [event], CHAIN, named=True)


def begin(session_id: str) -> bytes:
    """What another client does, which is no holdfast."""
    return (
        f"INSERT INTO holdfast.chat_sessions SELECT '{session_id}', 1, 1, 0, '', '{{}}', 0, NULL,"
        " 0, nextval('holdfast.session_numbers')"
    ).encode()


def waits_for_a_lock(url: str) -> Callable[[], bool]:
    waiting = f"SELECT 1 FROM ({BACKENDS} AND wait_event_type = 'Lock') AS waiting"
    return lambda: bool(StorePlace(url).rows(waiting))


def until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)


async def test_a_session_that_another_client_locks_fails_alone(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committing, "LOCK_SECONDS", 0.6)
    names = [f"ses_{number}" for number in range(12)]
    async with postgres_at(postgres_url)() as journal:
        await begun(journal, *names)
        with StorePlace(postgres_url).holding(row_of("ses_3")), anyio.fail_after(5):
            found = await outcomes(journal, names)
        assert {name for name, what in found.items() if what == "kept"} == {*names} - {"ses_3"}
        assert "end that client's transaction" in found["ses_3"]
        assert set((await outcomes(journal, names)).values()) == {"kept"}
        kept = [len(await journal.events(name)) for name in names]
        assert kept == [2 if name == "ses_3" else 3 for name in names]


async def test_what_was_waited_for_in_vain_holds_nobody_up_again(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committing, "LOCK_SECONDS", 3.0)
    async with postgres_at(postgres_url)() as journal:
        await begun(journal, "ses_1", "ses_2")
        with StorePlace(postgres_url).holding(row_of("ses_1")):
            began = time.monotonic()
            assert "lock" in (await outcomes(journal, ["ses_1"]))["ses_1"]
            assert time.monotonic() - began > 2.9
            for _ in range(3):
                began = time.monotonic()
                found = await outcomes(journal, ["ses_1", "ses_2"])
                assert (found["ses_2"], found["ses_1"] == "kept") == ("kept", False)
                assert time.monotonic() - began < 2.9
        assert await outcomes(journal, ["ses_1"]) == {"ses_1": "kept"}
        with StorePlace(postgres_url).holding(row_of("ses_1")):  # and from now on it is, again
            began = time.monotonic()
            await outcomes(journal, ["ses_1"])
            assert time.monotonic() - began > 2.9


async def test_a_journal_is_closed_while_a_session_is_locked(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committing, "LOCK_SECONDS", 0.5)
    with ExitStack() as locks, anyio.fail_after(5):
        async with postgres_at(postgres_url)() as journal, create_task_group() as group:
            await begun(journal, "ses_1")
            locks.enter_context(StorePlace(postgres_url).holding(row_of("ses_1")))
            group.start_soon(outcomes, journal, ["ses_1"])


async def test_many_locked_sessions_are_waited_for_together(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committing, "LOCK_SECONDS", 0.5)
    names = [f"ses_{number}" for number in range(40)]
    async with postgres_at(postgres_url)() as journal:
        await begun(journal, *names)
        everything = "LOCK TABLE chat_sessions IN ACCESS EXCLUSIVE MODE"
        with StorePlace(postgres_url).holding(everything), anyio.fail_after(4):
            assert "kept" not in (await outcomes(journal, names)).values()
        assert set((await outcomes(journal, names)).values()) == {"kept"}


async def test_a_damaged_session_fails_alone(postgres_url: str) -> None:
    names = [f"ses_{number}" for number in range(6)]
    async with postgres_at(postgres_url)() as journal:
        await begun(journal, *names)
        broken = "UPDATE chat_sessions SET state_json = '{' WHERE id = 'ses_2'"
        StorePlace(postgres_url).rows(broken)
        found = await outcomes(journal, names)
        assert "is damaged" in found.pop("ses_2")
        assert set(found.values()) == {"kept"}


def test_when_the_server_goes_away_not_each_work_has_to_find_that_out(postgres_url: str) -> None:
    def refuse(_desk: Desk) -> None:
        raise ValueError("of its own")

    def end_the_server(_desk: Desk) -> None:
        StorePlace(postgres_url).rows(BACKENDS.replace("pid", "pg_terminate_backend(pid)"))

    with committer_at(postgres_url) as committer:
        committer.commit([created("ses_1"), created("ses_2")], wait=True)
        works = [
            SessionWork("ses_1", refuse),
            SessionWork("ses_2", end_the_server),
            created("ses_3"),
        ]
        own, lost, never_tried = committer.commit(works, wait=True) or [None] * 3
        assert isinstance(own, ValueError)
        assert isinstance(lost, JournalUnavailable)
        assert never_tried is lost
        assert not isinstance((committer.commit(works[2:], wait=True) or [None])[0], Exception)


@contextmanager
def stopped(url: str) -> Generator[None]:
    """The server's processes that work for us do not go on for a while."""
    ours = [int(str(pid)) for (pid,) in StorePlace(url).rows(BACKENDS)]
    assert ours
    for pid in ours:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in ours:
            os.kill(pid, signal.SIGCONT)


async def test_a_server_that_says_nothing_is_given_up(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PatientConnection, "patience", 0.6)
    async with postgres_at(postgres_url)() as journal:
        await begun(journal, "ses_1")
        assert len(await journal.events("ses_1")) == 1
        with stopped(postgres_url), anyio.fail_after(8):
            with pytest.raises(JournalUnavailable, match=r"not answered for 0\.6 s.*then try agai"):
                await journal.append("ses_1", SAID)
            # Whoever comes next finds a connection that works, to read and to write.
            assert len(await journal.events("ses_1")) == 1
            await journal.append("ses_1", SAID)
        assert [event.sequence for event in await journal.events("ses_1")] == [1, 2]


@contextmanager
def unanswered(connections: PostgresConnections) -> Generator[None]:
    with pytest.raises(JournalUnavailable, match="has not answered"), connections.told():
        yield


@pytest.mark.parametrize("asked", ["SELECT 1", "BEGIN; SELECT 1"])
def test_whatever_is_asked_of_a_stopped_server_ends(postgres_url: str, asked: str) -> None:
    with closing(PostgresConnections(postgres_url)) as connections:
        connection = connections.connect()
        with (
            stopped(postgres_url),
            connection.patient_for(0.3),
            unanswered(connections),
            connection.transaction(),
            connection.pipeline(),
        ):
            connection.execute(asked.encode())
        assert connection.closed


def test_who_thinks_long_and_says_something_is_waited_for(postgres_url: str) -> None:
    with (
        closing(PostgresConnections(postgres_url)) as connections,
        connections.connect() as connection,
    ):
        for patience in (None, 5):
            with connection.patient_for(patience):
                connection.execute("SELECT pg_sleep(0.5)")
        with connection.patient_for(0.2), unanswered(connections):
            connection.execute("SELECT pg_sleep(5)")


@pytest.mark.parametrize(("more", "told"), [("", "20000"), ("&tcp_user_timeout=7000", "7000")])
def test_the_system_looks_for_a_network_that_is_gone_as_the_url_says(
    postgres_url: str, more: str, told: str
) -> None:
    with (
        closing(PostgresConnections(f"{postgres_url}{more}")) as connections,
        connections.connect() as own,
        connections.borrowed() as borrowed,
    ):
        for connection in (own, borrowed):
            settings = connection.info.get_parameters()
            assert (settings["tcp_user_timeout"], settings["keepalives_idle"]) == (told, "10")


async def test_sessions_that_two_begin_in_opposite_order_are_begun_once(postgres_url: str) -> None:
    found: list[str] = []

    async def try_it(journal: Journal, name: str) -> None:
        try:
            await journal.create(name, [SessionCreated()])
        except JournalUnavailable as problem:
            found.append(f"unavailable: {problem}")
        except JournalError as problem:
            found.append(str(problem))
        else:
            found.append("begun")

    rounds = [[f"ses_{number}_{one}" for one in range(60)] for number in range(4)]
    async with postgres_at(postgres_url)() as first, postgres_at(postgres_url)() as second:
        with anyio.fail_after(30):
            for names in rounds:
                async with create_task_group() as group:
                    for name in names:
                        group.start_soon(try_it, first, name)
                    for name in reversed(names):
                        group.start_soon(try_it, second, name)
        already = {f"there is a session {name} already" for names in rounds for name in names}
        assert sorted(found) == sorted(["begun"] * 240 + [*already])
        assert len(await first.events("ses_0_0")) == 1


def test_sessions_are_begun_in_the_order_of_their_ids(postgres_url: str) -> None:
    """Who waits for one that another begins holds none that comes later."""
    with committer_at(postgres_url) as committer, ThreadPoolExecutor(1) as thread:
        with psycopg.connect(postgres_url) as other:
            other.execute(begin("ses_a"))
            both = thread.submit(committer.commit, [created("ses_b"), created("ses_a")], wait=True)
            until(waits_for_a_lock(postgres_url))
            other.execute("SET lock_timeout = '300ms'")
            other.execute(begin("ses_b"))
            other.rollback()
        assert not any(isinstance(found, Exception) for found in both.result() or ())


def test_a_session_that_another_begins_meanwhile_is_there_already(postgres_url: str) -> None:
    with committer_at(postgres_url) as committer, ThreadPoolExecutor(1) as thread:
        with psycopg.connect(postgres_url) as other:
            other.execute(begin("ses_a"))
            one = thread.submit(committer.commit, [created("ses_a")], wait=True)
            until(waits_for_a_lock(postgres_url))
            other.commit()
        (found,) = one.result() or [None]
    assert isinstance(found, JournalError)
    assert not isinstance(found, JournalUnavailable)
    assert str(found) == "there is a session ses_a already"


def test_sessions_are_locked_in_the_order_of_their_ids(postgres_url: str) -> None:
    """Who waits for one holds none that comes later, wherever the server keeps them."""
    url = f"{postgres_url}&options={BY_PLACE}"
    with committer_at(url) as committer, ThreadPoolExecutor(1) as thread:
        for name in ("ses_b", "ses_a"):
            committer.commit([created(name)], wait=True)
        with psycopg.connect(postgres_url) as other:
            other.execute("SET search_path = holdfast")
            other.execute(row_of("ses_a").encode())
            both = thread.submit(committer.commit, [said("ses_b"), said("ses_a")], wait=True)
            until(waits_for_a_lock(postgres_url))
            other.execute(f"{row_of('ses_b')} NOWAIT".encode())
            other.rollback()
        assert not any(isinstance(found, Exception) for found in both.result() or ())


def test_who_is_in_a_circle_with_another_client_is_done_again(postgres_url: str) -> None:
    with committer_at(postgres_url) as committer, ThreadPoolExecutor(1) as thread:
        for name in ("ses_a", "ses_b"):
            committer.commit([created(name)], wait=True)
        with psycopg.connect(postgres_url) as other:
            other.execute("SET search_path = holdfast")
            # The other one is in no hurry to find out: it is ours that the server refuses.
            other.execute("SET deadlock_timeout = '60s'")
            other.execute(row_of("ses_b").encode())
            works = [said("ses_a"), said("ses_b")]
            both = thread.submit(committer.commit, works, wait=True)
            until(waits_for_a_lock(postgres_url))
            other.execute(row_of("ses_a").encode())
            other.rollback()
        assert not any(isinstance(found, Exception) for found in both.result() or ())
