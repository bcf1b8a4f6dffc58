"""Bytes of a keyboard become keys, in whatever pieces they come; a line is typed with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.surfaces.cli.full_screen.keys import MOST_PASTED, Key, Keys
from holdfast.surfaces.cli.full_screen.line_input import MOST, LineInput

_KNOWN = st.sampled_from(
    [
        *(b"\x1b[A", b"\x1bOB", b"\x1b[5~", b"\x1b[1;5C", b"\x1b", b"\r", b"\t", b"\x7f", b"\x03"),
        *("\u00e9".encode(), "\u732b".encode(), "\U0001f980".encode(), b"\xff", b"\xe7\x8c", b"a"),
        *(b"\x1b[200~two\r\nlines\x1b[201~", b"\x1b[200~", b"\x1b[201~", b"\x1b[", b"\x1b[9"),
    ]
)
_TYPED = st.lists(_KNOWN | st.binary(max_size=8), max_size=12).map(b"".join)


def _keys(*pieces: bytes) -> list[Key]:
    keys = Keys()
    return [*(key for piece in pieces for key in keys.feed(piece)), *keys.rest()]


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        (b"a", [Key("text", "a")]),
        ("\u732b".encode(), [Key("text", "\u732b")]),
        (b"\x1b[A\x1bOA", [Key("up"), Key("up")]),
        (b"\x1b[H\x1b[1~\x1b[F\x1b[4~", [Key("home"), Key("home"), Key("end"), Key("end")]),
        (b"\x1b[5~\x1b[6~\x1b[3~", [Key("page-up"), Key("page-down"), Key("delete")]),
        (b"\x1b[1;2D\x1b[Z\t", [Key("left"), Key("back-tab"), Key("tab")]),
        (b"\r\n\x7f\x08", [Key("enter"), Key("enter"), Key("backspace"), Key("backspace")]),
        (b"\x01\x1a\x00\x1f", [Key("ctrl-a"), Key("ctrl-z"), Key("unknown"), Key("unknown")]),
        (b"\x1b", [Key("escape")]),
        (b"\x1b\x1b[A", [Key("unknown"), Key("text", "["), Key("text", "A")]),
        (b"\x1by", [Key("unknown")]),
        (b"\x1b[31;999x", [Key("unknown")]),
        (b"\x1b[12", [Key("unknown")]),
        (b"\xffa", [Key("unknown"), Key("text", "a")]),
        (b"\x1b[200~a\r\nb\x1b[A\x1b[201~c", [Key("paste", "a\nb\x1b[A"), Key("text", "c")]),
        ("\u200e".encode(), [Key("unknown")]),
    ],
)
def test_bytes_are_keys(typed: bytes, keys: list[Key]) -> None:
    assert _keys(typed) == keys


@given(_TYPED, st.lists(st.integers(0, 80), max_size=10))
def test_it_does_not_matter_in_which_pieces_they_come(typed: bytes, cuts: list[int]) -> None:
    at = sorted(min(cut, len(typed)) for cut in cuts)
    pieces = [typed[begin:end] for begin, end in zip([0, *at], [*at, len(typed)], strict=True)]
    assert _keys(*pieces) == _keys(typed)


@given(st.text(st.characters(exclude_categories=["C", "Z"]), max_size=20))
def test_what_can_be_read_is_typed_as_it_is(text: str) -> None:
    shown = "".join(one for one in text if one.isprintable())
    assert "".join(key.text for key in _keys(shown.encode())) == shown


def test_a_sequence_without_an_end_and_a_paste_without_one_are_bounded() -> None:
    keys = Keys()
    assert [*keys.feed(b"\x1b[" + b"1" * 40)] == [Key("unknown")]
    assert not [*keys.feed(b"\x1b[200~")]
    for _ in range(20):
        assert not [*keys.feed(b"x" * 10_000)]
    assert not [*keys.rest()]  # the rest of a paste may take long
    (pasted,) = keys.feed(b"\x1b[201~")
    assert pasted == Key("paste", "x" * MOST_PASTED)


@given(
    st.lists(
        st.sampled_from(
            [
                *(Key(name) for name in ("left", "right", "home", "end", "backspace", "delete")),
                *(Key(name) for name in ("ctrl-u", "ctrl-k", "ctrl-w", "ctrl-a", "ctrl-e", "up")),
                *(Key("text", one) for one in "ab \u732b"),
                Key("paste", "two\nlines and\ta tab \x1b[A"),
            ]
        ),
        max_size=40,
    ),
    st.integers(1, 30),
)
def test_a_line_is_typed_and_fits(keys: list[Key], columns: int) -> None:
    line = LineInput()
    for key in keys:
        line.take(key)
        assert 0 <= line.at <= len(line.text)
        seen, column = line.seen(columns)
        assert column < max(columns, 2)
        assert "\x1b" not in seen
        assert "\n" not in seen


def test_a_line_is_edited() -> None:
    line = LineInput()
    for key in (Key("paste", "one two three"), Key("ctrl-w"), Key("ctrl-a"), Key("delete")):
        assert line.take(key)
    assert (line.text, line.at) == ("ne two ", 0)
    for key in (Key("right"), Key("ctrl-k"), Key("text", "o"), Key("ctrl-e"), Key("backspace")):
        assert line.take(key)
    assert (line.text, line.at) == ("n", 1)
    assert not line.take(Key("tab"))
    line.take(Key("paste", "x" * (MOST + 5)))
    assert len(line.text) == MOST
    assert line.seen(10) == ("x" * 9, 9)
    assert (line.taken(), line.text) == ("n" + "x" * (MOST - 1), "")
