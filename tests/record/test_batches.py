"""Works that share a transaction: each sees the one before it, and none harms another.

On both stores, by their committers, so that what shares a transaction is no matter of luck.
"""

from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path

import pytest
from anyio import create_task_group, to_thread
from record.store_places import CHAIN, EVERY_EVENT, StorePlace, at

from holdfast.contract.events import Payload, SessionCreated, SpanStarted, UserMessage
from holdfast.contract.journal import JournalError, JournalUnavailable, UnknownSession
from holdfast.record import appending, sql
from holdfast.record.appending import Appending, SessionWork, known
from holdfast.record.codec import Unwritten
from holdfast.record.divergence import not_vouched_for
from holdfast.record.group_commit import Committer
from holdfast.record.postgres.committing import PostgresCommitter
from holdfast.record.postgres.connection import PostgresConnections
from holdfast.record.postgres.journal import read_postgres
from holdfast.record.rebuilding import put_right, rebuilt
from holdfast.record.rows import Desk
from holdfast.record.sqlite.opening import SqliteReader
from holdfast.record.sqlite.store import SqliteCommitter
from holdfast.record.verifying import Verified, verify

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> StorePlace:
    if request.param == "sqlite":
        return StorePlace(str(tmp_path / "h.db"))
    return StorePlace(str(request.getfixturevalue("postgres_url")))


@pytest.fixture
def committer(place: StorePlace) -> Generator[Committer[Desk]]:
    if place.is_postgres:
        connections = PostgresConnections(place.where)
        made = PostgresCommitter(connections)
        yield made
        made.close()
        connections.close()
    else:
        other = SqliteCommitter(Path(place.where), "process")
        yield other
        other.close()


def said(session: str, payload: Payload, *, event: str, creates: bool = False) -> Appending:
    unwritten = Unwritten(event, 7, None, payload)
    return Appending(session, [unwritten], CHAIN, creates=creates, named=True)


def created(session: str, event: str = "evt_1") -> Appending:
    return said(session, SessionCreated(), event=f"{event}{session}", creates=True)


def message(session: str, event: str = "evt_2") -> Appending:
    return said(session, UserMessage(message="hello"), event=f"{event}{session}")


def deletion(session: str) -> SessionWork[None]:
    def deleted(desk: Desk) -> None:
        desk.delete(known(session, desk))

    return SessionWork(session, deleted)


def done(
    committer: Committer[Desk], *works: Appending | SessionWork[None]
) -> list[object | Exception]:
    return list(committer.commit(works, wait=True) or ())


def kept(place: StorePlace) -> list[tuple[object, object]]:
    lost = place.rows("SELECT count(*) FROM events")[0][0]
    found = [(row[0], row[5]) for row in place.rows(EVERY_EVENT)]
    assert lost == len(found), "each event is of a session"
    return found


def test_what_comes_behind_a_deletion_is_told_that_there_is_nothing(
    place: StorePlace, committer: Committer[Desk]
) -> None:
    done(committer, created("a"))
    first, second = done(committer, deletion("a"), message("a"))
    assert first is None
    assert isinstance(second, UnknownSession)
    assert kept(place) == []
    assert not isinstance(done(committer, created("b"), message("b"))[1], Exception)
    assert kept(place) == [("b", "session.created"), ("b", "user.message")]


def test_a_deletion_takes_along_what_was_appended_a_moment_before(
    place: StorePlace, committer: Committer[Desk]
) -> None:
    done(committer, created("a"), created("b"))
    done(committer, message("a"), message("b"), deletion("a"))
    assert kept(place) == [("b", "session.created"), ("b", "user.message")]
    assert place.how_many("chat_messages") == 1
    assert place.how_many("chat_parts") == 1


def test_a_session_that_begins_and_goes_at_once_was_never_there(
    place: StorePlace, committer: Committer[Desk]
) -> None:
    done(committer, created("a"), message("a"), deletion("a"))
    assert place.how_many("chat_sessions") == 0
    assert kept(place) == []
    done(committer, created("a"))
    done(committer, message("a"), deletion("a"), created("a", "evt_3"))
    assert kept(place) == [("a", "session.created")]
    done(committer, message("a"))
    assert len(kept(place)) == 2


def test_one_id_in_two_sessions_is_two_events(
    place: StorePlace, committer: Committer[Desk]
) -> None:
    done(committer, created("a"), created("b"))
    span = SpanStarted(span_id="spn_1", span_kind="tool", name="add")
    one, other = (said(name, span, event="evt_same") for name in "ab")
    done(committer, one, one, other)
    assert kept(place) == [
        (name, kind) for name in "ab" for kind in ("session.created", "span.started")
    ]


