"""Directories of a tree whose files are known, also while somebody else changes it."""

import shutil
from pathlib import Path

import pytest

from holdfast.execution.search import directories
from holdfast.execution.search.directories import Directories

FILES = [b"./a/b/x\0./a/y\0", b"./z\0"]
KNOWN = [b"./a", b"./a/b"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Beside what the files tell of: directories in which there is none."""
    for path in ("a/b", "a/empty/deeper", "hidden/x", "none"):
        (tmp_path / path).mkdir(parents=True)
    for path in ("a/b/x", "a/y", "z"):
        (tmp_path / path).touch()
    return tmp_path


def never() -> bool:
    return False


@pytest.mark.parametrize("uncounted", [1, 10**6])
def test_those_without_files_are_found_too(
    tree: Path, monkeypatch: pytest.MonkeyPatch, uncounted: int
) -> None:
    monkeypatch.setattr(directories, "_UNCOUNTED", uncounted)
    found = Directories(str(tree), frozenset({b"./hidden"}), never).all(FILES)
    assert sorted(found) == [*KNOWN, b"./a/empty", b"./a/empty/deeper", b"./none"]


def test_who_gave_up_reads_no_directory(tree: Path) -> None:
    assert sorted(Directories(str(tree), frozenset(), lambda: True).all(FILES)) == KNOWN


def test_a_directory_that_is_gone_holds_nothing_more(tree: Path) -> None:
    told = [*FILES, b"./gone/deep/x\0"]
    found = set(Directories(str(tree), frozenset(), never).all(told))
    assert found >= {b"./gone", b"./gone/deep", b"./none", b"./a/empty"}
    assert not any(one.startswith(b"./gone/deep/") for one in found)


@pytest.mark.parametrize("by_link", [False, True])
def test_one_that_is_replaced_before_it_is_read_is_not_entered(tree: Path, by_link: bool) -> None:
    top, looks = tree / "a", iter([False, True])

    def replaced_meanwhile() -> bool:
        if next(looks):  # its links are counted, and it is read next
            shutil.rmtree(top)
            if by_link:
                top.symlink_to(tree / "hidden")
        return False

    assert [*Directories(str(top), frozenset(), replaced_meanwhile).all([])] == []
    assert (top / "x").is_dir() is by_link
