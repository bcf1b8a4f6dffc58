"""What is told of sessions' ends is found again, whatever happens to disks and processes."""

import errno
import fcntl
import os
import resource
import struct
import subprocess
import sys
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from record.anchored import HASH, restored
from this_tree import this_tree

from holdfast.contract.journal import JournalUnavailable
from holdfast.record.anchor_form import TAKEN_AWAY, Anchor, anchor_name
from holdfast.record.anchors import AnchorFiles, read_anchors

FIRST_PLACES = 256


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "anchors"


@contextmanager
def files_no_larger_than(size: int) -> Generator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def repeated(beginning: str, times: int, rest: str) -> str:
    return beginning * times + rest


_texts = st.text(max_size=300)
_alike = st.builds(
    repeated,
    st.sampled_from(["s", "ü", "日", "😀", "\0", "sha256:"]),
    st.integers(0, 120),
    st.sampled_from(["", "a", "b", "\0", "\0\0", "ü"]),
)
_either: st.SearchStrategy[str] = st.one_of(_texts, _alike)
_ids = st.lists(st.one_of(_either, _either.map(anchor_name)), unique=True, max_size=8)


@given(ids=_ids, others=_ids)
@example(ids=["s" * 95, "s" * 96, "s" * 97, "s" * 200], others=["s" * 94, "s" * 98])
@example(ids=["s", "s\0", "s\0\0"], others=["s\0s"])
@example(ids=["é" * 47, "é" * 48, "é" * 48 + "a"], others=["é" * 49])
@example(ids=["s" * 300, anchor_name("s" * 300)], others=[anchor_name(anchor_name("s" * 300))])
@example(ids=["\ud800", "?"], others=["\ud801"])
def test_what_is_noted_is_found_for_this_id_and_no_other(ids: list[str], others: list[str]) -> None:
    with TemporaryDirectory() as place:
        folder = Path(place)
        anchors = AnchorFiles(folder)
        for number, one in enumerate(ids, 1):
            anchors.note(one, number, bytes([number]) * 32)
        expected = [Anchor(number, bytes([number]) * 32) for number, _ in enumerate(ids, 1)]
        found = read_anchors(folder)
        assert [found[anchor_name(one)] for one in ids] == expected
        anchors.close()
        found = read_anchors(folder)
        assert [found[anchor_name(one)] for one in ids] == expected
        assert len(found) == len(ids)
        assert all(anchor_name(one) not in found for one in set(others) - set(ids))


def earlier(session_id: str, sequence: int) -> bytes:
    """What was written before long ids had names of their own: they were cut."""
    rest = struct.pack(">96sQ32s", session_id.encode(), sequence, HASH)
    return zlib.crc32(rest).to_bytes(4, "big") + rest


def test_what_an_earlier_version_wrote_is_read_and_what_it_cut_is_passed_over(folder: Path) -> None:
    folder.mkdir()
    short = ["ses_1", "s" * 95, "日" * 31, "a\0b", "line\nline"]
    cut = ["t" * 97, "日" * 33]
    for name in ("sum", "1-abc.live"):
        (folder / name).write_bytes(b"".join(earlier(one, 7) for one in [*short, *cut]))
        assert read_anchors(folder) == dict.fromkeys(short, Anchor(7, HASH))
    AnchorFiles(folder).close()
    assert [path.name for path in folder.glob("[!.]*")] == ["sum"]
    assert read_anchors(folder) == {anchor_name(one): Anchor(7, HASH) for one in short}


@pytest.mark.parametrize("order", list(permutations((5, 7, 9))))
def test_of_several_files_the_largest_number_counts(folder: Path, order: tuple[int, ...]) -> None:
    folder.mkdir()
    for name, number in zip(("1-a.live", "2-b.live", "sum"), order, strict=True):
        (folder / name).write_bytes(earlier("ses_1", number))
    assert read_anchors(folder) == {"ses_1": Anchor(9, HASH)}
    AnchorFiles(folder).close()
    assert read_anchors(folder) == {"ses_1": Anchor(9, HASH)}


def test_a_restored_session_without_room_is_told_to_others_when_there_is_some(folder: Path) -> None:
    here, there = AnchorFiles(folder), AnchorFiles(folder)
    there.note("ses_x", 9, HASH)
    with files_no_larger_than(50_000):
        for number in range(FIRST_PLACES):
            here.note(f"ses_{number}", 1, HASH)
        restored(here, "ses_x", 2, HASH)
        assert read_anchors(folder)["ses_x"].sequence == 9
    here.note("ses_0", 2, HASH)
    assert read_anchors(folder)["ses_x"].sequence == 2
    there.look()
    there.note("ses_x", 3, HASH)
    assert read_anchors(folder)["ses_x"].sequence == 3
    here.close()
    there.close()


