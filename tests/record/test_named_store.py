"""The store that the configuration names: opened, looked at by the doctor, its password kept."""

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from anyio import to_thread
from command import Answered, start
from postgres_server import PASSWORD, PostgresServer
from record.store_places import StorePlace

from holdfast import Holdfast, tool
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.app.store import open_store
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.archive import SessionQuery
from holdfast.contract.failure import FailureKind
from holdfast.contract.journal import JournalUnavailable
from holdfast.record.postgres import schema as postgres_schema
from holdfast.record.sqlite import schema as sqlite_schema
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

pytestmark = pytest.mark.anyio


@tool
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name} {PASSWORD}"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


def doctor(home: Path, **variables: str) -> tuple[int, str]:
    """Its status, and what it says of the store."""
    answered: Answered = start(
        "doctor", "--workspace", str(home), home=home, variables=dict(variables)
    )
    assert PASSWORD not in answered.out + answered.err
    lines = answered.out.splitlines()
    at = next(number for number, line in enumerate(lines) if line[6:].startswith("store:"))
    step = lines[at + 1].strip() if lines[at + 1].startswith("      ->") else ""
    return answered.status, f"{lines[at]} {step}".strip()


async def test_calls_are_settled_into_the_postgresql_that_the_settings_name(
    postgres_url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    monkeypatch.setenv("HOLDFAST_STORE__KIND", "postgres")
    monkeypatch.setenv("HOLDFAST_STORE__URL", postgres_url)
    async with Holdfast(tools=[greet], workspace=home) as hf:
        envelope = await hf.settle("greet", {"name": "Ada"})
    assert envelope.result == {"text": "Hello Ada ***REDACTED***"}
    place = StorePlace(postgres_url)
    async with place.opened() as store:
        events = await store.journal.events(hf.session_id)
        assert [event.type for event in events][-2:] == ["call.settled", "session.closed"]
        (hit, *_) = await store.archive.search("Hello Ada")
        assert hit.session_id == hf.session_id
    assert not (home / "data" / "holdfast.db").exists()
    bodies = place.rows("SELECT encode(body, 'escape') FROM events")
    assert PASSWORD not in str(bodies)
    async with Holdfast(tools=[greet], workspace=home, session=hf.session_id) as again:
        assert (await again.settle("greet", {"name": "Bo"})).ok


async def test_two_of_one_process_share_their_connections(
    postgres_url: str, postgres_server: PostgresServer, home: Path
) -> None:
    surroundings = Surroundings(data_home=home / "data", state_home=home / "state")

    def one(url: str = postgres_url) -> Holdfast:
        settings = Settings(store=StoreSettings(kind="postgres", url=url))
        return Holdfast(tools=[greet], settings=settings, surroundings=surroundings)

    def connections() -> object:
        asked = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holdfast'"
        return StorePlace(postgres_url).rows(asked)[0][0]

    async with one() as first:
        assert (await first.settle("greet", {"name": "Ada"})).ok
        alone = connections()
        async with one() as second:
            assert (await second.settle("greet", {"name": "Bo"})).ok
            assert connections() == alone
        with postgres_server.database() as other:
            async with one(other) as third:
                assert (await third.settle("greet", {"name": "Cy"})).ok
        assert (await first.settle("greet", {"name": "Ada"})).ok
    async with StorePlace(postgres_url).opened() as store:
        assert len(await store.archive.sessions(SessionQuery())) == 2


async def test_a_server_that_is_not_there_refuses_the_call_and_shows_no_password(
    home: Path,
) -> None:
    url = f"postgresql://ada:{PASSWORD}@/main?host={home}/nowhere"
    settings = Settings(store=StoreSettings(kind="postgres", url=url))
    surroundings = Surroundings(data_home=home / "data", state_home=home / "state")
    async with Holdfast(tools=[greet], settings=settings, surroundings=surroundings) as hf:
        failure = (await hf.settle("greet", {"name": "Ada"})).failure
    assert failure is not None
    assert failure.kind is FailureKind.UNAVAILABLE
    assert "start the server, or correct host and port of the URL" in failure.message
    assert PASSWORD not in failure.message + repr(settings)
    assert "nowhere" not in repr(settings)


@pytest.mark.parametrize(
    ("store", "said"),
    [
        (StoreSettings(kind="postgres"), "set HOLDFAST_STORE__URL to postgresql://"),
        (StoreSettings(kind="none"), "set store.kind = 'sqlite'"),
    ],
)
def test_what_cannot_be_opened_says_what_to_set(
    store: StoreSettings, said: str, tmp_path: Path
) -> None:
    clock = SystemClock()
    surroundings = Surroundings(data_home=tmp_path)
    with pytest.raises(JournalUnavailable, match=said):
        open_store(Settings(store=store), surroundings, clock, TimeIds(clock))


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        ("postgresql://ada:p%40ss-word@db/main", ("p%40ss-word", "p@ss-word")),
        ("postgresql://ada@db/main?password=s3cret-1&x=1", ("s3cret-1",)),
        ("host=db password='s3cret-2' user=ada", ("s3cret-2",)),
        ("postgresql://ada@db/main", ()),
    ],
)
def test_the_password_of_the_store_is_a_secret(url: str, secrets: tuple[str, ...]) -> None:
    settings = Settings(store=StoreSettings(kind="postgres", url=url))
    assert surroundings_of_this_process(settings, environment={}).secrets == secrets


