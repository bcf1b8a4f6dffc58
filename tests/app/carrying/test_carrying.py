"""Workspaces that travel between workers with data and folders of their own, over real servers."""

import os
from pathlib import Path

import pytest
from app.carrying.machines import (
    DONE,
    Machine,
    bounded,
    looked,
    pieces,
    printed,
    runs,
    told,
)

from holdfast.agent.models.scripted import ScriptedModel
from holdfast.app import carrying
from holdfast.app.agent_work import Work, opened_agent
from holdfast.app.configuration import Configuration
from holdfast.app.settings import Settings
from holdfast.contract.delegation import DELEGATED
from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.wake_events import WorkspaceKept, WorkspaceLost, WorkspaceStays

pytestmark = pytest.mark.anyio


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


async def test_subagents_work_in_the_workspace_above_and_nothing_is_carried_when_shared(
    one: Machine, settings: Settings
) -> None:
    one.settings = bounded(settings, workspaces="shared")
    async with one.opened(DONE) as hf:
        session = await hf.new_session()
        assert session.files is None
    assert not carrying.is_carried(Settings())


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