async def test_one_id_twice_in_an_append_is_one_event(place: StorePlace) -> None:
    async with place.opened() as store:
        await store.journal.create("a", [SessionCreated()])
        twice = [UserMessage(message="1"), UserMessage(message="2")]
        events = await store.journal.append("a", twice, ids=["evt_x", "evt_x"])
        assert [event.payload for event in events] == [UserMessage(message="1")]


async def test_a_repair_keeps_whoever_runs_the_session_now(
    place: StorePlace, committer: Committer[Desk]
) -> None:
    done(committer, created("a"), message("a"))
    place.rows("UPDATE chat_sessions SET state_json = '{\"title\":\"forged\"}' WHERE id = 'a'")
    reader = read_postgres(place.where) if place.is_postgres else SqliteReader(Path(place.where))
    again = rebuilt(reader, "a")
    reader.close()
    lease = partial(appending.lease, "a", "new runner", appending.Term(0, 99))
    committer.commit([SessionWork("a", lease)], wait=True)
    done(committer, SessionWork("a", partial(put_right, again)), message("a", "evt_9"))
    async with place.opened() as store:
        session = await store.journal.session("a")
        assert session.lease is not None
        assert (session.lease.holder, session.epoch) == ("new runner", 1)
        assert session.state.title == "hello"
        assert session.sequence == 3
        assert await store.archive.rebuild("a", repair=False) == ()
        stale = await to_thread.run_sync(
            lambda: done(committer, SessionWork("a", partial(put_right, again)))
        )
        assert isinstance(stale[0], JournalError)


def verified(place: StorePlace) -> list[Verified]:
    reader = read_postgres(place.where) if place.is_postgres else SqliteReader(Path(place.where))
    try:
        return [one for one in verify(reader, CHAIN, {}) if one.problems]
    finally:
        reader.close()


def test_a_repair_beside_a_lease_is_done(place: StorePlace, committer: Committer[Desk]) -> None:
    done(committer, created("a"), message("a"))
    reader = read_postgres(place.where) if place.is_postgres else SqliteReader(Path(place.where))
    again = rebuilt(reader, "a")
    place.rows("UPDATE chat_sessions SET state_json = replace(state_json, 'hello', 'spoilt')")

    def take(desk: Desk) -> None:
        appending.lease("a", "ada", appending.Term(0, 10**18), desk)

    done(committer, SessionWork("a", take), SessionWork("a", partial(put_right, again)))
    (row,) = reader.rows(sql.SESSION, ("a",))
    assert sql.session_of(row) == again.session._replace(epoch=1, holder="ada", until=10**18)
    reader.close()


def test_events_of_no_session_and_before_the_first_are_found(
    place: StorePlace, committer: Committer[Desk]
) -> None:
    done(committer, created("a"), created("b"), message("b"))
    assert verified(place) == []
    place.rows(f"UPDATE events SET place = place - 2 WHERE {at('b', 2)}")
    place.rows("UPDATE events SET place = place + 990 * 4294967296 WHERE place / 4294967296 = 1")
    told = [problem.told for one in verified(place) for problem in one.problems]
    assert "events that belong to no session are kept under number 991: 1" in told
    assert "events that belong to no session are kept under number 2: 1" in told


async def test_a_session_that_was_put_in_is_told_from_one_that_was_lived(place: StorePlace) -> None:
    async with place.opened() as store:
        await store.journal.create("a", [SessionCreated(), UserMessage(message="hello")])
        lived = await store.journal.events("a")
        await store.archive.delete("a")
        await store.archive.restore("a", lived)
        await store.journal.create("b", [SessionCreated()])
        await store.journal.append("a", [UserMessage(message="go on")])
        told = await store.journal.events("a")
    assert [event.payload for event in told[:2]] == [event.payload for event in lived]
    reader = read_postgres(place.where) if place.is_postgres else SqliteReader(Path(place.where))
    found = {one.session_id: (one.imported, one.problems) for one in verify(reader, CHAIN, {})}
    reader.close()
    assert found == {"a": (True, ()), "b": (False, ())}
    assert not_vouched_for(told, CHAIN) is None
    place.rows(f"UPDATE events SET previous = hash WHERE {at('b', 1)}")
    assert [one.session_id for one in verified(place)] == ["b"]


def test_a_part_that_was_put_beside_another_is_found(
    place: StorePlace, committer: Committer[Desk]
) -> None:
    done(committer, created("a"), message("a"))
    place.rows(
        "INSERT INTO chat_parts SELECT id, message_id, session_id, -1, type, 'forged',"
        " tool_call_id, tool_state, created_at, updated_at FROM chat_parts"
    )
    ((problem,),) = [one.problems for one in verified(place)]
    assert problem.trouble == "rows"


