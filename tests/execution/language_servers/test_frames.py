"""Messages out of a stream: whole whatever the pieces, found again behind what is none."""

import re
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.json_value import JsonObject
from holdfast.execution.language_servers.frames import FrameReader, framed

messages = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.one_of(st.integers(-(2**53), 2**53), st.text(st.characters(exclude_categories=["Cs"]))),
    max_size=4,
)
garbage = st.binary(max_size=60).filter(
    lambda found: re.search(rb"c(?:o(?:n(?:t|$)|$)|$)", found, re.IGNORECASE) is None
)


def in_pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    return [stream[one:two] for one, two in pairwise(places)]


def read(reader: FrameReader, pieces: list[bytes]) -> list[JsonObject]:
    return [message for piece in pieces for message in reader.feed(piece)]


@given(
    st.lists(st.tuples(garbage, messages), max_size=5), st.lists(st.integers(0, 600), max_size=20)
)
def test_every_message_comes_out_whatever_stands_between_and_however_it_is_cut(
    sent: list[tuple[bytes, JsonObject]], cuts: list[int]
) -> None:
    stream = b"".join(before + framed(message) for before, message in sent)
    reader = FrameReader()
    assert read(reader, in_pieces(stream, cuts)) == [message for _, message in sent]
    assert reader.kept_bytes == 0
    assert reader.passed_over == 0


@given(st.lists(st.binary(max_size=200), max_size=10), messages)
def test_no_bytes_stop_it_and_none_are_hoarded(pieces: list[bytes], after: JsonObject) -> None:
    reader = FrameReader(longest=1_000)
    for piece in pieces:
        reader.feed(piece)
        assert reader.kept_bytes <= 4_096 + len(piece)
    # It may be in the middle of a body that never comes; behind that it finds messages again.
    reader.feed(b" " * 2_000)
    assert read(reader, [b"\n" * 5_000, framed(after)])[-1:] == [after]


@given(st.integers(101, 5_000), st.lists(st.integers(0, 6_000), max_size=10))
def test_what_is_too_long_is_passed_over_and_not_kept(length: int, cuts: list[int]) -> None:
    long = b"Content-Length: %d\r\n\r\n" % length + b"x" * length
    reader = FrameReader(longest=100)
    assert read(reader, in_pieces(long + framed({"id": 1}), cuts)) == [{"id": 1}]
    assert reader.passed_over == 1


@pytest.mark.parametrize(
    "noise",
    [
        b"Content-Length: many\r\n\r\n",
        b"Content-Length: 12 apples\r\n\r\n",
        b"Content-Length: 99999999999999999999\r\n\r\n",
        b"Content-Length: 5\r\nand then nothing of the kind\r\n",
        b"Content-Length: 4\r\n\r\nnull",
        b"Content-Length: 3\r\n\r\n{{{",
        b"Content-Type: text\r\n",
        b"CONTENT-LENGTH : 2\r\nContent-Type: x\r\n\r\n[]",
        b"the server says: Content-Length is a header\r\n\r\n",
    ],
)
def test_a_header_that_is_none_costs_no_message_behind_it(noise: bytes) -> None:
    assert FrameReader().feed(noise + framed({"id": 7})) == [{"id": 7}]


@pytest.mark.parametrize(
    "header",
    [
        b"content-length:",
        b"content-length:1",
        b"Content-Length: 5\n",
        b"Content-Length: 5\nx",
        b"content-length" + b" " * 50,
        b"content-length: 7" + b" " * 4_000,
        b"content-length: 7\n" + b"\r" * 4_000,
    ],
)
def test_however_many_headers_are_none_each_byte_is_looked_at_a_few_times(header: bytes) -> None:
    """Looking over all that follows at each of them takes minutes, not a test's time."""
    reader = FrameReader()
    assert reader.feed(header * (2_000_000 // len(header)) + b"!") == []
    assert reader.kept_bytes <= 4_096
    assert reader.feed(framed({"id": 7})) == [{"id": 7}]


@given(
    st.lists(st.sampled_from([b"content-length:", b" 5", b"\n", b"\r\n", b"x" * 1_500, b"{}"])),
    st.lists(st.integers(0, 9_000), max_size=8),
)
def test_where_the_stream_is_cut_changes_nothing(parts: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(parts) + b"\n" * 5_000
    assert read(FrameReader(), in_pieces(stream, cuts)) == FrameReader().feed(stream)


def test_lines_may_end_as_they_do_elsewhere() -> None:
    body = msgspec.json.encode({"ok": True})
    stream = b"content-length:%d\n\n%b" % (len(body), body)
    assert FrameReader().feed(stream) == [{"ok": True}]
