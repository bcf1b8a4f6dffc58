"""Pruning a store and its folders: whole sessions, none that is needed, also when killed."""

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from anyio import to_thread
from command import HOLDFAST, Answered, start
from record.store_places import StorePlace

from holdfast.app.holders import this_process
from holdfast.app.pruning import Plan, Pruned, Pruning
from holdfast.app.store import journal_key
from holdfast.contract.archive import SessionQuery
from holdfast.contract.events import (
    ApprovalAsked,
    CallAsked,
    EventsProcessed,
    Payload,
    SessionClosed,
    SessionCreated,
    StatusChanged,
    UserMessage,
)
from holdfast.contract.journal import Journal
from holdfast.execution.processes.claims import Claim
from holdfast.execution.session_folders import SessionFolders
from holdfast.record.retention import Going, Limits
from holdfast.record.sql import SPAN
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio

DAY = 86_400
EVERYTHING = Limits(sessions=0)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@pytest.fixture
def folders(home: Path) -> SessionFolders:
    return SessionFolders(home / "data" / "sessions")


async def finished(journal: Journal, name: str, *, parent: str | None = None) -> None:
    """A session in which somebody said something, and that is over."""
    begun = await journal.create(
        name, [SessionCreated(parent_id=parent), UserMessage(message=f"words of {name}")]
    )
    await journal.append(
        name, [EventsProcessed(event_ids=(begun[1].id,)), SessionClosed(reason="")]
    )


def forget(_going: Going) -> None:
    pass


async def pruned(
    store: Store, folders: SessionFolders, limits: Limits, clock: FakeClock | None = None
) -> tuple[Plan, Pruned]:
    pruning = Pruning(store, folders, clock or SystemClock())
    plan = await pruning.plan(limits)
    return plan, await pruning.carry_out(plan, forget)


async def ids(store: Store) -> list[str]:
    return sorted(one.id for one in await store.archive.sessions(SessionQuery()))


ASKED = CallAsked(call_id="cal_1", tool="bash", arguments="{}")
QUESTION = ApprovalAsked(
    approval_id="apr_1", call_id="cal_1", tool="bash", arguments_hash="ab", reason="", uses=(),
    offers=("once",), wider=(),
)  # fmt: skip


@pytest.mark.parametrize(
    ("payloads", "why"),
    [
        ([StatusChanged(from_status="idle", to_status="running", reason="")], "it is running"),
        ([ASKED], "it has open calls"),
        ([ASKED, QUESTION], "it has open calls"),
        ([UserMessage(message="more")], "what somebody said is not taken into account yet"),
    ],
)
async def test_what_a_live_session_needs_stays(
    place: StorePlace, folders: SessionFolders, payloads: Sequence[Payload], why: str
) -> None:
    async with place.opened() as store:
        await finished(store.journal, "ses_0")
        await store.journal.create("ses_1", [SessionCreated(), *payloads])
        await finished(store.journal, "ses_2", parent="ses_1")
        for limits in (EVERYTHING, Limits(bytes=0), Limits(active_since=2**62)):
            plan, _ = await pruned(store, folders, limits)
            assert [(one.id, one.need) for one in plan.needed] == [("ses_1", why)]
            assert await ids(store) == ["ses_1", "ses_2"]


async def test_a_lease_keeps_a_session_while_its_holder_lives(
    place: StorePlace, folders: SessionFolders
) -> None:
    machine, _, number = this_process().rpartition("/")
    holders = {
        "ses_here": this_process(),
        "ses_dead": f"{machine}/{number.partition('-')[0]}-1",
        "ses_away": "elsewhere-1234/5-6",
        "ses_late": "elsewhere-1234/5-6",
    }
    async with place.opened() as store:
        for name, holder in holders.items():
            await finished(store.journal, name)
            await store.journal.lease(name, holder, -1 if name in {"ses_late", "ses_here"} else 60)
        await pruned(store, folders, EVERYTHING)
        assert await ids(store) == ["ses_away", "ses_here"]


async def test_a_folder_in_use_keeps_its_session(
    place: StorePlace, folders: SessionFolders, home: Path
) -> None:
    async with place.opened() as store:
        await finished(store.journal, "ses_1")
        claim = Claim(home / "data" / "sessions" / "ses_1")
        await pruned(store, folders, EVERYTHING)
        assert await ids(store) == ["ses_1"]
        claim.release()
        await pruned(store, folders, EVERYTHING)
        assert await ids(store) == []