def test_a_damaged_row_of_one_session_hides_no_other(
    place: StorePlace, committer: Committer[Desk]
) -> None:
    done(committer, created("a"), created("b"), created("c"))
    place.rows("UPDATE chat_sessions SET state_json = 'x' WHERE id = 'a'")
    place.rows(f"UPDATE events SET micros = 8 WHERE {at('c', 1)}")
    found = {one.session_id: one.problems[0].trouble for one in verified(place)}
    assert found == {"a": "unreadable", "c": "edited"}


def test_a_snapshot_stays_as_it_was(place: StorePlace, committer: Committer[Desk]) -> None:
    done(committer, created("a"))
    reader = read_postgres(place.where) if place.is_postgres else SqliteReader(Path(place.where))
    with reader.snapshot() as seen:
        before = seen.rows(sql.ALL_SESSION_IDS, ())
        done(committer, created("b"))
        assert seen.rows(sql.ALL_SESSION_IDS, ()) == before
    assert len(reader.rows(sql.ALL_SESSION_IDS, ())) == 2
    reader.close()


async def test_looking_at_a_session_that_is_written_raises_no_alarm(place: StorePlace) -> None:
    async with place.opened() as store:
        journal = store.journal
        await journal.create("a", [SessionCreated()])
        left = 100

        async def talk() -> None:
            nonlocal left
            while left > 0:
                await journal.append("a", [UserMessage(message=str(left))])
                left -= 1
                name = f"short {left}"
                await journal.create(name, [SessionCreated()])
                await store.archive.delete(name)

        async with create_task_group() as group:
            group.start_soon(talk)
            while left > 0:
                assert await to_thread.run_sync(verified, place) == []
                assert await store.archive.rebuild("a", repair=False) == ()
                left = max(0, left - 30)


def test_an_interruption_leaves_no_transaction_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committer = SqliteCommitter(tmp_path / "h.db", "process")
    done(committer, created("a"))

    def interrupted(desk: Desk) -> None:
        desk.put_session(known("a", desk)._replace(sequence=99))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        committer.commit([interrupted], wait=True)
    with monkeypatch.context() as patched:
        patched.setattr(SqliteCommitter, "_begun", _begun_and_interrupted(committer))
        with pytest.raises(KeyboardInterrupt):
            committer.commit([interrupted], wait=True)
    assert not isinstance(done(committer, message("a"))[0], Exception)
    rows = StorePlace(str(tmp_path / "h.db")).rows(EVERY_EVENT)
    assert [row[1] for row in rows] == [1, 2]
    committer.close()


def _begun_and_interrupted(committer: SqliteCommitter) -> Callable[[SqliteCommitter], bool]:
    begun = SqliteCommitter._begun  # type: ignore[reportPrivateUsage] - where it is interrupted

    def interrupted(_committer: SqliteCommitter) -> bool:
        begun(committer)
        raise KeyboardInterrupt

    return interrupted


def test_many_who_find_the_file_locked_wait_for_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = StorePlace(str(tmp_path / "h.db"))
    committer = SqliteCommitter(tmp_path / "h.db", "process")
    done(committer, created("a"))
    waits = 0

    def later(_committer: SqliteCommitter) -> bool:
        nonlocal waits
        waits += 1
        raise JournalUnavailable("another process has kept it locked")

    monkeypatch.setattr(SqliteCommitter, "_begun_later", later)
    with place.holding("BEGIN IMMEDIATE"):
        found = done(committer, *(message("a", f"evt_{number}") for number in range(5)))
    assert [type(one) for one in found] == [JournalUnavailable] * 5
    assert waits == 1
    committer.close()


async def test_what_is_written_ahead_stays_small_under_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meant = 4 << 20
    monkeypatch.setattr("holdfast.record.sqlite.store.LOG_BYTES", meant)
    place = StorePlace(str(tmp_path / "h.db"))
    log = tmp_path / "h.db-wal"
    largest = 0
    async with place.opened() as store:
        await store.journal.create("a", [SessionCreated()])

        async def talk(words: str) -> None:
            nonlocal largest
            for _ in range(100):
                await store.journal.append("a", [UserMessage(message=words)])
                largest = max(largest, log.stat().st_size)

        async with create_task_group() as group:
            for _ in range(4):
                group.start_soon(talk, "x" * 100_000)
    written = 2 * 400 * 100_000  # as an event, and as a part
    assert largest < 8 * meant < written / 2
