"""Folders of sessions: measured and removed without following a link, never under a living user."""

import os
import time
from pathlib import Path

import pytest

from holdfast.execution.processes.claims import Claim
from holdfast.execution.session_folders import LostFolder, SessionFolders

DAY = 86_400.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions"
    folder.mkdir()
    return folder


def lay(folder: Path, *, age: float = 0.0, size: int = 100) -> Path:
    (folder / "outputs").mkdir(parents=True)
    (folder / "outputs" / "one").write_bytes(b"x" * size)
    grow_old(folder, age)
    return folder


def grow_old(folder: Path, age: float) -> None:
    then = time.time() - age
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (then, then), follow_symlinks=False)


def lost(root: Path, *known: str) -> list[str]:
    return [one.path.name for one in SessionFolders(root).lost(known, time.time() - DAY)]


def test_only_what_is_old_and_of_no_session_is_lost(root: Path) -> None:
    for name in ("ses_1", "ses_2", "ses_3"):
        lay(root / name, age=2 * DAY)
    (root / "ses_3" / "outputs" / "two").write_text("young", "utf-8")
    lay(root / "ses_4")
    (root / "file").write_text("", "utf-8")
    assert lost(root, "ses_1") == ["ses_2"]
    assert lost(root / "nowhere") == []


def test_a_folder_in_use_is_not_lost_and_not_removed(root: Path) -> None:
    claim = Claim(lay(root / "ses_1"))
    grow_old(root / "ses_1", 2 * DAY)
    folders = SessionFolders(root)
    assert folders.is_used("ses_1")
    assert lost(root) == []
    assert not folders.remove("ses_1")
    assert not folders.remove_lost(LostFolder(root / "ses_1", 0))
    assert folders.bytes_of("ses_1") == 100
    claim.release()
    grow_old(root / "ses_1", 2 * DAY)
    assert not folders.is_used("ses_1")
    assert lost(root) == ["ses_1"]
    assert folders.remove_lost(LostFolder(root / "ses_1", 0))
    assert list(root.iterdir()) == []


def test_what_is_not_there_is_removed_already(root: Path) -> None:
    folders = SessionFolders(root)
    assert folders.remove("ses_1")
    assert not folders.is_used("ses_1")
    assert folders.bytes_of("ses_1") == 0


def test_an_odd_name_leads_to_its_own_folder(root: Path) -> None:
    folders = SessionFolders(root)
    lay(root / "ses_1")
    assert folders.remove("../sessions/ses_1")
    assert (root / "ses_1").exists()


def test_no_link_is_followed(root: Path, tmp_path: Path) -> None:
    outside = lay(tmp_path / "outside", age=2 * DAY, size=5000)
    (root / "ses_link").symlink_to(outside)
    inside = lay(root / "ses_1")
    (inside / "away").symlink_to(outside)
    (inside / "outputs" / "file").symlink_to(outside / "outputs" / "one")
    grow_old(inside, 2 * DAY)
    folders = SessionFolders(root)
    assert lost(root) == ["ses_1"]
    assert folders.bytes_of("ses_link") == 0
    assert folders.bytes_of("ses_1") < 1000
    assert not folders.is_used("ses_link")
    assert folders.remove("ses_link")
    assert folders.remove("ses_1")
    assert [path.name for path in root.iterdir()] == ["ses_link"]
    assert [path.name for path in (outside / "outputs").iterdir()] == ["one"]
    assert sorted(path.name for path in outside.iterdir()) == ["outputs"]


def test_what_a_killed_removal_left_is_lost_at_once(root: Path) -> None:
    folders = SessionFolders(root)
    left = lay(root / ".going-0123")
    (found,) = folders.lost((), 0.0)
    assert found == LostFolder(left, 100)
    assert folders.remove_lost(found)
    assert list(root.iterdir()) == []


def test_what_cannot_be_seen_or_removed_stays(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = lay(root / "ses_1", age=2 * DAY)
    (folder / "in-use").symlink_to(folder / "outputs" / "one")  # nobody of ours made that
    folders = SessionFolders(root)
    assert folders.is_used("ses_1")
    assert not folders.remove("ses_1")
    assert (folder / "outputs" / "one").exists()

    def gone(_path: object) -> os.stat_result:
        raise FileNotFoundError

    monkeypatch.setattr("holdfast.execution.session_folders.os.lstat", gone)
    assert folders.bytes_of("ses_1") == 0


def test_the_claim_of_one_that_was_killed_keeps_nothing(root: Path) -> None:
    lay(root / "ses_1")
    (root / "ses_1" / "in-use").touch()
    grow_old(root / "ses_1", 2 * DAY)
    assert not SessionFolders(root).is_used("ses_1")
    assert lost(root) == ["ses_1"]
    assert SessionFolders(root).remove("ses_1")
    assert list(root.iterdir()) == []
