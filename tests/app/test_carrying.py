"""Workspaces that travel between workers with data and folders of their own, over real servers."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from app.carried_machines import DONE, Machine, printed, runs
from nats_server import NatsServers, running_nats
from postgres_server import PostgresServer, running_server
from this_tree import this_tree

from holdfast.agent.models.scripted import ScriptedModel
from holdfast.app import bringing, carrying, copies
from holdfast.app.agent_settings import ClusterSettings, EngineSettings
from holdfast.app.agent_work import Work, opened_agent
from holdfast.app.configuration import Configuration
from holdfast.app.problems import ConfigurationError
from holdfast.app.run_replaying import replay_run
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.contract.delegation import DELEGATED
from holdfast.contract.events import Payload, SessionCreated, UserMessage
from holdfast.contract.journal import JournalUnavailable, JournalUnusable
from holdfast.contract.session_state import CarriedFiles
from holdfast.contract.wake_events import WorkspaceKept, WorkspaceLost, WorkspaceStays
from holdfast.execution.files import unpacking
from holdfast.record.postgres.carried import PostgresCarried
from holdfast.record.store import Store
from holdfast.runtime.abort import Abort
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.session_log import SessionLog

pytestmark = pytest.mark.anyio

CHILD = Path(__file__).with_name("carrying_child.py")
_numbers = count(1)


@pytest.fixture(scope="module")
def postgres() -> Generator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture(scope="module")
def nats() -> Generator[NatsServers]:
    with running_nats() as servers:
        yield servers


@pytest.fixture
def settings(postgres: PostgresServer, nats: NatsServers) -> Generator[Settings]:
    with postgres.database() as url:
        yield Settings(
            engine=EngineSettings(kind="cluster"),
            store=StoreSettings(kind="postgres", url=url),
            cluster=ClusterSettings(
                servers=nats.urls, namespace=f"carried{next(_numbers)}", workspaces="carried"
            ),
        )


def bounded(settings: Settings, **cluster: Any) -> Settings:
    changed = msgspec.structs.replace(settings.cluster, **cluster)
    return msgspec.structs.replace(settings, cluster=changed)


@pytest.fixture
def one(settings: Settings, tmp_path: Path) -> Machine:
    return Machine(settings, tmp_path / "one")


@pytest.fixture
def two(settings: Settings, tmp_path: Path) -> Machine:
    return Machine(settings, tmp_path / "two")


@asynccontextmanager
async def looked(machine: Machine) -> AsyncGenerator[Store]:
    async with machine.opened() as hf:
        yield await hf.agents.all_sessions()


async def told(machine: Machine, session_id: str, kind: type[Payload]) -> list[Any]:
    async with looked(machine) as store:
        events = await store.journal.events(session_id)
        return [event.payload for event in events if isinstance(event.payload, kind)]


async def files_of(machine: Machine, session_id: str) -> CarriedFiles:
    async with looked(machine) as store:
        files = (await store.journal.session(session_id)).state.files
        assert files is not None
        return files


async def pieces(machine: Machine, session_id: str) -> int:
    """How many of it are in the store."""
    async with looked(machine) as store:
        weight = (await store.upkeep.weights())[session_id]
        return weight.bytes


async def test_what_a_session_wrote_on_one_machine_it_reads_on_another(
    one: Machine, two: Machine
) -> None:
    (one.workspace / "given").write_text("given")
    made = "mkdir -p a/empty && echo written > a/file && chmod 750 a/file && ln -s a/file link"
    session = await one.begun(runs(made), DONE)
    kept = await told(one, session, WorkspaceKept)
    assert [(one.files, one.path) for one in kept] == [(1, kept[0].path), (2, kept[0].path)]
    end = await two.goes_on(session, runs("cat link given && echo more >> a/file"), DONE)
    assert (end.executed, end.ended, end.response) == (True, "final_response", "Done.")
    assert "written\ngiven" in printed(two.model)
    copy = two.copy(session)
    assert (copy / "a" / "file").read_text() == "written\nmore\n"
    assert ((copy / "a" / "file").stat().st_mode & 0o777, (copy / "a" / "empty").is_dir()) == (
        0o750,
        True,
    )
    assert {path.stat().st_mode & 0o777 for path in (copy.parent, copy)} == {0o700}
    back = await one.goes_on(session, runs("cat a/file"), DONE)
    assert back.ended == "final_response"
    assert "written\nmore" in printed(one.model)
    # Whoever began it has a copy, too, from then on: a person's own folder is left alone.
    assert (one.workspace / "a" / "file").read_text() == "written\n"
    assert await told(one, session, WorkspaceLost) == []


async def test_a_workspace_that_did_not_change_costs_nothing(one: Machine, two: Machine) -> None:
    (one.workspace / "big").write_bytes(os.urandom(100_000))
    session = await one.begun(DONE)
    before = await told(one, session, WorkspaceKept)
    assert [event.added_bytes for event in before] == [100_000]
    await two.goes_on(session, DONE)
    await two.goes_on(session, runs("true"), DONE)
    await two.goes_on(session, DONE)
    after = await told(one, session, WorkspaceKept)
    # It is at another place from then on, which is told; nothing is stored a second time.
    assert {event.snapshot for event in after} == {before[0].snapshot}
    assert [event.added_bytes for event in after[1:]] == [0] * len(after[1:])


async def test_a_copy_that_is_what_the_journal_names_is_used_as_it_is(
    two: Machine, one: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await one.begun(runs("echo x > file"), DONE)
    made: list[str] = []
    begin = unpacking.Unpacking.begin

    def counted(work: unpacking.Unpacking) -> None:
        made.append("made")
        begin(work)

    monkeypatch.setattr(unpacking.Unpacking, "begin", counted)
    await two.goes_on(session, runs("echo y > file"), DONE)
    await two.goes_on(session, DONE)
    assert made == ["made"]
    (two.copy(session) / "file").write_text("somebody's")
    await two.goes_on(session, runs("cat file"), DONE)
    assert made == ["made", "made"]
    assert (two.copy(session) / "file").read_text() == "y\n"
    assert not (two.home(session) / copies.SET_ASIDE).exists()


async def test_old_pieces_go_and_the_rest_goes_with_the_session(one: Machine) -> None:
    session = await one.begun(runs("head -c 50000 /dev/urandom > file"), DONE)
    first = await pieces(one, session)
    for _ in range(3):
        await one.goes_on(session, runs("head -c 50000 /dev/urandom > file"), DONE)
    assert await pieces(one, session) - first < 45_000


async def test_two_sessions_do_not_see_each_others_files(one: Machine, two: Machine) -> None:
    first = await one.begun(runs("echo first > file"), DONE)
    second = await one.begun(runs("cat file; echo second > file"), DONE)
    await two.goes_on(first, runs(f"cat file; cat {two.copy(second)}/file; ls ../.."), DONE)
    said = printed(two.model)
    assert "first" in said
    await two.goes_on(second, runs(f"cat file {two.copy(first)}/file"), DONE)
    said = printed(two.model)
    assert "second" in said
    assert "first" not in said.replace(f"{two.copy(first)}", "")


async def test_what_is_too_large_stays_on_its_machine_and_is_run_there_alone(
    settings: Settings, tmp_path: Path
) -> None:
    small = bounded(settings, workspace_bytes=1000)
    one, two = Machine(small, tmp_path / "one"), Machine(small, tmp_path / "two")
    session = await one.begun(runs("head -c 2000 /dev/zero > big"), DONE)
    (stays,) = await told(one, session, WorkspaceStays)
    assert "more than 1000 bytes (cluster.workspace_bytes), with big" in stays.reason
    assert stays.path == str(one.workspace)
    end = await two.goes_on(session, DONE)
    assert (end.executed, end.reason) == (False, "lease_contended")
    assert f"on another machine, in {one.workspace}" in str(end.problem)
    assert await told(one, session, WorkspaceLost) == []
    # Where they are it goes on; and once they are small enough, anywhere.
    end = await one.wakes(session, runs("rm big; echo small > file"), DONE)
    assert end.ended == "final_response"
    assert (one.workspace / "file").read_text() == "small\n"
    await two.goes_on(session, runs("cat file"), DONE)
    assert "small" in printed(two.model)


async def test_a_session_whose_files_were_never_kept_is_not_run_without_them(
    one: Machine, two: Machine, settings: Settings
) -> None:
    one.settings = bounded(settings, workspaces="shared")
    session = await one.begun(runs("echo x > file"), DONE)
    assert await told(one, session, WorkspaceKept) == []
    one.settings = settings
    (one.workspace).rename(one.folder / "hidden")
    end = await two.goes_on(session, DONE)
    assert (end.executed, end.reason) == (False, "lease_contended")
    assert "were never kept" in str(end.problem)
    (one.folder / "hidden").rename(one.workspace)
    end = await two.wakes(session, runs("cat file"), DONE)  # its folder is here, too: it is copied
    assert end.ended == "final_response"
    assert (two.copy(session) / "file").read_text() == "x\n"


async def test_whoever_has_a_session_open_that_went_on_elsewhere_does_not_go_on_with_old_files(
    one: Machine, two: Machine
) -> None:
    async with one.opened(runs("echo 1 > file"), DONE, runs("echo 3 > file"), DONE) as hf:
        session = await hf.new_session()
        async for _ in session.run("Begin."):
            pass
        log = session._parts.log  # pyright: ignore[reportPrivateUsage] - as if it had run out
        assert log is not None
        lease = log.right.lease
        assert lease is not None
        await (await log.journal()).release(lease)
        log.right.lease = None
        await two.goes_on(session.id, runs("echo 2 > file"), DONE)
        with pytest.raises(carrying.WentOn, match="open it again"):
            async for _ in session.run("Go on."):
                pass
        assert (await hf.agents.wake(session.id)).reason == "lease_contended"
        name = session.id
    assert (await two.wakes(name, DONE)).executed  # what was said is not lost
    assert (two.copy(name) / "file").read_text() == "2\n"


async def test_a_person_goes_on_in_a_copy(one: Machine, two: Machine) -> None:
    session = await one.begun(runs("echo 1 > file"), DONE)
    await two.goes_on(session, runs("echo 2 > file"), DONE)
    model = ScriptedModel([runs("cat file; echo 3 > file"), DONE])
    work = Work(profile="code", workspace=one.workspace, session=session, model=model)
    async with opened_agent(
        work,
        configuration=Configuration(settings=one.settings, project=one.workspace),
        surroundings=one.around,
    ) as opened:
        assert opened.holdfast.parts.session.workspace == str(one.copy(session))
        assert opened.holdfast.parts.configuration.project == one.copy(session)
        async for _ in opened.session.run("Look."):
            pass
    assert "2\n" in printed(model)
    assert (one.workspace / "file").read_text() == "1\n"
    await two.goes_on(session, runs("cat file"), DONE)
    assert (two.copy(session) / "file").read_text() == "3\n"


async def test_pieces_that_are_damaged_are_told_and_nothing_is_run(
    one: Machine, two: Machine
) -> None:
    session = await one.begun(runs("echo x > file"), DONE)
    files = await files_of(one, session)
    async with looked(one) as store:
        assert store.carried is not None
        lease = await store.journal.lease(session, "test", 60)
        assert files.snapshot is not None
        await store.carried().keep_only(session, [files.snapshot], epoch=lease.epoch)
        await store.journal.release(lease)
    end = await two.goes_on(session, DONE)
    assert (end.executed, end.reason) == (False, "not_ours")
    assert "missing or damaged; restore the store from a copy" in str(end.problem)
    assert not two.copy(session).exists()


def killed(machine: Machine, at: str, session_id: str) -> None:
    """A worker of the machine goes on with a session, and is killed at that moment."""
    settings = msgspec.json.encode(machine.settings).decode()
    argv = [sys.executable, str(CHILD), settings, str(machine.folder), at, session_id]
    ended = subprocess.run(argv, env=this_tree(), capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


@pytest.mark.parametrize("at", ["effects", "pieces", "list"])
async def test_changes_of_a_worker_that_is_killed_before_they_are_kept_are_told_to_be_lost(
    one: Machine, two: Machine, at: str
) -> None:
    session = await one.begun(runs("echo 1 > file; echo other > kept"), DONE)
    await one.goes_on(session, DONE)
    before = await files_of(one, session)
    killed(one, at, session)
    assert (one.copy(session) / "file").read_text() == "2\n"
    left = await files_of(two, session)
    assert left == msgspec.structs.replace(before, effects=1)
    end = await two.goes_on(session, runs("cat file kept"), DONE)
    assert end.ended == "final_response"
    assert printed(two.model) == "1\nother\n"
    heard = "".join(str(row) for row in two.model.requests[0].rows)
    (lost,) = await told(two, session, WorkspaceLost)
    assert (lost.snapshot, lost.calls) == (before.snapshot, 1)
    assert "[files lost]" in heard
    assert "Since then one call ran there" in heard
    # It is told once, and the machine that has other files does not bring them back.
    await one.goes_on(session, runs("cat file"), DONE)
    assert printed(one.model) == "1\n"
    assert len(await told(two, session, WorkspaceLost)) == 1
    assert (one.home(session) / copies.SET_ASIDE / "file").read_text() == "2\n"


async def test_what_was_changed_and_not_kept_is_set_aside_where_it_is(one: Machine) -> None:
    session = await one.begun(runs("echo 1 > file"), DONE)
    await one.goes_on(session, runs("true"), DONE)
    killed(one, "effects", session)
    await one.goes_on(session, runs("cat file"), DONE)
    assert printed(one.model) == "1\n"
    assert (one.home(session) / copies.SET_ASIDE / "file").read_text() == "2\n"


@pytest.mark.parametrize("at", ["unpacking", "exchange"])
async def test_a_worker_that_is_killed_while_it_makes_files_again_leaves_nothing_half_made(
    one: Machine, two: Machine, at: str
) -> None:
    session = await one.begun(runs("echo 1 > file; mkdir sub; echo 2 > sub/file"), DONE)
    await two.goes_on(session, runs("echo old > file"), DONE)
    await one.goes_on(session, runs("echo new > file"), DONE)
    killed(two, at, session)
    assert await told(one, session, WorkspaceLost) == []
    await two.goes_on(session, runs("cat file sub/file"), DONE)
    assert printed(two.model) == "new\n2\n"
    assert sorted(path.name for path in two.home(session).iterdir()) == ["files"]


async def test_a_recording_of_a_session_whose_files_were_lost_can_be_run_again(
    one: Machine, two: Machine
) -> None:
    session = await one.begun(runs("echo 1 > file"), DONE)
    killed(one, "effects", session)
    await two.goes_on(session, runs("cat file"), DONE)
    async with looked(two) as store:
        events = await store.journal.events(session)
        assert await store.archive.rebuild(session, repair=False) == ()
    found = await replay_run(events)
    assert found.divergence is None


async def test_a_session_that_was_delegated_has_a_copy_of_its_own(
    one: Machine, two: Machine
) -> None:
    """What the session above has by then is what it begins with."""
    session = await one.begun(runs("echo above > file"), DONE)
    async with looked(one) as store:
        state = (await store.journal.session(session)).state
        begun = SessionCreated(
            agent_id=state.agent_id,
            profile=state.profile,
            workspace=state.workspace,
            parent_id=session,
            metadata={DELEGATED: True},
        )
        await store.journal.create("ses_below", [begun, UserMessage(message="Work.")])
    end = await one.wakes("ses_below", runs("cat file; echo below > file"), DONE)
    assert end.ended == "final_response"
    assert (one.workspace / "file").read_text() == "above\n"
    await two.goes_on("ses_below", runs("cat file"), DONE)
    assert printed(two.model) == "below\n"


async def test_copies_that_nobody_used_for_long_go_and_are_made_again(
    one: Machine, two: Machine
) -> None:
    session = await one.begun(runs("mkdir a; echo 1 > a/file; chmod 500 a"), DONE)
    other = await one.begun(runs("echo 2 > file"), DONE)
    for name in (session, other):
        await two.goes_on(name, DONE)
    held = two.home("ses_held")
    for home, mark in ((two.home("ses_unknown"), False), (two.home("ses_marked"), True)):
        home.mkdir()
        if mark:
            copies.write_place(home, "c0ffee")
    held.mkdir()
    long_ago = time.time() - 8 * 86_400
    for home in two.home(session).parent.iterdir():
        if home.name != other:
            os.utime(home, (long_ago, long_ago))
    async with two.opened() as hf:
        store = await hf.agents.all_sessions()
        await store.journal.create("ses_held", [SessionCreated()])
        await store.journal.lease("ses_held", "somebody", 60)
        await bringing.tidy(carrying.ground_of(hf.parts), store.journal)
    left = {home.name for home in two.home(session).parent.iterdir()}
    assert left == {other, "ses_held", "ses_marked"}
    await two.goes_on(session, runs("cat a/file"), DONE)
    assert printed(two.model) == "1\n"


async def test_a_worker_looks_for_old_copies(
    two: Machine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looked_for = anyio.Event()

    async def tidy(*_given: object) -> None:
        looked_for.set()
        raise JournalUnavailable("the store is gone")

    monkeypatch.setattr(bringing, "tidy", tidy)
    until = Abort()
    async with two.opened() as hf, anyio.create_task_group() as group:
        group.start_soon(partial(hf.run_due, forever=True, until=until))
        await looked_for.wait()
        until.set()
    assert "old copies of workspaces are not looked for: the store is gone" in caplog.text


async def test_files_that_stay_are_not_tidied_away(settings: Settings, tmp_path: Path) -> None:
    two = Machine(bounded(settings, workspace_bytes=1000), tmp_path / "two")
    session = await two.begun(runs("echo 1 > file"), DONE)
    await two.goes_on(session, runs("head -c 2000 /dev/zero > big"), DONE)
    (stays,) = await told(two, session, WorkspaceStays)
    assert stays.path == str(two.copy(session))
    long_ago = time.time() - 8 * 86_400
    os.utime(two.home(session), (long_ago, long_ago))
    async with two.opened() as hf:
        store = await hf.agents.all_sessions()
        await bringing.tidy(carrying.ground_of(hf.parts), store.journal)
    await two.goes_on(session, runs("cat file; ls"), DONE)
    assert printed(two.model) == "1\nbig\nfile\n"
    assert len(await told(two, session, WorkspaceStays)) == 2  # what ran since is there, too


async def test_subagents_work_in_the_workspace_above_and_nothing_is_carried_when_shared(
    one: Machine, settings: Settings
) -> None:
    one.settings = bounded(settings, workspaces="shared")
    async with one.opened(DONE) as hf:
        session = await hf.new_session()
        assert session.files is None
    assert not carrying.is_carried(Settings())


@pytest.mark.parametrize(
    ("config", "folder", "wanted"),
    [
        (None, None, "/x/data-workspaces/default"),
        ("/x", None, "/x-workspaces/default"),
        ("/other", None, "/x/data-workspaces/default"),
        ("/x", "/copies", "/copies/default"),
    ],
)
def test_copies_are_outside_of_what_holdfast_keeps_to_itself(
    config: str | None, folder: str | None, wanted: str
) -> None:
    around = Surroundings(
        data_home=Path("/x/data"), config_home=None if config is None else Path(config)
    )
    settings = Settings(cluster=ClusterSettings(workspaces_folder=folder))
    clock = SystemClock()
    ground = carrying.Ground(settings, around, clock, TimeIds(clock))
    assert str(carrying.copies_folder(ground)) == wanted
    for name in ("..", ".", "", "a/b", "/etc"):
        with pytest.raises(ConfigurationError, match="no name of a folder"):
            ground.home(name)


async def test_a_store_that_is_away_for_a_moment_at_the_end_of_a_run_loses_no_files(
    one: Machine, two: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it was written down, and nobody heard of that."""
    monkeypatch.setattr(carrying, "_AGAIN_SECONDS", 0.01)
    appended = SessionLog.append
    put = PostgresCarried.put
    away = ["pieces", "before", "after"]

    async def lost_put(self: PostgresCarried, *given: Any) -> None:
        if away[0] == "pieces":
            away.pop(0)
            raise JournalUnavailable("away")
        await put(self, *given)

    async def lost(self: SessionLog, payloads: Any, **more: Any) -> Any:
        kept = any(isinstance(one, WorkspaceKept) for one in payloads)
        if kept and away[0] == "before":
            away.pop(0)
            raise JournalUnavailable("away")
        events = await appended(self, payloads, **more)
        if kept and away[0] == "after":
            away[0] = "back"
            raise JournalUnavailable("away")
        return events

    async with one.opened(runs("echo 1 > file"), DONE, runs("echo 2 > file"), DONE) as hf:
        session = await hf.new_session()
        await session.send("Begin.")
        with monkeypatch.context() as patched:
            patched.setattr(PostgresCarried, "put", lost_put)
            patched.setattr(SessionLog, "append", lost)
            async for _ in session.run():
                pass
        assert away == ["back"]
        async for _ in session.run("Go on."):
            pass
        await session.close()
    await two.goes_on(session.id, runs("cat file"), DONE)
    assert printed(two.model) == "2\n"
    assert await told(two, session.id, WorkspaceLost) == []


