"""When a process listens for other windows, and when it does not."""

import logging
from pathlib import Path

import anyio
import pytest
from agents_at_work import at_work, home_of
from app.control.held import PATIENCE, Held, running
from interrupts import until

from holdfast.app.control import places, serving, wire
from holdfast.app.settings import Surroundings

pytestmark = pytest.mark.anyio


def sockets(root: Path) -> list[Path]:
    (folder,) = places.folders(home_of(root))
    return [*folder.glob("[!.]*")]


async def test_it_listens_while_a_session_runs_and_nothing_is_left(tmp_path: Path) -> None:
    async with running(tmp_path):
        assert len(sockets(tmp_path)) == 1
    (folder,) = places.folders(home_of(tmp_path))
    with anyio.fail_after(PATIENCE):
        await until(lambda: not folder.exists())


async def test_a_run_that_is_over_at_once_makes_no_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "FIRST_SECONDS", 3600)
    async with at_work(tmp_path, ["done"]) as desk:
        await desk.told("go")
    assert not (tmp_path / "state" / "control").exists()


async def test_several_sessions_of_a_process_share_a_socket_until_the_last_one_rests(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as first:
        (path,) = sockets(tmp_path)
        async with running(tmp_path) as second:
            assert sockets(tmp_path) == [path]
            async with first.client() as client:
                await client.writes(wire.Sessions())
                told = (await client.reads())["sessions"]
                assert {one["session_id"] for one in told} == {first.session, second.session}
                await client.writes(wire.Watch(session=second.session, after=10**6))
                await client.reads()
                second.model.goes.set()
                while (await client.reads())["kind"] != "rests":
                    pass
        assert sockets(tmp_path) == [path]


async def test_a_session_can_be_reachable_between_its_runs(tmp_path: Path) -> None:
    async with at_work(tmp_path, ["one", "two"]) as desk:
        with serving.served(desk.session.window), anyio.fail_after(PATIENCE):
            await until(lambda: bool(sockets(tmp_path)))
            (path,) = sockets(tmp_path)
            await desk.told("go")
            await desk.told("go on")
            assert sockets(tmp_path) == [path]
        with anyio.fail_after(PATIENCE):
            await until(lambda: not sockets(tmp_path))


async def test_whoever_watches_nothing_is_let_go_with_the_last_session(tmp_path: Path) -> None:
    async with running(tmp_path) as windows, windows.client() as client:
        windows.model.goes.set()
        with pytest.raises(anyio.IncompleteRead):
            await client.reads()


async def test_whoever_does_not_read_the_rest_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "REST_SECONDS", 0.05)
    async with running(tmp_path) as windows, windows.client() as client:
        await client.writes(wire.Watch(session=windows.session))
        for _ in range(9):
            windows.model.says("x" * 100_000)
        await anyio.sleep(0.01)
        windows.model.goes.set()
        (folder,) = places.folders(home_of(tmp_path))
        await until(lambda: not folder.exists())


async def test_where_no_socket_can_be_the_session_runs_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "holdfast")
    model = Held()
    around = Surroundings(data_home=tmp_path / "data")
    async with (
        at_work(tmp_path, [], equipment={"model": model}, surroundings=around) as desk,
        anyio.create_task_group() as group,
    ):
        group.start_soon(desk.told, "go")
        with anyio.fail_after(PATIENCE):
            await until(lambda: "in the journal alone: there is no folder" in caplog.text)
        model.goes.set()
    assert desk.session.last is not None
    assert desk.session.last.ended == "final_response"


async def test_a_folder_that_somebody_else_takes_away_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[Path] = []

    async def taking(folder: object, clock: object) -> None:
        if not taken:
            (path,) = places.folders(home_of(tmp_path))
            path.rmdir()
            taken.append(path)

    monkeypatch.setattr(places, "remove_stale", taking)
    async with running(tmp_path):
        assert taken == [sockets(tmp_path)[0].parent]


async def test_where_nobody_can_listen_it_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "holdfast")
    monkeypatch.setattr(places, "new_name", lambda: "x" * 300)
    async with at_work(tmp_path, ["done"]) as desk, anyio.create_task_group() as group:
        with serving.served(desk.session.window):
            with anyio.fail_after(PATIENCE):
                await until(lambda: "too long" in caplog.text)
        group.start_soon(desk.told, "go")
