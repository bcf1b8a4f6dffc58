"""Bytes as text, whatever is said of them."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.execution.extraction.charsets import KNOWN, decoded

META = b'<html><head><meta http-equiv="Content-Type" content="text/html; charset=%s">'


@pytest.mark.parametrize(
    ("content", "declared", "text"),
    [
        (codecs.BOM_UTF8 + "ä".encode(), "iso-8859-1", "ä"),
        ("\ufeffä".encode("utf-16-be"), "utf-8", "ä"),
        ("\ufeffä".encode("utf-32-le"), None, "ä"),
        (b"\xe4", "latin1", "ä"),
        (b"\x80", "iso-8859-1", "€"),
        ("ä".encode(), "iso-8859-1", "ä"),
        ("日本".encode("shift_jis"), "Shift_JIS", "日本"),
        ("中".encode("gb18030"), "gb2312", "中"),
        ("日".encode(), "gb2312", "日"),
        (b"\xe4", None, "ä"),
        (b"\xe4", "no-such", "ä"),
        (b"\xe4", "zip", "ä"),
        (b"\xe4", "unicode_escape", "ä"),
        (b"\xe4", "x" * 50, "ä"),
        (b"\xe4", "ß", "ä"),
        (b"\xe4", "a\0b", "ä"),
        (b"a" * 200 + b"\xff", "utf-8", "a" * 200 + "\ufffd"),
        (b"a\xe4\xe4\xe4", "utf-8", "aäää"),
    ],
)
def test_what_is_said_is_weighed_against_what_is_there(
    content: bytes, declared: str | None, text: str
) -> None:
    assert decoded(content, declared) == text


@pytest.mark.parametrize(
    ("content", "end"),
    [
        (META % b"windows-1251" + b"\xcf", "П"),
        (b"<meta charset='koi8-r'>\xf0", "П"),
        (b'<?xml version="1.0" encoding="iso-8859-2"?>\xb1', "ą"),
        (b"<meta charset=utf-16>" + "ą".encode(), "ą"),
        (b"<meta charset=hex>\xe4", "ä"),
        (b"x" * 5000 + b"<meta charset=koi8-r>\xf0", "ð"),
    ],
)
def test_markup_may_say_it_itself(content: bytes, end: str) -> None:
    assert decoded(content, None, marked_up=True).endswith(end)
    assert decoded(b"<meta charset=koi8-r>\xf0", None).endswith("ð")


@given(st.binary(max_size=300), st.none() | st.sampled_from(sorted(KNOWN)) | st.text(max_size=30))
def test_any_bytes_are_a_text(content: bytes, declared: str | None) -> None:
    decoded(content, declared, marked_up=True).encode("utf-8", "replace")


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=100),
    st.sampled_from([None, "cp1252", "iso-8859-1", "koi8-r", "utf-8"]),
)
def test_utf_8_is_read_where_a_single_byte_is_said(text: str, declared: str | None) -> None:
    if not text.startswith("\ufeff"):
        assert decoded(text.encode(), declared) == text