async def test_ages_numbers_and_bytes_are_respected(
    place: StorePlace, folders: SessionFolders, home: Path
) -> None:
    clock = FakeClock()
    async with place.opened(clock) as store:
        for number in range(6):
            await finished(store.journal, f"ses_{number}")
            clock.advance(DAY)
        at = (clock.now() - timedelta(days=5)).timestamp()
        await pruned(store, folders, Limits(active_since=int(at * 1e6)), clock)
        assert await ids(store) == [f"ses_{number}" for number in range(1, 6)]
        await pruned(store, folders, Limits(sessions=4), clock)
        assert await ids(store) == ["ses_2", "ses_3", "ses_4", "ses_5"]
        weights = await store.upkeep.weights()
        sizes = {one: weights[one].bytes for one in await ids(store)}
        outputs = home / "data" / "sessions" / "ses_4" / "outputs"
        outputs.mkdir(parents=True)
        (outputs / "one").write_bytes(b"x" * 10_000)
        most = sizes["ses_4"] + sizes["ses_5"] + 10_000
        _, done = await pruned(store, folders, Limits(bytes=most), clock)
        assert await ids(store) == ["ses_4", "ses_5"]
        assert done.bytes == sizes["ses_2"] + sizes["ses_3"]
        _, done = await pruned(store, folders, Limits(bytes=most - 1), clock)
        assert (await ids(store), done.bytes) == (["ses_5"], sizes["ses_4"] + 10_000)
        assert not outputs.parent.exists()


async def test_bytes_are_of_events_and_parts_as_they_are_stored(place: StorePlace) -> None:
    async with place.opened() as store:
        await finished(store.journal, "ses_1")
        await store.journal.append("ses_1", [ASKED])
        await store.journal.create("ses_ä", [SessionCreated(), UserMessage(message="日本語 ü")])
        weights = await store.upkeep.weights()
        for name, weight in weights.items():
            events = place.rows(f"SELECT body FROM session_events WHERE session_id = '{name}'")
            parts = place.rows(f"SELECT data_json FROM chat_parts WHERE session_id = '{name}'")
            stored = [row[0] for row in events if isinstance(row[0], bytes)]
            stored += [str(row[0]).encode() for row in parts]
            assert len(stored) == len(events) + len(parts) >= 3
            assert weight.bytes == sum(map(len, stored))
        assert {name: weight.waits for name, weight in weights.items()} == {
            "ses_1": False,
            "ses_ä": True,
        }


async def test_a_session_that_goes_on_meanwhile_is_left_alone(
    place: StorePlace, folders: SessionFolders
) -> None:
    async with place.opened() as store:
        await finished(store.journal, "ses_1")
        await finished(store.journal, "ses_2")
        pruning = Pruning(store, folders, SystemClock())
        plan = await pruning.plan(EVERYTHING)
        await store.journal.lease("ses_1", "elsewhere-1/2-3", 60)
        done = await pruning.carry_out(plan, forget)
        assert done.left == (("ses_1", "session ses_1 went on meanwhile; it was left alone"),)
        assert await ids(store) == ["ses_1"]


async def test_what_nobody_refers_to_is_swept(place: StorePlace, folders: SessionFolders) -> None:
    async with place.opened() as store:
        await finished(store.journal, "ses_1")
        await store.archive.search("words")
        if place.is_postgres:
            place.rows("INSERT INTO search VALUES ('ses_gone', 1, '''a'':1', '', 'user.message')")
            place.rows("INSERT INTO version_contents VALUES ('aa', 'lost!'::bytea)")
        else:
            place.rows(f"INSERT INTO search (rowid, words) VALUES ({99 * SPAN + 1}, 'a')")
            place.rows("INSERT INTO version_contents VALUES ('aa', CAST('lost!' AS BLOB))")
        place.rows("INSERT INTO search_places VALUES ('ses_gone', 1)")
        kept = "'bb', 'kept'::bytea" if place.is_postgres else "'bb', x'00'"
        place.rows(f"INSERT INTO version_contents VALUES ({kept})")
        place.rows(
            "INSERT INTO versions VALUES ('s', 't', 1, 'ver_1', 1, 'write', 'x', NULL, NULL,"
            " 'bb', 4, '', NULL, NULL)"
        )
        plan, done = await pruned(store, folders, Limits(sessions=9))
        assert plan.swept == done.swept
        assert (done.swept.entries, done.swept.contents, done.swept.bytes) == (1, 1, 5)
        assert (place.how_many("search"), place.how_many("search_places")) == (1, 1)
        assert place.rows("SELECT hash FROM version_contents") == [("bb",)]
        again = await store.upkeep.sweep(dry=False)
        assert (again.entries, again.contents, again.bytes) == (0, 0, 0)


async def test_what_is_free_is_used_again_and_compacting_gives_it_back(
    tmp_path: Path, folders: SessionFolders
) -> None:
    place = StorePlace(str(tmp_path / "home" / "holdfast.db"))

    async def fill(store: Store, name: str) -> None:
        await store.journal.create(name, [SessionCreated(), UserMessage(message="x" * 900_000)])

    async with place.opened() as store:
        await fill(store, "ses_1")
        await store.upkeep.compact()
        full = Path(place.where).stat().st_size
        await store.archive.delete("ses_1")
        await fill(store, "ses_2")
        await store.upkeep.compact()
        assert Path(place.where).stat().st_size <= full + 20_000
        await store.archive.delete("ses_2")
        freed = await store.upkeep.compact()
        assert freed > 1_500_000
        assert Path(place.where).stat().st_size < full / 4
        await finished(store.journal, "ses_3")


