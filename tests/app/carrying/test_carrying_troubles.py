"""Workspaces that travel, where something goes wrong: kills, a store that is away, a full disk."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from app.carrying.machines import DONE, Machine, bounded, files_of, looked, printed, runs, say, told
from this_tree import this_tree

from holdfast.app import carrying, copies
from holdfast.app.agent_session import AgentSession
from holdfast.app.run_replaying import replay_run
from holdfast.app.settings import Settings
from holdfast.contract.journal import JournalUnavailable, JournalUnusable
from holdfast.contract.wake_events import WorkspaceKept, WorkspaceLost
from holdfast.execution.files import packing, unpacking
from holdfast.record.postgres.carried import PostgresCarried
from holdfast.runtime.session_log import SessionLog

pytestmark = pytest.mark.anyio

CHILD = Path(__file__).with_name("carrying_child.py")


def killed(machine: Machine, at: str, session_id: str) -> None:
    """A worker of the machine goes on with a session, and is killed at that moment."""
    settings = msgspec.json.encode(machine.settings).decode()
    argv = [sys.executable, str(CHILD), settings, str(machine.folder), at, session_id]
    ended = subprocess.run(argv, env=this_tree(), capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


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


async def test_what_goes_on_in_the_background_behind_a_run_is_told_to_be_lost_with_its_machine(
    one: Machine, two: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert carrying.is_carried(one.settings)  # it is loaded from here on

    def one_goes_on(_parts: object) -> int:
        return 1

    monkeypatch.setattr(carrying, "_working", one_goes_on)
    session = await one.begun(runs("echo 1 > file"), DONE)
    monkeypatch.undo()
    kept = (await told(one, session, WorkspaceKept))[-1]
    assert (kept.working, (await files_of(one, session)).effects) == (1, 1)
    await two.goes_on(session, DONE)
    (lost,) = await told(two, session, WorkspaceLost)
    assert lost.calls == 1
    assert (await files_of(two, session)).effects == 0


async def run_of(session: AgentSession) -> None:
    async for _ in session.run():
        pass


async def test_a_workspace_that_is_gone_is_made_again_as_it_was_kept(
    one: Machine, two: Machine
) -> None:
    session = await one.begun(runs("echo 1 > file"), DONE)
    async with two.opened(runs("echo 2 > file"), DONE) as hf:
        await say(hf, session)
        opened = await hf.new_session(session=session)
        with pytest.MonkeyPatch.context() as patched:
            packed = packing.Packing.batches

            def gone(look: packing.Packing, stored: frozenset[str]) -> Any:
                shutil.rmtree(two.copy(session))
                return packed(look, stored)

            patched.setattr(packing.Packing, "batches", gone)
            await run_of(opened)
        await opened.close()
    await two.goes_on(session, runs("cat file"), DONE)
    assert printed(two.model) == "1\n"
    assert len(await told(two, session, WorkspaceLost)) == 1


async def test_a_place_for_copies_that_cannot_be_written_is_told(
    settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    nowhere = bounded(settings, workspaces_folder=str(tmp_path / "file"), workspace_bytes=1000)
    one = Machine(nowhere, tmp_path / "one")
    session = await one.begun(DONE)
    end = await one.goes_on(session, DONE)
    assert (end.executed, end.reason) == (False, "lease_contended")
    assert "cannot be made again in" in str(end.problem)
    (one.workspace / "big").write_bytes(bytes(2000))
    with pytest.raises(JournalUnusable, match=r"cluster\.workspaces_folder"):
        await one.begun(DONE)
