"""Lists of carried files: only those are believed that hold nothing hostile."""

from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.contract.carried import piece_name
from holdfast.execution.files.carried_list import Entry, UnusableList, entries_of, written

HASH = piece_name(b"x")
FILE = Entry(b"file", "file", 0o600, 1, 0, (HASH,))


def listed(*entries: Entry) -> bytes:
    """In the order they are given."""
    return msgspec.msgpack.encode([1, entries])


@pytest.mark.parametrize(
    "entries",
    [
        [msgspec.structs.replace(FILE, path=b"../file")],
        [msgspec.structs.replace(FILE, path=b"/etc/file")],
        [msgspec.structs.replace(FILE, path=b"..")],
        [msgspec.structs.replace(FILE, path=b".")],
        [msgspec.structs.replace(FILE, path=b"")],
        [msgspec.structs.replace(FILE, path=b"a\0b")],
        [msgspec.structs.replace(FILE, path=b"a/file")],
        [Entry(b"a", "link", target=b"/etc"), msgspec.structs.replace(FILE, path=b"a/file")],
        [FILE, FILE],
        [Entry(b"a", "folder", 0o700), Entry(b"a", "link", target=b"b")],
        [Entry(b"a", "folder", 0o700), msgspec.structs.replace(FILE, path=b"a/../../file")],
        [Entry(b"a", "folder", 0o4755)],
        [msgspec.structs.replace(FILE, mode=0o4755)],
        [msgspec.structs.replace(FILE, mode=-1)],
        [msgspec.structs.replace(FILE, size=0)],
        [msgspec.structs.replace(FILE, size=-1, pieces=())],
        [msgspec.structs.replace(FILE, pieces=(HASH, HASH))],
        [msgspec.structs.replace(FILE, pieces=("../../../etc/passwd",))],
        [msgspec.structs.replace(FILE, target=b"x")],
        [Entry(b"a", "link")],
        [Entry(b"a", "link", size=1, pieces=(HASH,), target=b"x")],
        [Entry(b"a", "link", target=b"x" * 5000)],
        [Entry(b"x" * 4000, "folder", 0o700)],
    ],
)
def test_hostile_lists_are_not_believed(entries: Iterable[Entry]) -> None:
    content = listed(*entries)
    with pytest.raises(UnusableList):
        entries_of(content, piece_name(content))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "cannot be read"),
        (b"\xc1", "cannot be read"),
        (msgspec.msgpack.encode([2, []]), "form 2; update holdfast"),
        (msgspec.msgpack.encode([1, [[b"dev", "device", 0o600]]]), "cannot be read"),
    ],
)
def test_lists_of_another_form_are_told(content: bytes, told: str) -> None:
    with pytest.raises(UnusableList, match=told):
        entries_of(content, piece_name(content))


def test_a_list_is_only_believed_under_its_name() -> None:
    content = written([FILE])
    assert entries_of(content, piece_name(content)) == (FILE,)
    with pytest.raises(UnusableList, match="is damaged"):
        entries_of(content + b"\0", piece_name(content))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_whatever_a_list_holds_is_told(content: bytes) -> None:
    try:
        entries_of(content, piece_name(content))
    except UnusableList:
        return