class Home:
    """A home with a store, as the command finds it."""

    def __init__(self, folder: Path, place: StorePlace) -> None:
        self.folder = folder
        self.place = place
        journal_key(folder / "state")
        self.variables = {"HOLDFAST_HOME": str(folder)}
        if place.is_postgres:
            self.variables |= {
                "HOLDFAST_STORE__KIND": "postgres",
                "HOLDFAST_STORE__URL": place.where,
            }

    def holdfast(self, *words: str) -> Answered:
        folder = str(self.folder)
        return start(*words, "--workspace", folder, home=self.folder, variables=self.variables)

    def lay(self, name: str, age: float = 2 * DAY) -> Path:
        outputs = self.folder / "data" / "sessions" / name / "outputs"
        outputs.mkdir(parents=True)
        (outputs / "one").write_bytes(b"x" * 1000)
        then = time.time() - age
        for path in (outputs / "one", outputs, outputs.parent):
            os.utime(path, (then, then))
        return outputs.parent


@pytest.fixture
def own(place: StorePlace, home: Path) -> Home:
    if not place.is_postgres:
        place = StorePlace(str(home / "data" / "holdfast.db"))
    return Home(home, place)


@pytest.mark.measured
async def test_the_command_shows_asks_removes_and_says_what(own: Home) -> None:
    async with own.place.opened() as store:
        await finished(store.journal, "ses_1")
        await finished(store.journal, "ses_2")
        await store.journal.create("ses_3", [SessionCreated(), UserMessage(message="waits")])
    own.lay("ses_1")
    lost = own.lay("ses_lost")
    own.lay("ses_young", age=60)
    said = [
        await to_thread.run_sync(own.holdfast, "prune", *words)
        for words in (
            ["--keep", "0", "--dry-run"],
            ["--keep", "0"],
            ["--keep", "1", "--older-than", "0d", "--yes", "--json", "--compact"],
            ["--keep", "0", "--yes"],
        )
    ]
    dry, refused, done, again = said
    assert dry.status == 0
    assert "would remove ses_1  " in dry.out
    assert "would be removed: 2 sessions, 1 folder that no session has" in dry.out
    assert "stays ses_3: what somebody said is not taken into account yet" in dry.out
    assert refused.status == 1
    assert "give --yes" in refused.err
    assert done.status == 0, done.err
    document = json.loads(done.out)
    assert {one["session"] for one in document["removed"]} == {"ses_1", "ses_2"}
    assert [one["path"] for one in document["folders"]] == [str(lost)]
    assert document["staying"] == 1
    assert document["bytes"] > 2000
    assert document["compacted_bytes"] >= 0
    left = sorted(path.name for path in (own.folder / "data" / "sessions").iterdir())
    assert left == ["ses_young"]
    assert again.status == 0
    assert again.out.startswith("There is nothing to remove.\n")
    async with own.place.opened() as store:
        assert await ids(store) == ["ses_3"]


async def test_the_settings_say_what_stays(own: Home) -> None:
    async with own.place.opened() as store:
        for number in range(3):
            await finished(store.journal, f"ses_{number}")
    own.variables["HOLDFAST_STORE__RETENTION__SESSIONS"] = "2"
    answered = await to_thread.run_sync(own.holdfast, "prune", "--yes")
    assert answered.status == 0, answered.err
    assert "removed ses_0" in answered.out
    assert "give --compact" in answered.out
    async with own.place.opened() as store:
        assert await ids(store) == ["ses_1", "ses_2"]


@pytest.mark.timeout(90)  # several programs, one after the other
async def test_a_prune_that_is_killed_leaves_whole_sessions_and_can_be_run_again(
    own: Home,
) -> None:
    dice = random.Random(7)
    count = 120
    async with own.place.opened() as store:
        for number in range(count):
            await finished(store.journal, f"ses_{number:03}")
        await store.archive.search("words")
    for number in range(count):
        own.lay(f"ses_{number:03}")

    def killed() -> None:
        words = [str(HOLDFAST), "prune", "--keep", "0", "--yes", "--workspace", str(own.folder)]
        with subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            env={**os.environ, **own.variables, "PYTHONUNBUFFERED": "1"},
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(dice.random() * 0.05)
            process.send_signal(signal.SIGKILL)

    for _ in range(3):
        await to_thread.run_sync(killed)
        async with own.place.opened() as store:
            left = sorted(one.id for one in await store.archive.sessions(SessionQuery(limit=count)))
            assert 0 < len(left) < count
            for name in left:
                assert await store.archive.rebuild(name, repair=False) == ()
                assert len(await store.journal.events(name)) == 4
                assert (own.folder / "data" / "sessions" / name / "outputs" / "one").exists()
            assert own.place.how_many("search") == len(left)
    answered = await to_thread.run_sync(own.holdfast, "prune", "--keep", "0", "--yes")
    assert answered.status == 0, answered.err
    async with own.place.opened() as store:
        assert await ids(store) == []
    names = [path.name for path in (own.folder / "data" / "sessions").iterdir()]
    assert len(names) <= 3  # of a kill between the journal and the folder; gone in a day
