"""Handles on physical paths: a link is an error, wherever it is."""

import ctypes
import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.execution.kernel import physical


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    real = tmp_path.resolve()
    (real / "a" / "b").mkdir(parents=True)
    (real / "a" / "file").touch()
    (real / "link").symlink_to("a")
    (real / "a" / "up").symlink_to("..")
    return real


def test_what_is_there_is_held_and_known_again(folder: Path) -> None:
    for path in (folder, folder / "a" / "b", folder / "a" / "file"):
        handle = physical.hold(str(path))
        found = path.stat()
        assert physical.identity(handle) == (found.st_dev, found.st_ino)
        os.close(handle)


@pytest.fixture(params=["by one call", "part by part"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A filter may have taken the one call away."""

    def refused(_flags: int) -> Callable[[bytes], int]:
        def attempt(_path: bytes) -> int:
            ctypes.set_errno(errno.ENOSYS)
            return -1

        return attempt

    if request.param == "part by part":
        monkeypatch.setattr(physical, "_opener", refused)


@pytest.mark.parametrize("path", ["link", "link/b", "a/up", "a/up/a/file"])
def test_a_link_is_never_followed(folder: Path, path: str) -> None:
    with pytest.raises(OSError, match="symbolic") as refused:
        physical.hold(f"{folder}/{path}")
    assert refused.value.errno == errno.ELOOP


def test_what_is_no_path_is_not_opened(folder: Path) -> None:
    for path in ("a", "", f"{folder}\0/a"):
        with pytest.raises(OSError, match="no physical path"):
            physical.hold(path)


@pytest.mark.parametrize("is_folder", [True, False])
def test_a_place_is_made_where_it_is_missing(folder: Path, is_folder: bool) -> None:
    root = physical.hold(str(folder))
    for _ in range(2):
        os.close(physical.made(root, "/a/new/place", folder=is_folder))
    os.close(physical.made(root, "", folder=True))
    os.close(root)
    assert (folder / "a" / "new" / "place").is_dir() == is_folder


@pytest.mark.parametrize("path", ["/link", "/link/b", "/a/up/x", "/a/up"])
def test_no_place_is_made_through_a_link(folder: Path, path: str) -> None:
    root, before = physical.hold(str(folder)), len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(OSError, match="symbolic") as refused:
        physical.made(root, path, folder=True)
    assert refused.value.errno == errno.ELOOP
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    os.close(root)


@pytest.mark.parametrize("missing", [True, False])
def test_without_the_kernels_call_a_path_is_walked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, missing: bool
) -> None:
    """A thread under the filter has no such call: it is told that there is none."""

    def refused(_path: bytes) -> int:
        ctypes.set_errno(errno.ENOSYS)
        return -1

    def opener(_flags: int) -> Callable[[bytes], int] | None:
        return None if missing else refused

    monkeypatch.setattr(physical, "_opener", opener)
    for path in (folder, folder / "a" / "b", Path("/")):
        handle = physical.hold(str(path))
        assert physical.identity(handle) == (path.stat().st_dev, path.stat().st_ino)
        os.close(handle)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(OSError, match="link") as link:
        physical.hold(f"{folder}/link/b")
    assert link.value.errno == errno.ELOOP
    with pytest.raises(FileNotFoundError):
        physical.hold(f"{folder}/none/b")
    assert len(list(Path("/proc/self/fd").iterdir())) == before
