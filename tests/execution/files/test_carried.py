"""Workspaces in pieces: what is read is made again as it was, and nothing hostile is made."""

import os
import socket
import stat
import string
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.contract.carried import PIECE_BYTES, piece_name
from holdfast.execution.files import packing
from holdfast.execution.files.carried_list import Entry, UnusableList, entries_of, written
from holdfast.execution.files.packing import NotKeepable, Packed, Packing, PackLimits
from holdfast.execution.files.unpacking import Unpacking

PLENTY = PackLimits(bytes=1 << 30, files=10_000)
LATER = 1 << 62
"""So long after every change that nothing is read again."""

Tree = Mapping[bytes, tuple[str, int, bytes]]
"""By path: what it is, its mode, and its content or target."""


def packed(
    root: Path,
    pieces: dict[str, bytes] | None = None,
    limits: PackLimits = PLENTY,
    before: Packed | None = None,
    now_ns: int = LATER,
) -> Packed:
    look = Packing(str(root), limits, now_ns, None if before is None else before.known)
    for batch in look.batches(frozenset() if before is None else before.pieces):
        if pieces is not None:
            pieces |= batch
    return look.packed


def unpacked(folder: Path, content: bytes, pieces: Mapping[str, bytes]) -> None:
    folder.mkdir(mode=0o700)
    work = Unpacking(str(folder), entries_of(content, piece_name(content)))
    work.begin()
    for batch in work.batches():
        work.write(batch, {one.name: pieces[one.name] for one in batch if one.name in pieces})
    work.finish()


def carried(root: Path, to: Path) -> Packed:
    pieces: dict[str, bytes] = {}
    found = packed(root, pieces)
    unpacked(to, found.content, pieces)
    return found


def tree_of(root: Path) -> dict[bytes, tuple[str, int, bytes]]:
    """What is below a folder."""
    found: dict[bytes, tuple[str, int, bytes]] = {}
    for place, folders, files in os.walk(os.fsencode(root)):
        for name in (*folders, *files):
            path = os.path.join(place, name)  # noqa: PTH118 - bytes
            status = os.lstat(path)
            mode = stat.S_IMODE(status.st_mode)
            key = os.path.relpath(path, os.fsencode(root))
            if stat.S_ISLNK(status.st_mode):
                found[key] = ("link", 0, os.readlink(path))  # noqa: PTH115 - bytes
            elif stat.S_ISDIR(status.st_mode):
                found[key] = ("folder", mode, b"")
            else:
                with open(path, "rb") as file:  # noqa: PTH123 - bytes
                    found[key] = ("file", mode, file.read())
    return found


NAMES = st.one_of(
    st.text(string.ascii_letters + " .-ä\n", min_size=1, max_size=8).map(str.encode),
    st.binary(min_size=1, max_size=8).map(lambda one: one.replace(b"/", b"_").replace(b"\0", b"_")),
).filter(lambda one: one not in {b".", b".."})
FILES = st.tuples(
    st.just("file"),
    st.sampled_from([0o600, 0o644, 0o755, 0o400, 0o777]),
    st.binary(max_size=300),
)
LINKS = st.tuples(
    st.just("link"), st.just(0), st.sampled_from([b"..", b"/etc/passwd", b"x", b"\xff", b"a/b"])
)
FOLDERS = st.tuples(st.just("folder"), st.sampled_from([0o700, 0o755, 0o500]), st.just(b""))
TREES = st.dictionaries(
    st.lists(NAMES, min_size=1, max_size=4).map(b"/".join),
    st.one_of(FILES, LINKS, FOLDERS),
    max_size=12,
)


def made(root: Path, tree: Tree) -> None:
    """As much of it as can be there."""
    root.mkdir()
    folders: list[tuple[bytes, int]] = []
    for path, (kind, mode, content) in sorted(tree.items()):
        full = os.fsencode(root) + b"/" + path
        try:
            os.makedirs(os.path.dirname(full), exist_ok=True)  # noqa: PTH103, PTH120 - bytes
            if kind == "file":
                with open(full, "xb") as file:  # noqa: PTH123 - bytes
                    file.write(content)
                os.chmod(full, mode)  # noqa: PTH101 - bytes
            elif kind == "link":
                os.symlink(content, full)  # noqa: PTH211 - bytes
            else:
                os.mkdir(full)  # noqa: PTH102 - bytes
                folders.append((full, mode))
        except (FileExistsError, NotADirectoryError, FileNotFoundError):
            continue
    for full, mode in folders:
        os.chmod(full, mode)  # noqa: PTH101 - bytes


