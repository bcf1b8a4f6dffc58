"""Trees: as deep as they like, changing under the walk, never through a link."""

import os
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
from execution.files.ground import Ground, open_handles, powerless

from holdfast.contract.errors import DirectoryNotFound
from holdfast.contract.gates import Access, PathLeave

LEVELS = 5_000


@pytest.fixture
def deep(ground: Ground) -> Generator[Path]:
    """A tree so deep that no path reaches its end."""
    top = ground.workspace / "deep"
    top.mkdir()
    at = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(LEVELS):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    yield top
    # shutil would call itself too often.
    subprocess.run(["rm", "-rf", str(top)], check=True)


def test_a_tree_deeper_than_any_path_is_walked_as_far_as_paths_go(
    ground: Ground, deep: Path
) -> None:
    before = open_handles()
    most, deepest = 0, ""
    for entry in ground.files().walk("deep"):
        most, deepest = max(most, open_handles()), entry.path
    whole = len(f"{ground.workspace}/{deepest}")
    assert 4_090 < whole < 4_100
    assert most == before


def test_a_gate_that_knows_no_end_does_not_break_the_walk(ground: Ground, deep: Path) -> None:
    def anything(_access: Access, path: str, /) -> PathLeave:
        return PathLeave(path if path.startswith("/") else f"{ground.workspace}/{path}")

    assert 2_000 < sum(1 for _ in ground.files(gate=anything).walk("deep")) < 2_100


def test_what_vanishes_or_closes_while_a_tree_is_walked_is_left_out(ground: Ground) -> None:
    ground.lay({"a/1": b"", "b/1": b"", "c/1": b"", "d/1": b"", "e/1": b""}, {})
    walk = ground.files().walk()
    assert next(walk).path == "a"
    shutil.rmtree(ground.workspace / "b")
    shutil.rmtree(ground.workspace / "c")
    (ground.workspace / "c").symlink_to("a")
    shutil.rmtree(ground.workspace / "d")
    (ground.workspace / "d").write_bytes(b"")
    assert [one.path for one in walk] == ["a/1", "b", "c", "d", "e", "e/1"]


def test_a_directory_the_system_keeps_closed_is_named_and_not_entered(
    shared_ground: Ground,
) -> None:
    ground = shared_ground
    ground.lay({"a/1": b"", "b": b""}, {})
    (ground.workspace / "a").chmod(0)
    try:
        with powerless():
            assert [one.path for one in ground.files().walk()] == ["a", "b"]
    finally:
        (ground.workspace / "a").chmod(0o700)


def test_an_entry_that_goes_while_a_directory_is_listed_is_left_out(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.lay({"a": b"", "b": b"", "c": b""}, {})
    real = os.listdir

    def then_gone(folder: int) -> list[str]:
        names = real(folder)
        (ground.workspace / "b").unlink(missing_ok=True)
        return names

    monkeypatch.setattr(os, "listdir", then_gone)
    assert [one.path for one in ground.files().list()] == ["a", "c"]


def test_other_things_are_named(ground: Ground) -> None:
    os.mkfifo(ground.workspace / "pipe")
    (facts,) = ground.files().list()
    assert (facts.kind, facts.name) == ("other", "pipe")


def test_a_walk_begins_with_an_error_when_there_is_nothing_to_walk(ground: Ground) -> None:
    with pytest.raises(DirectoryNotFound, match="There is no directory none"):
        ground.files().walk("none")


def test_a_thousand_entries_come_sorted(ground: Ground) -> None:
    ground.lay({f"f{number}": b"" for number in range(1_000)}, {})
    names = [one.name for one in ground.files().list()]
    assert names == sorted(names)
    assert len(names) == 1_000
