"""Exactly the path is opened: links, odd kernels and other systems included."""

import ctypes
import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from execution.files.ground import no_opener, open_handles

from holdfast.execution.files import opening
from holdfast.execution.files.opening import (
    FOLDER,
    READABLE_FOLDER,
    Spot,
    open_entry,
    open_physical,
    standing,
)


@pytest.fixture(params=["openat2", "walk"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to open."""
    if request.param == "walk":
        monkeypatch.setattr(opening, "_opener", no_opener)
    return request.param


def _code(path: str, flags: int = os.O_RDONLY) -> int | None:
    try:
        os.close(open_physical(path, flags))
    except OSError as problem:
        return problem.errno
    return None


@pytest.fixture
def tree(tmp_path: Path, way: str) -> str:
    root = tmp_path.resolve()
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "file").write_text("x", "utf-8")
    (root / "a" / "link").symlink_to("b")
    (root / "a" / "b" / "last").symlink_to("file")
    (root / "a" / "lost").symlink_to("nowhere")
    return str(root)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a/b/file", None),
        ("a/b", None),
        ("a/link/file", errno.ELOOP),
        ("a/b/last", errno.ELOOP),
        ("a/link", errno.ELOOP),
        ("a/lost", errno.ELOOP),
        ("a/lost/x", errno.ELOOP),
        ("a/none", errno.ENOENT),
        ("a/none/x", errno.ENOENT),
        ("a/b/file/x", errno.ENOTDIR),
    ],
)
def test_a_path_is_opened_only_without_links(tree: str, path: str, code: int | None) -> None:
    assert _code(f"{tree}/{path}") == code


def test_the_root_and_doubled_separators_are_opened(way: str, tree: str) -> None:
    assert _code("/", FOLDER) is None
    assert _code(f"//{tree}//a/./b", READABLE_FOLDER) is None


def test_a_directory_is_asked_for_and_a_file_is_there(tree: str) -> None:
    assert _code(f"{tree}/a/b/file", READABLE_FOLDER) == errno.ENOTDIR
    assert _code(f"{tree}/a/link", READABLE_FOLDER) == errno.ELOOP


@pytest.mark.parametrize("path", ["relative", "", "/tmp\0/etc"])
def test_what_is_no_absolute_path_is_not_opened(way: str, path: str) -> None:
    assert _code(path) == errno.EINVAL


def test_a_magic_link_is_a_link(tmp_path: Path, way: str) -> None:
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        assert _code(f"/proc/{os.getpid()}/fd/{handle}/x") == errno.ELOOP
    finally:
        os.close(handle)


def test_no_handle_is_left_open(tree: str) -> None:
    before = open_handles()
    for path in ("a/b/file", "a/link/file", "a/none/x", "a/b/file/x"):
        _code(f"{tree}/{path}")
    assert open_handles() == before


def _answering(*codes: int) -> Callable[[int], Callable[[bytes], int]]:
    """A kernel that refuses with these codes in turn, and then opens."""
    waiting = list(codes)

    def opener(flags: int) -> Callable[[bytes], int]:
        def attempt(path: bytes) -> int:
            if not waiting:
                return os.open(path, flags)
            ctypes.set_errno(waiting.pop(0))
            return -1

        return attempt

    return opener


@pytest.mark.parametrize(
    ("codes", "found"),
    [
        ([errno.EAGAIN] * 63, None),
        ([errno.EINTR, errno.EAGAIN], None),
        ([errno.EAGAIN] * 64, errno.EAGAIN),
        ([errno.ENOSYS], None),
        ([errno.EPERM], None),
        ([errno.EACCES], errno.EACCES),
    ],
)
def test_a_kernel_that_is_busy_or_knows_no_such_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codes: list[int], found: int | None
) -> None:
    monkeypatch.setattr(opening, "_opener", _answering(*codes))
    assert _code(str(tmp_path.resolve())) == found


def test_an_entry_that_is_a_link_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(".")
    folder = os.open(tmp_path, READABLE_FOLDER)
    try:
        for flags in (os.O_RDONLY, FOLDER, READABLE_FOLDER):
            with pytest.raises(OSError, match="symbolic links") as raised:
                open_entry(folder, "link", flags)
            assert raised.value.errno == errno.ELOOP
    finally:
        os.close(folder)


def _read(path: str) -> None:
    with standing(path) as spot, spot.content():
        pass


def _lay_pipe(path: Path) -> None:
    os.mkfifo(path)


def _lay_link(path: Path) -> None:
    (path.parent / "other").write_text("", "utf-8")
    path.symlink_to("other")


@pytest.mark.parametrize(
    ("lay", "code"), [(_lay_pipe, errno.EINVAL), (_lay_link, errno.ELOOP)], ids=["pipe", "link"]
)
def test_a_file_swapped_for_something_else_while_it_is_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lay: Callable[[Path], None], code: int
) -> None:
    path = tmp_path.resolve() / "file"
    path.write_text("", "utf-8")
    seen = path.stat()
    path.unlink()
    lay(path)

    def outdated(_spot: Spot) -> os.stat_result:
        return seen

    monkeypatch.setattr(Spot, "look", outdated)
    before = open_handles()
    with pytest.raises(OSError, match=r"\[Errno") as raised:
        _read(str(path))
    assert raised.value.errno == code
    assert open_handles() == before