@settings(max_examples=60, deadline=None)
@given(TREES)
def test_what_was_read_is_made_again_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, tree: Tree
) -> None:
    place = tmp_path_factory.mktemp("carried")
    made(place / "here", tree)
    found = carried(place / "here", place / "there")
    assert tree_of(place / "there") == tree_of(place / "here")
    assert packed(place / "there").name == found.name  # a copy is known again


def test_large_files_are_made_of_pieces(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    big = os.urandom(PIECE_BYTES) + b"x" * PIECE_BYTES + b"end"
    (here / "big").write_bytes(big)
    (here / "same").write_bytes(b"x" * PIECE_BYTES)
    (here / "empty").touch()
    pieces: dict[str, bytes] = {}
    found = packed(here, pieces)
    assert sorted(map(len, pieces.values())) == [3, PIECE_BYTES, PIECE_BYTES]
    assert (found.files, found.bytes) == (3, len(big) + PIECE_BYTES)
    unpacked(tmp_path / "there", found.content, pieces)
    assert (tmp_path / "there" / "big").read_bytes() == big
    assert packed(tmp_path / "there").name == found.name


def test_what_has_not_changed_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").write_text("one")
    (tmp_path / "two").write_text("two")
    before = packed(tmp_path)
    read: list[bytes] = []
    opened = packing._opened_below  # pyright: ignore[reportPrivateUsage] - who reads is counted

    def counted(root: int, path: bytes) -> int:
        read.append(path)
        return opened(root, path)

    monkeypatch.setattr(packing, "_opened_below", counted)
    pieces: dict[str, bytes] = {}
    again = packed(tmp_path, pieces, before=before)
    assert (again.name, pieces, read) == (before.name, {}, [])
    (tmp_path / "two").write_text("too")
    third = packed(tmp_path, pieces, before=again)
    assert (list(pieces.values()), read) == ([b"too"], [b"two"])
    assert third.name != before.name


def test_what_changed_a_moment_ago_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "one"
    file.write_text("one")
    changed = file.stat().st_ctime_ns
    assert packed(tmp_path, now_ns=changed).known == {}
    assert b"one" in packed(tmp_path, now_ns=changed + 3_000_000_000).known


def test_sockets_and_pipes_are_left_out_and_counted(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "socket"))
        found = packed(tmp_path)
    assert (found.entries, found.left_out) == ((), 2)


def test_what_is_ignored_is_not_carried(tmp_path: Path) -> None:
    for name in ("a.pyc", "a.py", "node_modules/x", "src/node_modules/y", "src/gen/z", "gen"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    limits = PackLimits(bytes=0, files=3, ignore=("*.pyc", "node_modules", "src/gen"))
    assert [one.path for one in packed(tmp_path, limits=limits).entries] == [
        b"a.py",
        b"gen",
        b"src",
    ]


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (PackLimits(bytes=5, files=10), r"more than 5 bytes .*workspace_bytes.* with sub/two"),
        (PackLimits(bytes=10, files=2), r"more than 2 files.*workspace_files"),
    ],
)
def test_what_is_too_large_is_told_before_anything_is_read(
    tmp_path: Path, limits: PackLimits, told: str
) -> None:
    (tmp_path / "one").write_text("123")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "two").write_text("456")
    pieces: dict[str, bytes] = {}
    with pytest.raises(NotKeepable, match=told):
        packed(tmp_path, pieces, limits)
    assert pieces == {}


def test_a_file_that_grows_above_the_limit_meanwhile_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(b"x")
    look = Packing(str(tmp_path), PackLimits(bytes=10, files=10), LATER)
    batches = look.batches(frozenset())
    with pytest.MonkeyPatch.context() as patched:
        opened = packing._opened_below  # pyright: ignore[reportPrivateUsage] - the moment between

        def grown(root: int, path: bytes) -> int:
            file.write_bytes(b"x" * 11)
            return opened(root, path)

        patched.setattr(packing, "_opened_below", grown)
        with pytest.raises(NotKeepable, match="more than 10 bytes"):
            list(batches)


