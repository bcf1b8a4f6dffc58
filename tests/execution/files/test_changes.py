"""What is kept of every change, and what happens when it cannot be."""

import errno
import json
import os
import stat
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from execution.files.ground import Ground, tree_of

from holdfast.contract.errors import Unavailable
from holdfast.execution.files import changes as changes_module
from holdfast.execution.files import file_lock as file_lock_module
from holdfast.execution.files import kept
from holdfast.execution.files.changes import ABSENT, Change, Changes, State
from holdfast.execution.files.file_lock import file_lock
from holdfast.execution.files.kept import DamagedRecord, KeptContents


def test_every_change_is_recorded_with_what_was_there(ground: Ground) -> None:
    ground.lay({"t": b"one"}, {"link": "t"})
    (ground.workspace / "t").chmod(0o640)
    files = ground.files("cal_7")
    files.write("d/new", b"two")
    files.edit("t", str.upper)
    files.remove("link")
    files.remove("t")
    files.make_directory("e")
    found = ground.changes.load()
    shown = [
        (one.number, one.path.removeprefix(f"{ground.workspace}/"), one.before.kind, one.after.kind)
        for one in found
    ]
    assert shown == [
        (1, "d", "absent", "directory"),
        (2, "d/new", "absent", "file"),
        (3, "t", "file", "file"),
        (4, "link", "link", "absent"),
        (5, "t", "file", "absent"),
        (6, "e", "absent", "directory"),
    ]
    assert {(one.call_id, one.tool) for one in found} == {("cal_7", "probe")}
    assert (found[2].before.mode, found[3].before.target) == (0o640, "t")
    assert all(before.at_ns <= after.at_ns for before, after in pairwise(found))
    with ground.changes.kept(found[2].before.revision or "") as handle:
        assert os.read(handle, 100) == b"one"


