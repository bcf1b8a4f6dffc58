"""What kind of text an answer from the web holds, by what it says and how it begins. Pure."""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from typing import NamedTuple

from holdfast.contract.extraction import DocumentKind

_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_SAYS_NOTHING = frozenset({"", "application/octet-stream", "binary/octet-stream", "*/*"})
_TEXTS = frozenset(
    {
        *("application/json", "application/xml", "application/javascript", "application/yaml"),
        *("application/x-yaml", "application/toml", "application/sql", "application/graphql"),
        *("application/x-sh", "application/ecmascript", "application/x-javascript"),
        *("application/x-ndjson", "application/rtf", "image/svg+xml", "message/rfc822"),
    }
)
_TEXT_ENDINGS = ("+json", "+xml", "+yaml")
_PDF_BEGINS = b"%PDF-"
_PDF_WITHIN = 1024
_LOOKED_AT = 4096
_PAGE_BEGINS = (b"<!doctype html", b"<html", b"<head", b"<body")
_MARKS = (BOM_UTF8, BOM_UTF16_LE, BOM_UTF16_BE)


class MediaType(NamedTuple):
    """A header `Content-Type`, taken apart."""

    name: str
    """In small letters, without parameters; empty when there is none."""
    charset: str | None


def media_type(header: str | None) -> MediaType:
    """What the header says."""
    name, *parameters = (header or "").split(";")
    charset: str | None = None
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip().lower() == "charset" and value.strip(" \"'"):
            charset = charset or value.strip(" \"'")
    return MediaType(name.strip().lower(), charset)


def kind_of(said: MediaType, content: bytes) -> DocumentKind | None:
    """The kind of document; None for what is no text."""
    if _PDF_BEGINS in content[:_PDF_WITHIN] and not _is_text_of(said):
        return "pdf"
    if said.name == "application/pdf":
        return "pdf"
    if _looks_binary(content, said.charset):
        return None
    if said.name in _PAGES:
        return "html"
    if said.name in _SAYS_NOTHING:
        return "html" if _begins_as_page(content) else "text"
    return "text" if _is_text_of(said) else None


def _is_text_of(said: MediaType) -> bool:
    """Whether it says that it is a text to be shown as it is."""
    if said.name in _PAGES:
        return False
    return said.name.startswith("text/") or said.name in _TEXTS or said.name.endswith(_TEXT_ENDINGS)


def _begins_as_page(content: bytes) -> bool:
    beginning = content[:_LOOKED_AT].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return beginning.startswith(_PAGE_BEGINS)


def _looks_binary(content: bytes, charset: str | None) -> bool:
    """No text holds a zero byte, but those whose letters take two or four."""
    if content.startswith(_MARKS) or (charset or "").lower().startswith(("utf-16", "utf-32")):
        return False
    return b"\0" in content[:_LOOKED_AT]
