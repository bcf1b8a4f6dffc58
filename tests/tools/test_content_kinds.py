"""Which kind of text an answer holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.tools.content_kinds import MediaType, kind_of, media_type


@pytest.mark.parametrize(
    ("header", "name", "charset"),
    [
        ("text/html", "text/html", None),
        ('Text/HTML; Charset="UTF-8"; x=y', "text/html", "UTF-8"),
        ("text/html;charset=a;charset=b", "text/html", "a"),
        ("text/html; charset=", "text/html", None),
        ("", "", None),
        (None, "", None),
        (";;;=", "", None),
    ],
)
def test_a_header_taken_apart(header: str | None, name: str, charset: str | None) -> None:
    assert media_type(header) == MediaType(name, charset)


@pytest.mark.parametrize(
    ("header", "content", "kind"),
    [
        ("text/html", b"x", "html"),
        ("application/xhtml+xml", b"x", "html"),
        ("text/html", b"%PDF-1.4", "pdf"),
        ("text/plain", b"%PDF-1.4 is how they begin", "text"),
        ("application/pdf", b"", "pdf"),
        ("application/octet-stream", b"\n%PDF-1.4", "pdf"),
        ("application/octet-stream", b"\xef\xbb\xbf <!DOCTYPE html>", "html"),
        ("application/octet-stream", b"words", "text"),
        ("application/vnd.api+json", b"{}", "text"),
        ("image/svg+xml", b"<svg/>", "text"),
        ("text/x-anything", b"x", "text"),
        ("text/html", b"a\0b", None),
        ("text/html; charset=utf-16", b"a\0b\0", "html"),
        ("text/plain", b"\xff\xfea\0", "text"),
        ("image/png", b"x", None),
        ("application/zip", b"PK", None),
        ("video/mp4", b"words", None),
    ],
)
def test_kinds(header: str, content: bytes, kind: str | None) -> None:
    assert kind_of(media_type(header), content) == kind


@given(st.text(max_size=60), st.binary(max_size=60))
def test_whatever_comes_is_of_some_kind_or_none(header: str, content: bytes) -> None:
    assert kind_of(media_type(header), content) in ("html", "text", "pdf", None)