def test_records_are_for_their_owner_alone(ground: Ground) -> None:
    ground.lay({"t": b"one"}, {})
    ground.files().write("t", b"two")
    folder = ground.root / "state" / "changes"
    assert stat.S_IMODE((ground.root / "state").stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {path.suffix: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == {".json": 0o600, ".kept": 0o600, "": 0o600}


def test_the_same_content_is_kept_once(ground: Ground) -> None:
    ground.lay({"a": b"same", "b": b"same"}, {})
    files = ground.files()
    for name in ("a", "b", "a", "b"):
        files.write(name, b"same")
    assert len(list((ground.root / "state" / "changes").glob("*.kept"))) == 1


def test_what_cannot_be_kept_is_not_changed(tmp_path: Path) -> None:
    ground = Ground(tmp_path, quota=10)
    ground.lay({"small": b"12345", "other": b"67890", "big": b"x" * 11, "t": b"!"}, {})
    before = tree_of(ground.workspace)
    files = ground.files()
    for use in (lambda: files.write("big", b""), lambda: files.remove("big")):
        with pytest.raises(Unavailable, match=r"takes 11 bytes, .* 10 only 10 are left") as raised:
            use()
        assert raised.value.retryable is False
        assert "new session" in str(raised.value)
    assert tree_of(ground.workspace) == before
    files.write("small", b"a")
    files.remove("other")
    again = Ground(tmp_path, quota=10).files()
    with pytest.raises(Unavailable, match="only 0 are left"):
        again.remove("t")
    files.write("fresh", b"what is new replaces nothing" * 10)
    # To take back is always possible, also with the quota used up.
    assert {one.outcome for one in ground.undo().restore(None)} == {"restored"}
    assert tree_of(ground.workspace) == before


@pytest.mark.parametrize("mode", [0o770, 0o702])
def test_records_that_others_can_write_are_not_used(ground: Ground, mode: int) -> None:
    ground.lay({"t": b"one"}, {})
    ground.files().write("t", b"two")
    (ground.root / "state" / "changes").chmod(mode)
    with pytest.raises(Unavailable, match="others can write the records"):
        ground.files().write("t", b"three")
    with pytest.raises(PermissionError, match="others can write"):
        ground.undo().restore()
    assert (ground.workspace / "t").read_bytes() == b"two"


@pytest.mark.skipif(os.geteuid() != 0, reason="only the super-user gives files away")
def test_records_that_belong_to_another_are_not_used(ground: Ground) -> None:
    ground.files().write("t", b"two")
    os.chown(ground.root / "state" / "changes", 1234, -1)
    with pytest.raises(PermissionError):
        ground.changes.load()


def test_a_folder_for_records_that_is_a_link_is_not_used(ground: Ground) -> None:
    (ground.root / "state").mkdir()
    (ground.root / "elsewhere").mkdir(mode=0o700)
    (ground.root / "state" / "changes").symlink_to(ground.root / "elsewhere")
    with pytest.raises(Unavailable):
        ground.files().write("t", b"one")
    assert list((ground.root / "elsewhere").iterdir()) == []


def test_without_room_for_records_nothing_is_changed(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.lay({"t": b"one"}, {})

    def full(*_given: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(Unavailable, match=r"cannot be kept for undo \(No space left") as raised:
        ground.files().write("t", b"two")
    assert raised.value.retryable is False
    assert (ground.workspace / "t").read_bytes() == b"one"


def test_two_processes_number_their_changes_apart(ground: Ground) -> None:
    others = Ground(ground.root)
    one, two = ground.files("cal_1"), others.files("cal_2")
    for number in range(4):
        one.write(f"a{number}", b"")
        two.write(f"b{number}", b"")
    assert [change.number for change in ground.changes.load()] == list(range(1, 9))


def test_numbers_that_are_always_taken_are_given_up(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(*_given: object) -> None:
        raise FileExistsError(errno.EEXIST, "taken")

    monkeypatch.setattr(changes_module, "put_new", taken)
    with pytest.raises(Unavailable, match="all the time"):
        ground.files().write("t", b"")


def test_a_record_that_is_none_is_named(ground: Ground) -> None:
    ground.files().write("t", b"")
    folder = ground.root / "state" / "changes"
    (folder / "notes.json").write_text("{}", "utf-8")
    assert len(ground.changes.load()) == 1
    for text in ("{", "{}", '{"number": "one"}'):
        (folder / "00000002.json").write_text(text, "utf-8")
        with pytest.raises(DamagedRecord, match=r"00000002\.json is no record"):
            ground.changes.load()
    moved = json.loads((folder / "00000001.json").read_text("utf-8"))
    (folder / "00000002.json").write_text(json.dumps(moved), "utf-8")
    with pytest.raises(DamagedRecord, match="is the record of change 1"):
        ground.changes.load()


def test_a_content_that_is_being_changed_is_kept_as_it_was_at_one_moment(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.lay({"t": b"0"}, {})
    path = ground.workspace / "t"
    real, often = kept.pieces_of, iter(range(4))

    def growing(handle: int) -> Iterator[bytes]:
        yield from real(handle)
        if next(often, None) is not None:
            path.write_bytes(path.read_bytes() + b"1")

    monkeypatch.setattr(kept, "pieces_of", growing)
    handle = os.open(path, os.O_RDONLY)
    try:
        revision = ground.changes.keep(handle, bounded=True)
        with ground.changes.kept(revision) as found:
            assert os.read(found, 10) == b"01111"
        often = iter(range(1_000))
        path.write_bytes(b"x")
        with pytest.raises(OSError, match="all the time"):
            ground.changes.keep(handle, bounded=True)
    finally:
        os.close(handle)
    assert len(list((ground.root / "state" / "changes").iterdir())) == 1


def test_a_lock_is_not_waited_for_without_end(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_lock_module, "PATIENCE_SECONDS", 0.0)
    with ground.changes.alone(), pytest.raises(Unavailable, match="keep the changes locked"):
        ground.files().write("t", b"")
    assert ground.files().write("t", b"").created


def test_who_takes_back_waits_for_who_changes(ground: Ground) -> None:
    entered = threading.Event()

    def take_back() -> None:
        with ground.changes.alone():
            entered.set()

    thread = threading.Thread(target=take_back)
    with ground.changes.together_with_others(), ground.changes.together_with_others():
        thread.start()
        assert not entered.wait(0.03)
    thread.join()
    assert entered.is_set()


def test_a_lock_that_is_a_link_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        with (
            pytest.raises(OSError, match="symbolic links"),
            file_lock(folder, "lock", exclusive=True),
        ):
            pass
    finally:
        os.close(folder)


def test_a_quota_is_counted_anew_by_another_process(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    (tmp_path / "content").write_bytes(b"123")
    handle = os.open(tmp_path / "content", os.O_RDONLY)
    try:
        KeptContents(3).keep(folder, handle, bounded=True)
        assert KeptContents(0).keep(folder, handle, bounded=True)  # it is there already
        (tmp_path / "content").write_bytes(b"4")
        with pytest.raises(Unavailable):
            KeptContents(3).keep(folder, handle, bounded=True)
    finally:
        os.close(folder)
        os.close(handle)


def test_before_anything_was_changed_there_is_nothing_to_load(tmp_path: Path) -> None:
    changes = Changes(tmp_path / "none", time.time_ns)
    assert changes.load() == ()
    assert not (tmp_path / "none").exists()
    changes.withdraw(Change(call_id="", path="/", before=ABSENT, after=State(kind="file")))
