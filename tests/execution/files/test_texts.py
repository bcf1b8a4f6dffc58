"""Bytes as text and back: nothing is lost on the way, whatever the bytes are."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.errors import BinaryFile, InvalidArguments
from holdfast.execution.files.texts import editable, encoded, text_of_file, usual_newline

ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=5)
LINES = st.lists(WORDS, max_size=6)
MARKS = {
    "utf-8": b"",
    "utf-8-sig": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
MARKED = st.sampled_from(sorted(MARKS))


def _begins_with_a_mark(text: str) -> bool:
    return text.startswith("\ufeff")


@given(MARKED, st.lists(st.tuples(WORDS, ENDINGS), max_size=6))
def test_what_is_read_is_written_back_the_same(encoding: str, lines: list[tuple[str, str]]) -> None:
    text = "".join(word + ending for word, ending in lines)
    if _begins_with_a_mark(text):
        return
    content = encoded(text, "t", encoding, MARKS[encoding])
    found = text_of_file(content, "t")
    assert (found.text, found.encoding, found.mark) == (text, encoding, MARKS[encoding])
    seen = editable(found.text)
    again = encoded(seen.restored(seen.text), "t", found.encoding, found.mark)
    assert again == content


@given(st.binary(max_size=40) | st.text(max_size=10).map(str.encode))
def test_every_content_is_either_text_or_said_to_be_none(content: bytes) -> None:
    try:
        found = text_of_file(content, "t")
    except BinaryFile:
        return
    assert "\0" not in found.text
    assert encoded(found.text, "t", found.encoding, found.mark) == content


@given(LINES, ENDINGS, WORDS)
def test_a_file_with_one_kind_of_line_ending_keeps_it(
    lines: list[str], ending: str, added: str
) -> None:
    text = "".join(line + ending for line in ["first", *lines])
    seen = editable(text)
    assert seen.text == "".join(line + "\n" for line in ["first", *lines])
    changed = seen.restored(seen.text + added + "\nlast\r\n")
    assert changed == text + added + ending + "last" + (ending if ending != "\n" else "\r\n")


@pytest.mark.parametrize(
    ("text", "newline"),
    [
        ("", "\n"),
        ("a", "\n"),
        ("a\r\nb\r\nc\n", "\r\n"),
        ("a\rb", "\r"),
        ("a\nb\r\n", "\n"),
        ("\r\r\n", "\r\n"),
    ],
)
def test_the_usual_line_ending(text: str, newline: str) -> None:
    assert usual_newline(text) == newline


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x89PNG\r\n\x1a\n\0", "a PNG image"),
        (b"%PDF-1.7\0", "a PDF document"),
        (b"\x7fELF\0", "a program (ELF)"),
        (b"\0", "binary"),
    ],
)
def test_a_binary_file_is_named_for_what_it_is(content: bytes, said: str) -> None:
    with pytest.raises(BinaryFile, match=r"\(.* bytes\)") as raised:
        text_of_file(content, "the/file")
    assert str(raised.value).startswith(f"the/file is {said}, not text")
    assert "Use a tool made for its format" in str(raised.value.extras["hint"])


def test_a_long_mark_is_no_short_one_with_a_nul() -> None:
    content = codecs.BOM_UTF32_LE + "a".encode("utf-32-le")
    assert text_of_file(content, "t").encoding == "utf-32-le"
    # What only looks like the long mark may still be the short one, but for the NUL in it.
    with pytest.raises(BinaryFile):
        text_of_file(codecs.BOM_UTF16_LE + b"\0\0a\0", "t")


def test_a_mark_in_the_middle_is_text() -> None:
    assert text_of_file("a\ufeffb".encode(), "t").text == "a\ufeffb"


@pytest.mark.parametrize("encoding", ["undefined", "rot13", "base64", "x" * 5000])
def test_what_is_no_encoding_of_texts_is_said_to_be_none(encoding: str) -> None:
    with pytest.raises(InvalidArguments, match="There is no text encoding") as raised:
        text_of_file(b"\xff\xff.", "t", encoding)
    assert raised.value.field == "encoding"


def test_a_character_that_cannot_be_written_is_named() -> None:
    with pytest.raises(InvalidArguments, match=r"position 1 is '\\udc80'") as raised:
        encoded("a\udc80", "t")
    assert raised.value.field == "content"