def test_files_that_grow_meanwhile_are_not_above_the_limit_together(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one", "two")]
    for file in files:
        file.touch()
    look = Packing(str(tmp_path), PackLimits(bytes=10, files=10), LATER)
    opened = packing._opened_below  # pyright: ignore[reportPrivateUsage] - the moment between

    def grown(root: int, path: bytes) -> int:
        for file in files:
            file.write_bytes(b"x" * 9)
        return opened(root, path)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(packing, "_opened_below", grown)
        with pytest.raises(NotKeepable, match="more than 10 bytes"):
            list(look.batches(frozenset()))


@pytest.mark.parametrize("mtime_ns", [1 << 80, -(1 << 80)])
def test_times_that_no_list_can_hold_are_kept_as_far_as_they_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mtime_ns: int
) -> None:
    """Some file systems have times of millions of years; whoever works there may set any."""
    (tmp_path / "file").write_text("mine")
    look = os.fstat

    def far(handle: int) -> Any:
        status = look(handle)
        wanted = ("st_mode", "st_size", "st_ctime_ns", "st_ino")
        told = {name: getattr(status, name) for name in wanted}
        return SimpleNamespace(**told, st_mtime_ns=mtime_ns)

    monkeypatch.setattr(os, "fstat", far)
    found = packed(tmp_path)
    assert [one.path for one in entries_of(found.content, found.name)] == [b"file"]


@pytest.mark.parametrize("now", ["gone", "link", "folder", "pipe", "folder above"])
def test_what_is_exchanged_while_it_is_read_leads_nowhere(tmp_path: Path, now: str) -> None:
    """Whoever works there meanwhile must not have a file outside taken along."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("secret")
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    file = root / "sub" / "file"
    file.write_text("mine")
    opened = packing._opened_below  # pyright: ignore[reportPrivateUsage] - the moment between

    def exchanged(at: int, path: bytes) -> int:
        file.unlink()
        if now == "link":
            file.symlink_to(outside / "file")
        elif now == "folder":
            file.mkdir()
        elif now == "pipe":
            os.mkfifo(file)
        elif now == "folder above":
            (root / "sub").rmdir()
            (root / "sub").symlink_to(outside)
        return opened(at, path)

    pieces: dict[str, bytes] = {}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(packing, "_opened_below", exchanged)
        found = packed(root, pieces)
    assert [one.path for one in found.entries] == [b"sub"]
    assert pieces == {}


def test_what_cannot_be_read_is_told_and_nothing_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").touch()

    def refused(_root: int, path: bytes) -> int:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(packing, "_opened_below", refused)
    with pytest.raises(NotKeepable, match="mine cannot be read: Permission denied"):
        packed(tmp_path)


def test_paths_and_folders_without_end_are_told(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(205):
        deep = deep / "d"
        deep.mkdir()
    with pytest.raises(NotKeepable, match="deeper than 200 folders"):
        packed(tmp_path)
    long = tmp_path / "long"
    long.mkdir()
    at = os.open(long, os.O_RDONLY)
    for _ in range(15):
        os.mkdir("n" * 250, dir_fd=at)
        below = os.open("n" * 250, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    with pytest.raises(NotKeepable, match="a path of more than 3500 bytes"):
        packed(long)


HASH = piece_name(b"x")
FILE = Entry(b"file", "file", 0o600, 1, 0, (HASH,))


@pytest.mark.parametrize("piece", [None, b"", b"y", b"xx"])
def test_a_piece_that_is_missing_or_another_is_told(tmp_path: Path, piece: bytes | None) -> None:
    pieces = {} if piece is None else {HASH: piece}
    with pytest.raises(UnusableList, match="missing or damaged"):
        unpacked(tmp_path / "there", written([FILE]), pieces)


def test_what_is_in_the_way_is_never_written_to(tmp_path: Path) -> None:
    """The folder is ours alone; were it not, nothing would be followed or replaced."""
    other = tmp_path / "other"
    other.write_text("mine")
    there = tmp_path / "there"
    there.mkdir()
    (there / "file").symlink_to(other)
    work = Unpacking(str(there), [FILE])
    work.begin()
    (batch,) = work.batches()
    with pytest.raises(FileExistsError):
        work.write(batch, {HASH: b"x"})
    assert other.read_text() == "mine"


def test_what_goes_between_being_listed_and_being_looked_at_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    look = os.stat

    def gone(path: Any, **more: Any) -> os.stat_result:
        if path == b"file":
            (tmp_path / "file").unlink()
        return look(path, **more)

    monkeypatch.setattr(os, "stat", gone)
    assert packed(tmp_path).entries == ()