def test_what_could_not_be_said_to_others_is_said_later(folder: Path) -> None:
    here, there = AnchorFiles(folder), AnchorFiles(folder)
    there.note("ses_x", 9, HASH)
    (folder / ".lock").unlink()
    (folder / ".lock").mkdir()
    restored(here, "ses_x", 2, HASH)
    (folder / ".lock").rmdir()
    here.note("ses_x", 3, HASH)
    there.look()
    there.note("ses_x", 4, HASH)
    assert read_anchors(folder)["ses_x"].sequence == 4
    here.close()
    there.close()


def test_what_finds_no_room_fails_nobody_is_said_once_and_is_told_when_there_is_some(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    anchors = AnchorFiles(folder)
    with files_no_larger_than(50_000):
        for number in range(FIRST_PLACES + 3):
            anchors.note(f"ses_{number}", 1, HASH)
        anchors.note("ses_0", 2, HASH)
        anchors.note(f"ses_{FIRST_PLACES}", 2, HASH)
        assert len(read_anchors(folder)) == FIRST_PLACES
        assert read_anchors(folder)["ses_0"].sequence == 2
    (said,) = caplog.messages
    assert str(folder) in said
    assert "make room there" in said
    anchors.note("ses_0", 3, HASH)
    expected = {f"ses_{number}": Anchor(1, HASH) for number in range(FIRST_PLACES + 3)}
    expected |= {"ses_0": Anchor(3, HASH), f"ses_{FIRST_PLACES}": Anchor(2, HASH)}
    assert read_anchors(folder) == expected
    anchors.close()
    assert read_anchors(folder) == expected
    assert len(caplog.messages) == 1


def test_what_still_waits_at_the_end_is_told_then(folder: Path) -> None:
    anchors = AnchorFiles(folder)
    with files_no_larger_than(50_000):
        for number in range(FIRST_PLACES + 1):
            anchors.note(f"ses_{number}", 1, HASH)
    anchors.close()
    assert len(read_anchors(folder)) == FIRST_PLACES + 1


def test_a_file_that_finds_no_room_at_the_beginning_waits_for_it_and_that_is_said_once(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with files_no_larger_than(10_000):
        anchors = AnchorFiles(folder)
        assert list(folder.glob("[!.]*")) == []
        assert caplog.messages == []  # nothing was written yet that nobody vouches for
        anchors.note("ses_1", 1, HASH)
        anchors.note("ses_2", 1, HASH)
        assert read_anchors(folder) == {}
    (said,) = caplog.messages
    assert f"cannot be kept in {folder}" in said
    anchors.note("ses_1", 2, HASH)
    expected = {"ses_1": Anchor(2, HASH), "ses_2": Anchor(1, HASH)}
    assert read_anchors(folder) == expected
    anchors.close()
    assert read_anchors(folder) == expected


def test_what_waited_is_of_the_life_that_others_have_begun_meanwhile(folder: Path) -> None:
    there = AnchorFiles(folder)
    restored(there, "ses_x", 2, HASH)
    with files_no_larger_than(10_000):
        here = AnchorFiles(folder)
        here.note("ses_x", 3, HASH)
    here.close()
    there.close()
    assert read_anchors(folder)["ses_x"] == Anchor(3, HASH, 1)


def test_whoever_only_reads_needs_no_room_and_says_nothing(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.mkdir()
    ids = [f"ses_{number}" for number in range(100)]
    (folder / "1-abc.live").write_bytes(b"".join(earlier(one, 7) for one in ids))
    for size in (10_000, 0):  # not even for the sum of what others left
        with files_no_larger_than(size):
            AnchorFiles(folder).close()
        assert [path.name for path in folder.glob("[!.]*")] == ["1-abc.live"]
        assert not (folder / ".sum.part").exists()
        assert read_anchors(folder) == dict.fromkeys(ids, Anchor(7, HASH))
    assert caplog.messages == []
    AnchorFiles(folder).close()
    assert [path.name for path in folder.glob("[!.]*")] == ["sum"]


def test_a_folder_that_cannot_be_used_is_an_error_that_says_what_to_do(folder: Path) -> None:
    folder.write_bytes(b"")
    with pytest.raises(JournalUnavailable, match=f"^{folder}: File exists; .* move that away$"):
        AnchorFiles(folder)


def test_what_cannot_be_added_up_for_another_reason_is_an_error(folder: Path) -> None:
    (folder / "sum").mkdir(parents=True)
    (folder / "1-abc.live").write_bytes(earlier("ses_1", 7))
    with pytest.raises(JournalUnavailable, match=r"Is a directory; move the folder away$"):
        AnchorFiles(folder)


@pytest.mark.parametrize("code", [errno.EOPNOTSUPP, errno.EINVAL, None])
def test_where_room_cannot_be_set_aside_it_is_written_to(
    folder: Path, monkeypatch: pytest.MonkeyPatch, code: int | None
) -> None:
    def refused(*_: int) -> None:
        assert code is not None
        raise OSError(code, os.strerror(code))

    if code is None:
        monkeypatch.delattr(os, "posix_fallocate")
    else:
        monkeypatch.setattr(os, "posix_fallocate", refused)
    anchors = AnchorFiles(folder)
    for number in range(FIRST_PLACES + 1):
        anchors.note(f"ses_{number}", 1, HASH)
    (own,) = folder.glob("*.live")
    assert own.stat().st_blocks * 512 >= own.stat().st_size > FIRST_PLACES * 140
    assert len(read_anchors(folder)) == FIRST_PLACES + 1
    anchors.close()


def test_a_new_file_has_all_of_its_room(folder: Path) -> None:
    anchors = AnchorFiles(folder)
    (own,) = folder.glob("*.live")
    assert own.stat().st_blocks * 512 >= own.stat().st_size == FIRST_PLACES * 140
    anchors.close()


def test_nobody_adds_up_while_a_file_is_begun(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between making it and holding it, it looks like one of a process that is gone."""
    flock = fcntl.flock
    begun: list[str] = []

    def watched(handle: int, how: int) -> None:
        held = Path(f"/proc/self/fd/{handle}").readlink()
        if held.suffix == ".live":
            begun.append(held.name)
            with (folder / ".lock").open() as lock, pytest.raises(BlockingIOError):
                flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", watched)
    anchors = AnchorFiles(folder)
    assert begun == [path.name for path in folder.glob("*.live")]
    anchors.close()


ON_A_FULL_DISK = """
import logging, sys
from pathlib import Path
import anyio
from record.verified_stores import opened
from holdfast.contract.events import SessionCreated

async def main(root, filler):
    logging.basicConfig(format="%(message)s", stream=sys.stdout)
    store = opened(Path(root))
    with open(filler, "wb", buffering=0) as out:
        try:
            while True:
                out.write(bytes(4096))
        except OSError as problem:
            print(problem.strerror)
    for number in range(600):
        await store.journal.create(f"ses_{number}", [SessionCreated()])
    Path(filler).unlink()
    await store.archive.delete("ses_599")
    await store.journal.close()

anyio.run(main, *sys.argv[1:])
"""


@pytest.mark.measured
@pytest.mark.system("util-linux", program="unshare")
def test_a_full_disk_does_not_end_the_process(tmp_path: Path) -> None:
    """In a namespace of its own: a small disk for the anchors, another one for the store."""
    here = tmp_path / "anchors"
    here.mkdir()
    script = (
        f"mount -t tmpfs -o size=512k none {here} || exit 77;"
        f"'{sys.executable}' -c '{ON_A_FULL_DISK}' {tmp_path} {here}/filler || exit $?;"
        f"cp {here}/sum {tmp_path}/sum"
    )
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env=this_tree(),
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("a mount namespace of one's own is not to be had here")
    assert done.returncode == 0, done.stderr
    filled, said = done.stdout.splitlines()
    assert filled == "No space left on device"
    assert "No space left on device" in said
    (tmp_path / "sum").rename(here / "sum")
    found = read_anchors(here)
    assert len(found) == 600
    assert found["ses_599"].sequence == TAKEN_AWAY


def test_whoever_keeps_the_lock_is_waited_for_only_so_long(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.record.anchors._LOCKED_SECONDS", 0.1)
    folder.mkdir()
    held = os.open(folder / ".lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    with pytest.raises(JournalUnavailable, match="another process has kept it locked"):
        AnchorFiles(folder)
    os.close(held)
    AnchorFiles(folder).close()
