"""What ripgrep prints, however it is cut into pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.search import Match
from holdfast.execution.search import reading
from holdfast.execution.search.log import read_log
from holdfast.execution.search.reading import Lines, Paths

NAME = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)
TEXT = st.text(st.characters(exclude_characters="\0\n\r", exclude_categories=["Cs"]))
STATS = b"\n3 matches\n3 matched lines\n2 files contained matches\n9 files searched\n"


def pieces(text: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(text) + 1) for cut in cuts})
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def shown(path: bytes) -> str:
    return path.decode()


@given(
    st.lists(st.tuples(NAME, st.integers(1, 10**6), TEXT), max_size=6),
    st.lists(st.integers(0, 10**4), max_size=5),
)
def test_lines_are_the_same_in_any_pieces(
    wanted: list[tuple[str, int, str]], cuts: list[int]
) -> None:
    printed = b"".join(f"{path}\0{line}:{text}\n".encode() for path, line, text in wanted)
    lines = Lines(shown, None)
    assert all(lines.take(piece) for piece in pieces(printed + STATS, cuts))
    assert lines.matches == [Match(*one) for one in wanted]
    assert lines.searched == 9


def test_words_about_a_binary_file_are_no_part_of_the_next_path() -> None:
    warned = b'./b: WARNING: stopped searching binary file after match (found "\\0" byte around'
    lines = Lines(shown, None)
    lines.take(b"./b\x001:x\n" + warned + b" offset 70000)\n./c\x002:y\n" + STATS)
    assert [one.path for one in lines.matches] == ["./b", "./c"]


WORDS = b'x: binary file matches (found "\\0" byte around offset 1)\n'


def test_a_name_that_looks_like_such_words_is_no_other_file() -> None:
    """A name may hold them, and a line feed; behind a real one comes a path, with its ``./``."""
    odd = b"./spoof/" + WORDS + b"README.md"
    lines = Lines(shown, None, lambda path: path == odd)
    lines.take(odd + b"\x001:x\n" + STATS)
    assert [one.path for one in lines.matches] == [odd.decode()]
    odd = b"./spoof/" + WORDS + b"./README.md"
    lines = Lines(shown, None, lambda path: path == odd)
    lines.take(odd + b"\x001:x\n./z\x001:x\n" + STATS)
    assert ([one.path for one in lines.matches], lines.unclear) == (["./z"], {odd})


def test_a_limit_ends_it_at_once() -> None:
    lines = Lines(shown, 2)
    assert not lines.take(b"".join(b"./a\x00%d:x\n" % number for number in range(1, 9)))
    assert [one.line for one in lines.matches] == [1, 2]
    assert lines.stopped is not None


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_BYTES", 1000)
    lines = Lines(shown, None)
    assert lines.take(b"./a\x001:" + b"x" * 500)
    assert not lines.take(b"x" * 600)
    assert lines.stopped is not None


@given(st.lists(NAME, max_size=8), st.lists(st.integers(0, 10**4), max_size=5))
def test_paths_are_the_same_in_any_pieces(names: list[str], cuts: list[int]) -> None:
    printed = b"".join(f"./{name}\0".encode() for name in names)
    paths = Paths(lambda text: map(shown, text.split(b"\0")[:-1]), None)
    assert all(paths.take(piece) for piece in pieces(printed, cuts))
    assert paths.fitting == [f"./{name}" for name in names]
    assert b"".join(paths.texts) == printed
    unkept = Paths(lambda _text: [], None, keeps_all=False)
    assert all(unkept.take(piece) for piece in pieces(printed, cuts))
    assert unkept.texts == []


def test_the_log_tells_what_was_passed_over() -> None:
    log = read_log(
        b"rg: DEBUG|globset|x.rs:1: built glob set\n"
        b"rg: DEBUG|ignore::walk|crates/ignore/src/walk.rs:1799: ignoring ./x.log: Ignore(Ig)\n"
        b"rg: DEBUG|rg::haystack|crates/core/haystack.rs:70: ignoring ./l: failed to pass haystack"
        b" filter: file type: Some\n"
        b"rg: DEBUG|grep_printer::standard|c.rs:7: ignoring ./c.bin: found binary data at\n"
        b"rg: ./d: Permission denied (os error 13)\n"
    )
    assert log.ignored == {b"./x.log"}
    assert log.other == (b"./l",)
    assert (log.binary, log.unreadable) == (1, 1)
    assert log.said == "rg: ./d: Permission denied (os error 13)"
