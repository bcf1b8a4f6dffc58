"""Events out of bytes, wherever the pieces are cut and however lines end."""

import pytest
from agent.models.streams import STREAMS, read_whole
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent.models.event_stream import EventStream
from holdfast.agent.models.form import Surrounding

LINES = st.lists(st.binary(max_size=12).map(lambda one: one.translate(None, b"\r\n")), max_size=4)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


def _events(pieces: list[bytes]) -> list[bytes]:
    stream = EventStream()
    found = [said for piece in pieces for said in stream.feed(piece)]
    return [*found, *stream.end()]


def _cut(text: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % (len(text) + 1) for place in places} | {len(text)})
    return [text[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


@given(
    said=st.lists(LINES.filter(bool), max_size=5),
    end=ENDS,
    places=st.lists(st.integers(0, 10_000), max_size=20),
    space=st.sampled_from([b"", b" "]),
)
def test_events_are_the_same_wherever_they_are_cut(
    said: list[list[bytes]], end: bytes, places: list[int], space: bytes
) -> None:
    text = b"".join(
        b"event: x%sid: 1%s: a comment%s" % (end, end, end)
        + b"".join(b"data:" + (space or b" ") + line + end for line in event)
        + end
        for event in said
    )
    assert _events(_cut(text, places)) == [b"\n".join(event) for event in said]


@given(text=st.binary(max_size=200), places=st.lists(st.integers(0, 200), max_size=20))
def test_any_bytes_give_the_same_events_in_one_piece_and_in_many(
    text: bytes, places: list[int]
) -> None:
    assert _events(_cut(text, places)) == _events([text])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"data: a\n\n", [b"a"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"data\n\n", [b""]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data: a\n\ndata: b", [b"a", b"b"]),
        (b"data: a", [b"a"]),
        (b": only a comment\n\n", []),
        (b"database: x\n\n", []),
        (b"\n\n\n", []),
    ],
)
def test_what_events_say(text: bytes, said: list[bytes]) -> None:
    assert _events([text]) == said


@pytest.mark.parametrize("name", STREAMS)
def test_a_reply_is_the_same_in_single_bytes(name: str) -> None:
    form, text = STREAMS[name]
    reading = form.reading(Surrounding(lambda: "new"))
    for said in _events([text[place : place + 1] for place in range(len(text))]):
        reading.event(said)
    assert reading.is_done
    assert reading.reply() == read_whole(form, text)


@pytest.mark.parametrize("name", STREAMS)
@given(places=st.lists(st.integers(0, 100_000), max_size=30))
def test_a_reply_is_the_same_wherever_its_stream_is_cut(name: str, places: list[int]) -> None:
    form, text = STREAMS[name]
    reading = form.reading(Surrounding(lambda: "new"))
    for said in _events(_cut(text, places)):
        reading.event(said)
    assert reading.reply() == read_whole(form, text)