async def test_files_that_could_not_be_kept_are_told_to_be_lost_and_the_run_is_told_to_have_failed(
    one: Machine, two: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(*_given: object) -> None:
        raise JournalUnusable("the store is damaged")

    async with one.opened(runs("echo 1 > file"), DONE) as hf:
        session = await hf.new_session()
        await session.send("Begin.")
        with monkeypatch.context() as patched:
            patched.setattr(PostgresCarried, "put", gone)
            with pytest.raises(JournalUnusable, match="is damaged"):
                async for _ in session.run():
                    pass
        await session.close()
    await two.goes_on(session.id, runs("ls"), DONE)
    assert printed(two.model) == ""
    assert len(await told(two, session.id, WorkspaceLost)) == 1


async def test_a_machine_that_has_no_room_leaves_it_to_others(
    one: Machine, two: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await one.begun(runs("echo 1 > file"), DONE)

    def full(*_given: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(unpacking.Unpacking, "write", full)
        end = await two.goes_on(session, DONE)
    assert (end.executed, end.reason) == (False, "lease_contended")
    assert f"cannot be made again in {two.home(session)}: No space left" in str(end.problem)
    assert list(two.home(session).iterdir()) == []
    assert (await two.wakes(session, DONE)).executed


async def test_what_is_too_large_before_anything_was_kept_is_not_copied_either(
    settings: Settings, tmp_path: Path
) -> None:
    one = Machine(bounded(settings, workspaces="shared"), tmp_path / "one")
    session = await one.begun(runs("head -c 2000 /dev/zero > big"), DONE)
    two = Machine(bounded(settings, workspace_bytes=1000), tmp_path / "two")
    end = await two.goes_on(session, DONE)
    assert (end.executed, end.reason) == (False, "lease_contended")
    # It was looked at where it was begun, which is here, too: there it goes on.
    end = await two.wakes(session, runs("ls"), DONE)
    assert end.ended == "final_response"
    assert printed(two.model) == "big\n"


async def test_a_copy_that_somebody_put_a_link_in_place_of_is_made_again(
    one: Machine, two: Machine
) -> None:
    session = await one.begun(runs("echo 1 > file"), DONE)
    await two.goes_on(session, DONE)
    copy, elsewhere = two.copy(session), two.folder / "elsewhere"
    copy.rename(elsewhere)
    copy.symlink_to(elsewhere)
    await two.goes_on(session, runs("echo 2 > file"), DONE)
    assert not copy.is_symlink()
    assert (elsewhere / "file").read_text() == "1\n"
    assert (copy / "file").read_text() == "2\n"
    assert copies.identity(str(copy / "none")) is None
