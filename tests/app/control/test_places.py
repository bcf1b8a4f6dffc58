"""Where sockets are, what they are called, and what becomes of those that were left behind."""

import os
from pathlib import Path

import pytest

from holdfast.app.control import places
from holdfast.app.holders import new_holder, process_of, this_process
from holdfast.app.locations import runtime_homes
from holdfast.app.settings import Surroundings
from holdfast.contract.ports import Clock
from holdfast.runtime.clock import SystemClock

pytestmark = pytest.mark.anyio
MACHINE = this_process().rpartition("/")[0]


class LaterClock(SystemClock):
    """Two minutes ahead."""

    def unix_ns(self) -> int:
        return super().unix_ns() + 120 * 10**9


def around(root: Path, *runtime: str) -> Surroundings:
    homes = tuple(root / one for one in runtime)
    return Surroundings(data_home=root / "data", state_home=root / "state", runtime_homes=homes)


def test_the_best_place_is_the_folder_of_the_login(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir(mode=0o700)
    home = around(tmp_path, "run/holdfast")
    places.made_folder(home).close()
    first, second = places.folders(home)
    assert first.parent == tmp_path / "run" / "holdfast"
    assert second.parent == tmp_path / "state" / "control"
    assert (first.is_dir(), second.exists()) == (True, False)
    places.leave(home)
    assert not first.exists()


def test_without_a_login_sockets_are_beside_what_people_decided(tmp_path: Path) -> None:
    home = around(tmp_path, "none/holdfast")
    places.made_folder(home).close()
    first, second = places.folders(home)
    assert (first.parent.exists(), second.is_dir()) == (False, True)
    assert not (tmp_path / "none").exists()


def test_a_folder_that_others_could_write_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir(mode=0o700)
    home = around(tmp_path, "run/holdfast")
    first, second = places.folders(home)
    first.mkdir(parents=True)
    first.chmod(0o777)
    places.made_folder(home).close()
    assert second.is_dir()
    with places.open_folders(home) as found:
        assert len(found) == 1


def test_two_homes_do_not_share_a_folder(tmp_path: Path) -> None:
    one = [*places.folders(around(tmp_path / "a", "run"))]
    other = [*places.folders(around(tmp_path / "b", "run"))]
    assert {folder.name for folder in one}.isdisjoint(folder.name for folder in other)


def test_where_there_is_no_place_or_nobody_can_be_known_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OSError, match="no folder for it"):
        places.made_folder(Surroundings(data_home=tmp_path))
    monkeypatch.setattr(places, "are_known", lambda: False)
    with pytest.raises(OSError, match="does not tell who connects"):
        places.made_folder(around(tmp_path))
    with places.open_folders(around(tmp_path)) as found:
        assert found == []


async def test_the_sockets_of_a_holder_are_found_the_newest_first(tmp_path: Path) -> None:
    folder = places.made_folder(around(tmp_path))
    names = [places.new_name(), places.new_name()]
    listeners = [await folder.listen(name) for name in names]
    (folder_path,) = places.folders(around(tmp_path))
    (folder_path / f"{names[0].rpartition('-')[0]}-strange.sock").touch()
    assert places.sockets_of(folder, new_holder())[:2] == names[::-1]
    for elsewhere in (f"{MACHINE}/1-2-ab", "other/1-2-ab", "no holder", f"{MACHINE}/x-y"):
        assert places.sockets_of(folder, elsewhere) == []
    for listener in listeners:
        await listener.aclose()
    folder.close()


def test_a_holder_names_a_process_of_this_machine_or_none() -> None:
    assert process_of(new_holder()) == this_process()
    assert process_of("elsewhere/1-2-ab") is None
    assert process_of(f"{MACHINE}/12") is None


@pytest.mark.parametrize("clock", [SystemClock(), LaterClock()])
async def test_only_what_nobody_listens_at_any_more_is_removed(
    tmp_path: Path, clock: Clock
) -> None:
    folder = places.made_folder(around(tmp_path))
    (path,) = places.folders(around(tmp_path))
    node, era, *_ = places.new_name().split("-")
    mine = places.new_name()
    listeners = [await folder.listen(mine), await folder.listen(f"{node}-eeeeeeee-1-2-0.sock")]
    deserted = f"{node}-ffffffff-1-2-0.sock"
    await (await folder.listen(deserted)).aclose()
    gone = f"{node}-{era}-{2**22 + 1}-77-0.sock"
    others = ["note.txt", "elsewhere-ffffffff-1-2-0.sock", "short.sock"]
    for name in (gone, f".{gone}", *others):
        (path / name).touch()
    (path / f"{node}-dddddddd-1-2-0.sock").mkdir()  # it cannot be reached, nor told to be gone
    await places.remove_stale(folder, clock)
    left = {*folder.names()}
    assert {mine, f"{node}-eeeeeeee-1-2-0.sock", f"{node}-dddddddd-1-2-0.sock", *others} <= left
    assert {gone, f".{gone}"}.isdisjoint(left)
    # One of a time or a space that cannot be seen from here may be about to listen.
    assert (deserted in left) == (not isinstance(clock, LaterClock))
    for listener in listeners:
        await listener.aclose()
    folder.close()


def test_where_a_login_keeps_things_is_as_told_and_as_usual() -> None:
    usual = Path(f"/run/user/{os.getuid()}/holdfast")
    assert runtime_homes({"XDG_RUNTIME_DIR": "/mine"}) == (Path("/mine/holdfast"), usual)
    assert runtime_homes({}) == (usual,)
    assert runtime_homes({"XDG_RUNTIME_DIR": "relative"}) == (usual,)
    assert runtime_homes({"XDG_RUNTIME_DIR": str(usual.parent)}) == (usual,)
