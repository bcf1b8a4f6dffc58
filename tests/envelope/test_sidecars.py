"""Sidecar files on a real disk: modes, quotas, names, links, a full disk, many threads."""

import os
import resource
import stat
import subprocess
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from envelope.strategies import steady
from hypothesis import given
from hypothesis import strategies as st
from support import make_tool, settle

from holdfast.contract.tool import Limits, OutputBound
from holdfast.execution.sidecars import SidecarFiles

pytestmark = pytest.mark.anyio


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if not path.is_dir())


def _stored(
    files: SidecarFiles, content: bytes, *, name: str = "tool-1", session: str = "s"
) -> int:
    stored = files.keep(session, name, content)
    return 0 if stored is None else stored.stored_bytes


@pytest.mark.req("SPEC-TRUNC-05")
def test_a_file_is_private_and_lies_in_the_sessions_own_folder(tmp_path: Path) -> None:
    root = tmp_path / "sessions"
    before = os.umask(0)
    try:
        stored = SidecarFiles(root).keep("ses_1", "grep-cal_1", b"all of it")
    finally:
        os.umask(before)
    assert stored is not None
    path = Path(stored.path)
    assert path.read_bytes() == b"all of it"
    assert (path.name, stored.stored_bytes) == ("grep-cal_1", 9)
    assert path.is_relative_to(root / "ses_1")
    assert _mode(path) == 0o600
    for folder in (path.parent, root / "ses_1", root):
        assert _mode(folder) == 0o700


def test_empty_content_is_kept_as_an_empty_file(tmp_path: Path) -> None:
    stored = SidecarFiles(tmp_path).keep("s", "n", b"")
    assert stored is not None
    assert Path(stored.path).read_bytes() == b""


def test_one_call_takes_no_more_than_its_quota(tmp_path: Path) -> None:
    files = SidecarFiles(tmp_path, call_quota=10)
    stored = files.keep("s", "n", b"x" * 11)
    assert stored is not None
    assert stored.stored_bytes == 10
    assert Path(stored.path).read_bytes() == b"x" * 10


def test_a_session_takes_no_more_than_its_quota_and_others_are_not_touched(tmp_path: Path) -> None:
    files = SidecarFiles(tmp_path, session_quota=25)
    sizes = [_stored(files, b"x" * 10, name=str(n)) for n in range(5)]
    assert sizes == [10, 10, 5, 0, 0]
    assert _stored(files, b"x" * 10, session="other") == 10
    assert sum(path.stat().st_size for path in _files(tmp_path / "s")) == 25


def test_a_quota_never_tears_a_character_and_gives_back_what_it_did_not_use(
    tmp_path: Path,
) -> None:
    files = SidecarFiles(tmp_path, session_quota=10)
    assert _stored(files, "😀".encode() * 3, name="a") == 8
    assert _stored(files, "😀".encode(), name="b") == 0
    assert _stored(files, b"xyz", name="c") == 2


def test_content_of_which_nothing_fits_does_not_use_up_the_quota(tmp_path: Path) -> None:
    files = SidecarFiles(tmp_path, session_quota=10)
    assert files.keep("s", "a", b"\x80" * 100) is None
    assert _stored(files, b"x" * 10, name="b") == 10


def test_what_could_not_be_written_does_not_use_up_the_quota(tmp_path: Path) -> None:
    files = SidecarFiles(tmp_path, session_quota=10)
    assert _stored(files, b"x" * 4, name="a") == 4
    assert files.keep("s", "a", b"y" * 4) is None  # the name is taken
    assert _stored(files, b"z" * 6, name="b") == 6


def test_after_forgetting_the_whole_quota_is_there_again(tmp_path: Path) -> None:
    files = SidecarFiles(tmp_path, session_quota=10)
    assert _stored(files, b"x" * 10) == 10
    files.forget("s")
    assert not (tmp_path / "s").exists()
    assert _stored(files, b"x" * 10) == 10
    files.forget("s")
    files.forget("s")
    files.forget("never heard of")


def test_forgetting_one_session_leaves_the_others_and_what_is_not_ours(tmp_path: Path) -> None:
    files = SidecarFiles(tmp_path)
    for session in ("a", "b"):
        files.keep(session, "n", b"x")
    (tmp_path / "a" / "record.jsonl").write_text("kept", "utf-8")
    files.forget("a")
    assert _files(tmp_path) == [tmp_path / "a" / "record.jsonl", tmp_path / "b" / "outputs" / "n"]


NAMES = [
    "a/b",
    "a_b",
    "../../etc/passwd",
    "..",
    ".",
    "",
    ".hidden",
    "a\x00b",
    "é",
    "a" * 300,
    "/abs",
]


def test_no_name_leads_out_of_the_folder_and_none_takes_anothers_place(tmp_path: Path) -> None:
    root = tmp_path / "root"
    files = SidecarFiles(root)
    paths = {str(stored.path) for n in NAMES if (stored := files.keep("s", n, n.encode()))}
    assert len(paths) == len(NAMES)
    assert all(Path(path).parent == root / "s" / "outputs" for path in paths)
    assert _files(tmp_path) == sorted(map(Path, paths))


def test_no_session_id_leads_out_of_the_root_and_none_shares_anothers_folder(
    tmp_path: Path,
) -> None:
    root = tmp_path / "root"
    files = SidecarFiles(root)
    folders = {
        Path(stored.path).parent for n in NAMES if (stored := files.keep(n, "n", n.encode()))
    }
    assert len(folders) == len(NAMES)
    assert all(folder.parent.parent == root for folder in folders)
    files.forget("a/b")
    assert (root / "a_b" / "outputs" / "n").read_bytes() == b"a_b"


