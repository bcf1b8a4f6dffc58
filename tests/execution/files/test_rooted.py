"""Files below a root: read and put in place as a whole, through no link."""

import errno
import os
from pathlib import Path

import pytest

from holdfast.execution.files.opening import NotAFile
from holdfast.execution.files.rooted import Found, Prepared, read_below


@pytest.fixture
def root(tmp_path: Path) -> str:
    return str(tmp_path.resolve())


def test_a_file_is_read_with_its_mode_and_what_is_not_there_is_nothing(
    root: str, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "a").chmod(0o640)
    assert read_below(root, "a", 3) == Found(b"one", 0o640)
    assert read_below(root, "b", 3) is None
    assert read_below(root, "a/b", 3) is None
    with pytest.raises(OSError, match="large") as problem:
        read_below(root, "a", 2)
    assert problem.value.errno == errno.EFBIG
    (tmp_path / "folder").mkdir()
    with pytest.raises(NotAFile):
        read_below(root, "folder", 3)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "way").symlink_to(tmp_path)
    for path in ("link", "way/a"):
        with pytest.raises(OSError) as problem:  # noqa: PT011 - told by its number
            read_below(root, path, 3)
        assert problem.value.errno == errno.ELOOP


def test_a_new_file_is_there_once_it_is_put(root: str, tmp_path: Path) -> None:
    with Prepared(root, "deep/er/a", b"one", 0o750) as prepared:
        assert not (tmp_path / "deep/er/a").exists()
        prepared.put(None)
    assert (tmp_path / "deep/er/a").read_bytes() == b"one"
    assert (tmp_path / "deep/er/a").stat().st_mode & 0o777 == 0o750
    assert os.listdir(tmp_path / "deep/er") == ["a"]  # noqa: PTH208 - names alone


def test_an_old_file_keeps_its_mode_and_its_other_names_their_content(
    root: str, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "a").chmod(0o604)
    (tmp_path / "other").hardlink_to(tmp_path / "a")
    with Prepared(root, "a", b"two", 0o777) as prepared:
        prepared.put(b"one")
    assert ((tmp_path / "a").read_bytes(), (tmp_path / "other").read_bytes()) == (b"two", b"one")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o604


def test_what_somebody_else_changed_is_left_as_it_is(root: str, tmp_path: Path) -> None:
    prepared = Prepared(root, "a", b"mine", None)
    (tmp_path / "a").write_bytes(b"theirs")
    with prepared, pytest.raises(OSError) as problem:  # noqa: PT011 - told by its number
        prepared.put(None)
    assert problem.value.errno == errno.ESTALE
    for now in (b"theirs", b"longer than before", None):
        with Prepared(root, "a", b"mine", None) as prepared:
            if now is None:
                (tmp_path / "a").unlink()
            else:
                (tmp_path / "a").write_bytes(now)
            with pytest.raises(OSError) as problem:  # noqa: PT011 - told by its number
                prepared.put(b"before")
            assert problem.value.errno == errno.ESTALE
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - names alone


def test_nothing_is_left_where_it_cannot_be_prepared(root: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "folder").mkdir()
    for path in ("link", "link/a"):
        with pytest.raises(OSError) as problem:  # noqa: PT011 - told by its number
            Prepared(root, path, b"x", None)
        assert problem.value.errno == errno.ELOOP
    with pytest.raises(NotAFile):
        Prepared(root, "folder", b"x", None)
    assert sorted(os.listdir(tmp_path)) == ["folder", "link"]  # noqa: PTH208 - names alone
