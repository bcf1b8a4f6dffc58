"""The copies in which a machine works on files that travel."""

import os
import shutil
import time
from functools import partial
from pathlib import Path

import anyio
import pytest
from app.carrying.machines import (
    DONE,
    Machine,
    bounded,
    printed,
    runs,
    told,
)

from holdfast.app import bringing, carrying, copies
from holdfast.app.agent_settings import ClusterSettings
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.events import SessionCreated
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.wake_events import WorkspaceStays
from holdfast.execution.files import unpacking
from holdfast.runtime.abort import Abort
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

pytestmark = pytest.mark.anyio


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


def test_a_workspace_that_a_tool_closed_is_removed_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stayed would be in the way of the next one."""
    closed = tmp_path / "files"
    (closed / "inner").mkdir(parents=True)
    (closed / "inner").chmod(0o500)
    closed.chmod(0o500)
    modes: list[int] = []
    rmtree = shutil.rmtree

    def removed(folder: Path) -> None:  # whoever runs the tests may be allowed everything
        modes.extend(one.stat().st_mode & 0o777 for one in (folder, folder / "inner"))
        rmtree(folder)

    monkeypatch.setattr(shutil, "rmtree", removed)
    copies.remove(closed)
    assert modes == [0o700, 0o700]
    assert not closed.exists()


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
