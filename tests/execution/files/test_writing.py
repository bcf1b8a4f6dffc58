"""Writing: all of it or nothing, and what was there stays byte for byte until it is replaced."""

import errno
import os
import resource
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from execution.files.ground import Ground, powerless, tree_of

from holdfast.contract.errors import (
    FileNotFound,
    InvalidArguments,
    MissingSystemPermission,
    OperationFailed,
    PolicyDenied,
    ToolError,
)
from holdfast.execution.files import placing
from holdfast.execution.files.mutations import make_folder
from holdfast.execution.files.opening import Spot
from holdfast.execution.files.placing import ASIDE
from holdfast.execution.kernel import system_calls

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only the super-user can")


def _nothing_left_aside(ground: Ground) -> None:
    assert list(ground.root.rglob(f"{ASIDE}*")) == []


@contextmanager
def _files_of_at_most(byte_count: int) -> Generator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (byte_count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_file_that_does_not_fit_leaves_the_old_one(ground: Ground) -> None:
    ground.lay({"t": b"old" * 1000}, {})
    before = tree_of(ground.workspace)
    with (
        _files_of_at_most(100_000),
        pytest.raises(OperationFailed, match="no room left to write t") as raised,
    ):
        ground.files().write("t", b"x" * 200_000)
    assert raised.value.extras == {"reason": "no_space"}
    assert tree_of(ground.workspace) == before
    _nothing_left_aside(ground)
    assert ground.changes.load() == ()


_ON_A_FULL_DISK = """
import os, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from execution.files.ground import Ground
from holdfast.contract.errors import ToolError

root = Path(sys.argv[1])
ground = Ground(root)
old = os.urandom(300_000)
(ground.workspace / "t").write_bytes(old)
for use in (
    lambda: ground.files().write("t", b"x" * 900_000),
    lambda: ground.files().edit("t2", lambda text: text + "y" * 900_000),
    lambda: ground.files().write("new/folder/t", b"x" * 900_000),
):
    (ground.workspace / "t2").write_bytes(b"short")
    try:
        use()
    except ToolError as problem:
        assert problem.extras == {"reason": "no_space"}, problem
    else:
        raise AssertionError("it fitted")
    assert (ground.workspace / "t").read_bytes() == old
    assert (ground.workspace / "t2").read_bytes() == b"short"
    assert not (ground.workspace / "new" / "folder" / "t").exists()
    assert not list(root.rglob(".holdfast-*"))
print("as it should be")
"""


@AS_ROOT
def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    # A mount namespace of its own: nobody else sees the small disk.
    mounted = f'mount -t tmpfs -o size=1200k none {tmp_path} && exec "$@"'
    tests = str(Path(__file__).parents[2])
    result = subprocess.run(
        [
            *("unshare", "--mount", "sh", "-c", mounted, "sh"),
            *(sys.executable, "-c", _ON_A_FULL_DISK, str(tmp_path), tests),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.stdout, result.stderr) == ("as it should be\n", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", ["fsync", "rename", "write", "fchmod"])
def test_whatever_fails_nothing_is_left_aside(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    ground.lay({"t": b"old"}, {})
    before = tree_of(ground.workspace)
    files = ground.files()
    files.write("first", b"1")
    (ground.workspace / "first").unlink()
    broken = _failing_in(ground.workspace, getattr(os, step))
    monkeypatch.setattr(os, step, broken)
    with pytest.raises(OperationFailed, match="Input/output error"):
        files.write("t", b"new", mode=0o600)
    monkeypatch.undo()
    assert tree_of(ground.workspace) == before
    _nothing_left_aside(ground)
    assert [one.path.rpartition("/")[2] for one in ground.changes.load()] == ["first"]


def _place_of(handle: object) -> Path:
    return Path(f"/proc/self/fd/{handle}").readlink()


def _failing_in(folder: Path, real: Callable[..., object]) -> Callable[..., object]:
    """The same call, failing for what lies in a folder."""

    def call(*given: object, **named: int) -> object:
        handle = named.get("dst_dir_fd", given[0])
        if _place_of(handle).is_relative_to(folder):
            raise OSError(errno.EIO, "broken")
        return real(*given, **named)

    return call


def test_a_change_that_cannot_be_made_to_last_is_said_to_have_failed_and_can_be_undone(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.lay({"t": b"old"}, {})
    real = os.fsync

    def broken(handle: int) -> None:
        if _place_of(handle) == ground.workspace:
            raise OSError(errno.EIO, "broken")
        real(handle)

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OperationFailed):
        ground.files().write("t", b"new")
    monkeypatch.undo()
    assert (ground.workspace / "t").read_bytes() == b"new"
    ground.undo().restore()
    assert (ground.workspace / "t").read_bytes() == b"old"


def test_a_file_system_that_cannot_sync_directories_is_good_enough(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def unable(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "cannot")
        real(handle)

    monkeypatch.setattr(os, "fsync", unable)
    assert ground.files().write("t", b"new").created


def test_the_mode_is_kept_and_set_id_bits_are_not(ground: Ground) -> None:
    ground.lay({"t": b"old"}, {})
    (ground.workspace / "t").chmod(0o6751)
    ground.files().write("t", b"new")
    assert stat.S_IMODE((ground.workspace / "t").stat().st_mode) == 0o751


def test_a_new_file_has_the_usual_mode(ground: Ground) -> None:
    old = os.umask(0o027)
    try:
        ground.files().write("d/t", b"new")
    finally:
        os.umask(old)
    assert stat.S_IMODE((ground.workspace / "d" / "t").stat().st_mode) == 0o640
    assert stat.S_IMODE((ground.workspace / "d").stat().st_mode) == 0o750


@AS_ROOT
def test_owner_and_attributes_are_kept(ground: Ground) -> None:
    ground.lay({"t": b"old"}, {})
    path = ground.workspace / "t"
    os.setxattr(path, "user.note", b"mine")
    os.setxattr(path, "trusted.note", b"theirs")
    os.chown(path, 1234, 2345)
    ground.files().write("t", b"new")
    seen = path.stat()
    assert (seen.st_uid, seen.st_gid) == (1234, 2345)
    assert os.listxattr(path) == ["user.note"]
    assert os.getxattr(path, "user.note") == b"mine"


@AS_ROOT
def test_rights_of_a_group_are_not_given_to_another(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.lay({"t": b"old"}, {})
    path = ground.workspace / "t"
    os.chown(path, -1, 2345)
    path.chmod(0o664)
    monkeypatch.setattr(os, "fchown", _not_permitted)
    ground.files().write("t", b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    os.chown(path, -1, os.getgid())
    path.chmod(0o664)
    ground.files().write("t", b"newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o664


def _not_permitted(*_given: object) -> None:
    raise PermissionError(errno.EPERM, "not permitted")


def test_attributes_that_cannot_be_kept_are_left(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.lay({"t": b"old"}, {})
    os.setxattr(ground.workspace / "t", "user.note", b"mine")
    monkeypatch.setattr(os, "setxattr", _not_permitted)
    ground.files().write("t", b"new")
    assert os.listxattr(ground.workspace / "t") == []
    monkeypatch.delattr(os, "listxattr")
    assert not ground.files().write("t", b"newer").created


def test_another_name_of_a_file_keeps_the_old_content(ground: Ground) -> None:
    outside = ground.root / "outside"
    outside.write_bytes(b"theirs")
    os.link(outside, ground.workspace / "t")
    files = ground.files()
    files.edit("t", lambda text: text + " and ours")
    assert outside.read_bytes() == b"theirs"
    assert files.read_bytes("t") == b"theirs and ours"


@pytest.mark.parametrize("way", ["renameat2", "link"])
def test_of_many_that_make_a_new_file_one_does(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "link":
        monkeypatch.setattr(placing, "system_call", _no_such_call)
    made: list[str] = []
    gate = threading.Barrier(6)

    def attempt(number: int) -> None:
        # Each a session of its own: no lock of ours keeps them apart.
        files = Ground(ground.root).files(f"cal_{number}")
        gate.wait()
        try:
            files.write("t", str(number), new=True)
        except OperationFailed as problem:
            assert problem.extras == {"reason": "exists"}  # noqa: PT017 - in a thread
        else:
            made.append(str(number))

    threads = [threading.Thread(target=attempt, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(ground.workspace / "t").read_text("utf-8")] == made
    _nothing_left_aside(ground)


def _no_such_call(*_given: object) -> int:
    raise system_calls.NoSuchMachine("not here")


def test_trouble_with_a_rename_is_told(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(*_given: object) -> int:
        raise OSError(errno.EROFS, "read-only")

    files = ground.files()
    files.write("t", b"1")
    monkeypatch.setattr(placing, "system_call", read_only)
    with pytest.raises(ToolError, match="cannot be kept for undo"):
        files.write("t2", b"2")


def test_a_folder_that_cannot_be_written_is_told(shared_ground: Ground) -> None:
    ground = shared_ground
    ground.lay({"d/t": b"1"}, {})
    (ground.workspace / "d").chmod(0o555)
    (ground.root / "state" / "changes").mkdir(parents=True)
    for folder in (ground.root / "state", ground.root / "state" / "changes"):
        if os.geteuid() == 0:
            os.chown(folder, 65534, 65534)
        folder.chmod(0o700)
    with powerless():
        for use in (
            lambda: ground.files().write("d/t", b"2"),
            lambda: ground.files().write("d/new", b"2"),
            lambda: ground.files().remove("d/t"),
            lambda: ground.files().make_directory("d/new"),
        ):
            with pytest.raises(MissingSystemPermission, match="does not permit"):
                use()
    assert (ground.workspace / "d" / "t").read_bytes() == b"1"


def test_what_is_no_file_is_neither_written_nor_removed(ground: Ground) -> None:
    os.mkfifo(ground.workspace / "pipe")
    files = ground.files()
    for use in (
        lambda: files.write("pipe", b""),
        lambda: files.edit("pipe", str.upper),
        lambda: files.remove("pipe"),
        lambda: files.write("pipe", b"", new=True),
    ):
        with pytest.raises(InvalidArguments, match="pipe is a named pipe, not a file"):
            use()
    assert ground.changes.load() == ()


def test_the_workspace_itself_is_not_removed_or_written(ground: Ground) -> None:
    files = ground.files()
    ground.lay({"t": b""}, {})
    with pytest.raises(InvalidArguments):
        files.write(".", b"x")
    with pytest.raises(OperationFailed, match="not empty"):
        files.remove(".")
    with pytest.raises(OperationFailed, match="not empty"):
        files.remove("../ws")


def test_parents_are_not_made_through_a_link_or_below_a_file(ground: Ground) -> None:
    ground.lay({"file": b""}, {"out": "../elsewhere"})
    files = ground.files()
    (ground.root / "elsewhere").mkdir()
    with pytest.raises(PolicyDenied):
        files.write("out/new/t", b"")
    with pytest.raises(PolicyDenied, match="not_a_directory"):
        files.write("file/new", b"")
    assert list((ground.root / "elsewhere").iterdir()) == []


def test_a_folder_that_another_makes_meanwhile_is_taken_unless_it_is_a_link(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.lay({"there/t": b""}, {"link": "there"})
    folder = os.open(ground.workspace, os.O_RDONLY)

    def made(name: str) -> None:
        os.close(make_folder(Spot(folder, name, f"{ground.workspace}/{name}"), ground.recorder()))

    def nothing(_spot: Spot) -> None:
        return None

    try:
        made("there")
        monkeypatch.setattr(Spot, "look", nothing)
        made("there")
        with pytest.raises(OSError, match="symbolic links"):
            made("link")
    finally:
        os.close(folder)
    assert ground.changes.load() == ()


def test_a_link_is_removed_itself(ground: Ground) -> None:
    ground.lay({"d/t": b"1"}, {"link": "d/t", "dir": "d", "d/up": "../link"})
    files = ground.files()
    files.remove("dir/up")
    files.remove(f"{ground.workspace}/link")
    files.remove("./dir")
    assert [one.path for one in files.walk()] == ["d", "d/t"]
    with pytest.raises(FileNotFound):
        files.remove("dir")


def test_removing_is_judged_at_the_place_of_a_link_and_where_it_leads(ground: Ground) -> None:
    ground.lay({"closed/x": b"", "open": b""}, {"out": "../elsewhere", "in": "closed/x"})
    (ground.workspace / "closed" / "link").symlink_to("../open")
    files = ground.files()
    for path in ("out", "in"):
        with pytest.raises(PolicyDenied):
            files.remove(path)
    with pytest.raises(PolicyDenied):
        files.remove("closed/link")
    assert len(list(files.walk())) == 4