def test_the_doctor_looks_at_a_file_and_makes_none(home: Path) -> None:
    database = home / "data" / "holdfast.db"
    assert doctor(home) == (0, f"OK    store: sqlite: {database} (made when needed)")
    assert not database.exists()
    database.parent.mkdir(mode=0o700)
    database.write_bytes(b"this is no database at all" * 100)
    status, said = doctor(home)
    assert status == 1
    assert "it is damaged" in said
    assert said.endswith("-> restore it from a copy")


@pytest.mark.timeout(90)  # several programs, one after the other
async def test_the_doctor_tells_versions(home: Path) -> None:
    database, newest = home / "data" / "holdfast.db", len(sqlite_schema.MIGRATIONS)
    async with StorePlace(str(database)).opened():
        pass
    said: list[str] = []
    for version in (newest, newest - 1, 99):
        with closing(sqlite3.connect(database)) as connection:
            connection.execute(f"PRAGMA user_version = {version}")
        said.append((await to_thread.run_sync(doctor, home))[1])
    assert said[0].endswith(f"(tables of version {newest})")
    assert said[1].endswith(f"(tables of version {newest - 1}, brought to {newest} when needed)")
    assert said[2].endswith("-> update holdfast")


@pytest.mark.measured
@pytest.mark.timeout(90)  # several programs, one after the other
def test_the_doctor_tells_what_was_chosen(home: Path, postgres_url: str) -> None:
    none = doctor(home, HOLDFAST_STORE__KIND="none")
    assert none == (0, "OK    store: none: nothing is written down")
    status, said = doctor(home, HOLDFAST_STORE__URL=postgres_url)
    assert (status, said.startswith("WARN  store: store.url is given")) == (0, True)
    status, said = doctor(home, HOLDFAST_STORE__KIND="postgres")
    assert status == 1
    assert "-> set HOLDFAST_STORE__URL" in said


@pytest.mark.measured
@pytest.mark.timeout(90)  # several programs, one after the other
async def test_the_doctor_looks_at_a_database_and_makes_nothing(
    home: Path, postgres_url: str, postgres_server: PostgresServer
) -> None:
    chosen = {"HOLDFAST_STORE__KIND": "postgres", "HOLDFAST_STORE__URL": postgres_url}

    async def said(**changed: str) -> tuple[int, str]:
        return await to_thread.run_sync(lambda: doctor(home, **{**chosen, **changed}))

    status, told = await said()
    assert status == 0
    assert told.startswith("OK    store: postgres: postgresql://holdfast@")
    assert told.endswith("(made when needed)")
    place = StorePlace(postgres_url)
    assert place.rows("SELECT to_regnamespace('holdfast')") == [(None,)]
    async with place.opened():
        pass
    assert (await said())[1].endswith(f"(tables of version {len(postgres_schema.MIGRATIONS)})")
    place.rows("CREATE ROLE guest LOGIN PASSWORD 'guest-password'")
    guest = postgres_url.replace(f"holdfast:{PASSWORD}", "guest:guest-password")
    status, told = await said(HOLDFAST_STORE__URL=guest)
    assert (status, "lacks a privilege" in told or "may not write" in told) == (1, True)
    name = postgres_url.partition("@/")[2].partition("?")[0]
    place.rows(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    status, told = await said()
    assert (status, told.endswith("-> name the server that can be written")) == (1, True)
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only".encode())
    place.rows("DROP ROLE guest")