@steady
@given(st.text(max_size=200), st.text(max_size=200))
def test_different_names_stay_different(one: str, other: str) -> None:
    with TemporaryDirectory() as folder:
        files = SidecarFiles(Path(folder))
        first, second = files.keep("s", one, b"1"), files.keep("s", other, b"2")
        assert first is not None
        assert (second is None) == (one == other)
        assert Path(first.path).read_bytes() == b"1"


def test_long_tool_names_keep_the_calls_apart(tmp_path: Path) -> None:
    files = SidecarFiles(tmp_path)
    first = files.keep("s", "t" * 128 + "-cal_1", b"1")
    second = files.keep("s", "t" * 128 + "-cal_2", b"2")
    assert first is not None
    assert second is not None
    assert "cal_2" in Path(second.path).name


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    (folder / "outputs").mkdir(parents=True)
    (folder / "outputs" / "n").write_text("precious", "utf-8")
    return folder


def _untouched(outside: Path) -> bool:
    precious = outside / "outputs" / "n"
    return _files(outside) == [precious] and precious.read_text("utf-8") == "precious"


def test_a_link_in_the_place_of_the_file_is_not_written_through(
    tmp_path: Path, outside: Path
) -> None:
    files = SidecarFiles(tmp_path / "root")
    files.keep("s", "first", b"x")
    for target in (outside / "outputs" / "n", outside / "new"):
        link = tmp_path / "root" / "s" / "outputs" / target.name
        link.symlink_to(target)
        assert files.keep("s", target.name, b"overwritten") is None
    assert _untouched(outside)


def test_a_link_in_the_place_of_the_sessions_folder_is_not_written_through(
    tmp_path: Path, outside: Path
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "s").symlink_to(outside)
    assert SidecarFiles(root).keep("s", "other", b"x") is None
    assert _untouched(outside)


def test_a_link_in_the_place_of_the_outputs_is_not_written_through(
    tmp_path: Path, outside: Path
) -> None:
    root = tmp_path / "root"
    (root / "s").mkdir(parents=True)
    (root / "s" / "outputs").symlink_to(outside / "outputs")
    assert SidecarFiles(root).keep("s", "other", b"x") is None
    assert _untouched(outside)


@pytest.mark.req("SPEC-TRUNC-07")
@pytest.mark.parametrize("place", ["s", "s/outputs", "s/outputs/file", "s/outputs/folder"])
def test_cleaning_up_removes_links_and_never_what_they_lead_to(
    place: str, tmp_path: Path, outside: Path
) -> None:
    root = tmp_path / "root"
    files = SidecarFiles(root)
    link = root / place
    link.parent.mkdir(parents=True, exist_ok=True)
    target = {"s": outside, "s/outputs/file": outside / "outputs" / "n"}
    link.symlink_to(target.get(place, outside / "outputs"))
    files.forget("s")
    assert not link.is_symlink()
    assert _untouched(outside)
    assert _stored(files, b"x") == 1


def test_threads_that_keep_at_once_stay_within_the_quota_together(tmp_path: Path) -> None:
    files = SidecarFiles(tmp_path, session_quota=1_000)
    begin = threading.Barrier(8)

    def keep(number: int) -> int:
        begin.wait(5)
        return sum(_stored(files, b"x" * 37, name=f"{number}-{again}") for again in range(10))

    with ThreadPoolExecutor(8) as pool:
        total = sum(pool.map(keep, range(8)))
    assert total == 1_000
    assert sum(path.stat().st_size for path in _files(tmp_path)) == 1_000


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB; only root may mount one."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("mounting a small file system needs root; the test with a limit stands in")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


async def test_a_full_disk_leaves_no_part_of_a_file_and_an_honest_envelope(
    tiny_disk: Path,
) -> None:
    files = SidecarFiles(tiny_disk)
    assert files.keep("s", "big", b"x" * 200_000) is None
    assert _files(tiny_disk) == []
    tool = make_tool(
        lambda _values, _runtime: "y" * 200_000,
        limits=Limits(output=OutputBound(max_bytes=1_000)),
    )
    answer = await settle(tool, sidecars=files)
    assert answer.result == {"head": "y" * 1_000}
    told = answer.metadata
    assert (told.truncated, told.output_path, told.output_bytes) == (True, None, 200_000)
    assert told.dropped_bytes == 200_000 - 1_000 - 2_048
    assert _files(tiny_disk) == []
    assert _stored(files, b"z" * 30_000, name="small") == 30_000


@contextmanager
def _no_file_larger_than(size: int) -> Generator[None]:
    """Python ignores SIGXFSZ, so a write past the limit fails half way, for any user."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_write_that_fails_half_way_leaves_no_file_and_no_used_quota(tmp_path: Path) -> None:
    files = SidecarFiles(tmp_path, session_quota=6_000)
    with _no_file_larger_than(5_000):
        big = files.keep("s", "big", b"x" * 6_000)
    assert big is None
    assert _files(tmp_path) == []
    assert _stored(files, b"x" * 6_000, name="small") == 6_000


def test_a_root_that_cannot_be_made_keeps_nothing_and_raises_nothing(tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("in the way", "utf-8")
    files = SidecarFiles(blocked / "root")
    assert files.keep("s", "n", b"x") is None
    files.forget("s")


def test_a_place_that_cannot_be_made_takes_nothing_of_the_quota(tmp_path: Path) -> None:
    files = SidecarFiles(tmp_path, session_quota=100, call_quota=100)
    (tmp_path / "s").write_text("in the way", "utf-8")
    spool = files.spool("s", "tool-1")
    spool.take(b"x" * (1 << 20))
    spool.write()
    spool.close()
    assert spool.path is None
    (tmp_path / "s").unlink()
    assert _stored(files, b"y" * 100) == 100
