"""What two ends say to each other: read as it was written, and nothing else is read at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engine.lines.addresses import Addresses, new_token, word_of
from holdfast.engine.lines.frames import (
    MOST_PIECE_BYTES,
    Frame,
    Kind,
    bytes_of,
    frame_in,
    token_in,
)

_NUMBERS = st.integers(0, 2**64 - 1)
_TOKENS = st.builds(new_token).map(str.encode)


@st.composite
def _frames(draw: st.DrawFn) -> Frame:
    kind = draw(st.sampled_from(Kind))
    data = {
        Kind.PIECE: st.binary(min_size=1, max_size=100),
        Kind.OPEN: _TOKENS,
        Kind.TAKEN: _TOKENS,
    }.get(kind, st.just(b""))
    return Frame(kind, draw(_NUMBERS), draw(_NUMBERS), draw(data))


@given(_frames())
def test_a_frame_is_read_as_it_was_written(frame: Frame) -> None:
    assert frame_in(bytes_of(frame)) == frame


@given(st.binary(max_size=100))
def test_whatever_comes_is_a_frame_or_none(message: bytes) -> None:
    frame = frame_in(message)
    assert frame is None or bytes_of(frame) == message


@pytest.mark.parametrize(
    "frame",
    [
        Frame(Kind.PIECE),
        Frame(Kind.PIECE, data=bytes(MOST_PIECE_BYTES + 1)),
        Frame(Kind.HERE, data=b"more"),
        Frame(Kind.OPEN, data=b"wake.tenant.high"),
        Frame(Kind.OPEN, data=b"\xff" * 32),
        Frame(Kind.TAKEN, data=b"*" * 32),
        Frame(Kind.TAKEN),
    ],
)
def test_what_no_end_says_is_no_frame(frame: Frame) -> None:
    assert frame_in(bytes_of(frame)) is None


def test_another_version_and_an_unknown_kind_are_no_frames() -> None:
    here = bytes_of(Frame(Kind.HERE))
    assert frame_in(here) is not None
    assert frame_in(b"\x02" + here[1:]) is None
    assert frame_in(here[:1] + b"\x63" + here[2:]) is None


def test_who_opens_says_where_they_listen() -> None:
    token = new_token()
    assert token_in(Frame(Kind.OPEN, data=token.encode())) == token


@given(st.text(max_size=80))
def test_a_name_is_one_word_of_a_subject(name: str) -> None:
    word = word_of(name)
    assert word
    assert not set(word) & set(" \t\r\n.*>\0")
    assert len(word) <= 64


def test_names_that_differ_have_subjects_that_differ() -> None:
    addresses = Addresses("hf")
    names = ["ses_1", "ses.1", "ses*1", "ses 1", "", "é", "\udcff", "a" * 65]
    assert len({addresses.look(name) for name in names}) == len(names)
    assert len({addresses.process(name, "s") for name in names}) == len(names)
    assert addresses.look("ses_1") == "hf.look.ses_1"
    assert addresses.any_look == "hf.look.*"
