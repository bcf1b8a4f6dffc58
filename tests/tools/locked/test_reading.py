"""Reading in parts, by properties: every range is the same as taking it from the whole text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.contract.errors import Cancelled
from holdfast.contract.files import OpenFile
from holdfast.contract.results import FileText
from holdfast.contract.runtime import Runtime, SessionFacts
from holdfast.runtime.abort import Abort
from holdfast.testing.fake_files import FakeFiles
from holdfast.tools.files import line_counts, reading
from holdfast.tools.files.reading import Wanted, read_any


class Bounds:
    """Small answers, so that every cut is met."""

    file_bytes = 1000
    ignore_whitespace = False

    def __init__(self, read_bytes: int = 1 << 20) -> None:
        self.read_bytes = read_bytes


class Lent:
    """A hand that lends files alone."""

    def __init__(self, files: FakeFiles) -> None:
        self._files = files

    def files(self, _runtime: Runtime, /) -> FakeFiles:
        return self._files


def runtime(content: bytes, abort: Abort | None = None) -> Runtime:
    return Runtime(
        call_id="c",
        session=SessionFacts(id="s"),
        progress=lambda _progress: None,
        abort=abort or Abort(),
        hand=Lent(FakeFiles({"f": content})),  # pyright: ignore[reportArgumentType] - files are all it is asked for
    )


def read(content: bytes, wanted: Wanted, most: int = 1 << 20) -> FileText:
    found = read_any(runtime(content), "f", wanted, Bounds(most))
    assert isinstance(found, FileText)
    return found


texts = st.lists(
    st.sampled_from(["a", "é", "\U0001f600", "\n", "\n", "\r\n", ""]), max_size=60
).map("".join)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_counts, "BLOCK", 5)
    monkeypatch.setattr(line_counts, "BLOCK_BACKWARDS", 3)


anytime = settings(deadline=None)


@anytime
@given(text=texts, first=st.integers(1, 40), count=st.integers(1, 40))
def test_a_range_of_lines_is_those_lines(text: str, first: int, count: int) -> None:
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    lines = lines if lines[-1] else lines[:-1]
    found = read(text.encode(), Wanted(start_line=first, line_count=count))
    wanted = lines[first - 1 : first - 1 + count]
    assert found.text == "".join(wanted)
    assert found.selected_line_count == len(wanted)
    assert found.total_line_count == len(lines)
    assert found.newline_count == text.count("\n")
    if wanted:
        assert (found.start_line, found.end_line) == (first, first + len(wanted) - 1)


@anytime
@given(text=texts, count=st.integers(1, 40), most=st.integers(4, 60))
def test_the_last_lines_are_the_last_lines(text: str, count: int, most: int) -> None:
    lines = text.split("\n")
    lines = [line + "\n" for line in lines[:-1]] + lines[-1:]
    wanted = "".join((lines if lines[-1] else lines[:-1])[-count:])
    found = read(text.encode(), Wanted(tail_lines=count), most)
    assert wanted.endswith(found.text)
    assert found.truncated == (found.text != wanted)
    assert found.truncated == (len(wanted.encode()) > most)
    assert found.bytes_read == len(found.text.encode()) <= most
    assert found.end_line == found.total_line_count


@anytime
@given(text=texts, most=st.integers(1, 30), limit=st.integers(1, 40))
def test_pieces_one_behind_the_other_are_the_whole(text: str, most: int, limit: int) -> None:
    content = text.encode()
    offset, found = 0, ""
    while offset < len(content):
        piece = read(content, Wanted(offset=offset, limit=limit), most)
        assert piece.bytes_read
        assert piece.start_line == content[:offset].count(b"\n") + 1
        found += piece.text
        offset += piece.bytes_read
    assert found == text


@anytime
@given(text=texts, offset=st.integers(0, 80), limit=st.integers(1, 80))
def test_a_range_of_bytes_holds_the_characters_that_lie_in_it(
    text: str, offset: int, limit: int
) -> None:
    found = read(text.encode(), Wanted(offset=offset, limit=limit)).text
    whole = text.encode()[offset : offset + limit].decode("utf-8", "ignore")
    assert found == whole or len(found) == 1 > len(whole)


@anytime
@given(text=texts, most=st.integers(4, 60))
def test_what_is_cut_says_where_it_stops(text: str, most: int) -> None:
    found = read(text.encode(), Wanted(), most)
    assert text.startswith(found.text)
    assert found.truncated == (len(text.encode()) > most)
    assert (found.note is not None) == found.truncated == (found.output_path is not None)
    if found.truncated:
        assert f'"offset": {found.bytes_read}' in (found.note or "")


def test_lines_of_a_very_large_file_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_COUNTED", 10)
    content = b"0123456789\n" * 5
    last = read(content, Wanted(tail_lines=2))
    assert (last.start_line, last.end_line) == (-2, -1)
    assert (last.total_line_count, last.total_lines_exact, last.newline_count) == (2, False, None)
    middle = read(content, Wanted(offset=22, limit=11))
    assert (middle.start_line, middle.end_line, middle.text) == (0, 0, "0123456789\n")
    assert read(content, Wanted(start_line=5, line_count=1)).start_line == 5


def test_counting_stops_when_the_call_is_stopped() -> None:
    class Stops:
        byte_count = 100
        read_so_far = 0

        def read(self, _start: int, limit: int, /) -> bytes:
            self.read_so_far += limit
            stop.set()
            return b"x" * limit

    stop = Abort()
    file = Stops()
    opened: OpenFile = file
    with pytest.raises(Cancelled):
        line_counts.counted(opened, 0, 100, stop)
    assert file.read_so_far == 5
