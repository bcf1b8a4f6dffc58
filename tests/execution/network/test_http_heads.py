"""Heads of HTTP/1, read strictly and written anew."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.execution.network.http_heads import (
    Body,
    Place,
    Request,
    Unfit,
    begins_request,
    read_answer,
    read_chunk_size,
    read_place,
    read_request,
    write_answer,
    write_failure,
    write_request,
)


def _head(*lines: str) -> bytes:
    return "\r\n".join((*lines, "", "")).encode("latin-1")


def _get(*fields: str) -> bytes:
    return _head("GET http://a.example/ HTTP/1.1", *fields)


@pytest.mark.parametrize(
    ("target", "place", "path"),
    [
        ("http://a.example", Place("a.example", 80), "/"),
        ("http://a.example/x?y", Place("a.example", 80), "/x?y"),
        ("HTTP://a.example:81?y=/", Place("a.example", 81), "/?y=/"),
        ("http://[::1]:81/", Place("::1", 81), "/"),
        ("http://a.example/http://b.example/", Place("a.example", 80), "/http://b.example/"),
        ("http://a.example/@b.example", Place("a.example", 80), "/@b.example"),
    ],
)
def test_an_absolute_target_is_read(target: str, place: Place, path: str) -> None:
    request = read_request(_head(f"PUT {target} HTTP/1.0"))
    assert request == Request("http", place, "PUT", path, "0")


@pytest.mark.parametrize(
    "line",
    [
        "GET / HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "GET https://a.example/ HTTP/1.1",
        "GET ftp://a.example/ HTTP/1.1",
        "GET http://user@a.example/ HTTP/1.1",
        "GET http://user:secret@a.example/ HTTP/1.1",
        "GET http://a.example@b.example/ HTTP/1.1",
        "GET http:///x HTTP/1.1",
        "GET http://a.example:0/ HTTP/1.1",
        "GET http://a.example:65536/ HTTP/1.1",
        "GET http://a.example:/ HTTP/1.1",
        "GET http://a.example:8o/ HTTP/1.1",
        "GET http://a.example\\b.example/ HTTP/1.1",
        "GET http://a.example/\\..\\ HTTP/1.1",
        "GET http://a.example/#part HTTP/1.1",
        "GET http://a.example%2f/ HTTP/1.1",
        "GET http://[::1/ HTTP/1.1",
        "GET http://[::1%25lo]/ HTTP/1.1",
        "GET http://[a.example]/ HTTP/1.1",
        "GET http://::1/ HTTP/1.1",
        "GET  http://a.example/ HTTP/1.1",
        "GET http://a.example/ HTTP/1.1 ",
        "GET http://a.example/ b HTTP/1.1",
        "GET http://a.example/\x80 HTTP/1.1",
        "GET http://a.example/ HTTP/2.0",
        "GET http://a.example/ HTTP/1.10",
        "GET http://a.example/",
        "G(T http://a.example/ HTTP/1.1",
        "CONNECT a.example HTTP/1.1",
        "CONNECT http://a.example:443 HTTP/1.1",
        "CONNECT user@a.example:443 HTTP/1.1",
        "CONNECT a.example:443/ HTTP/1.1",
        "CONNECT a.example:0443443 HTTP/1.1",
        "CONNECT :443 HTTP/1.1",
        f"CONNECT {'a' * 255}:443 HTTP/1.1",
        "",
    ],
)
def test_what_is_not_plainly_a_request_to_a_proxy_is_refused(line: str) -> None:
    with pytest.raises(Unfit) as refused:
        read_request(_head(line))
    assert refused.value.status == 400


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        (("Content-Length: 1", "Transfer-Encoding: chunked"), 400),
        (("Content-Length: 1", "Content-Length: 1"), 400),
        (("content-length: 1", "Content-Length: 2"), 400),
        (("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), 400),
        (("Content-Length: 1, 1",), 400),
        (("Content-Length: +1",), 400),
        (("Content-Length: -1",), 400),
        (("Content-Length: 0x1",), 400),
        (("Content-Length:",), 400),
        (("Content-Length: " + "9" * 19,), 400),
        (("Transfer-Encoding: gzip, chunked",), 501),
        (("Transfer-Encoding: identity",), 501),
        (("Transfer-Encoding: xchunked",), 501),
        (("Transfer-Encoding:",), 501),
        (("Transfer-Encoding : chunked",), 400),
        (("X: a", " folded: b"), 400),
        (("X: a", "\tfolded"), 400),
        (("X: a\rb",), 400),
        (("X: a\nTransfer-Encoding: chunked",), 400),
        (("X: a\0",), 400),
        (("X",), 400),
        ((": a",), 400),
        (("X\x80: a",), 400),
        (("",), 400),
    ],
)
def test_what_two_programs_would_read_differently_is_refused(
    fields: tuple[str, ...], status: int
) -> None:
    with pytest.raises(Unfit) as refused:
        read_request(_get(*fields))
    assert refused.value.status == status


@pytest.mark.parametrize("line", ["CONNECT u@a.example:443", "GET http://u:p@a.example/"])
def test_credentials_in_an_address_are_named_as_the_problem(line: str) -> None:
    with pytest.raises(Unfit, match="a host has no user"):
        read_request(_head(f"{line} HTTP/1.1"))


def test_an_old_client_has_no_chunks() -> None:
    with pytest.raises(Unfit):
        read_request(_head("PUT http://a.example/ HTTP/1.0", "Transfer-Encoding: chunked"))


def test_a_body_is_found_by_its_head() -> None:
    assert read_request(_get("Content-Length: 07")).body == Body(7)
    assert read_request(_get("transfer-encoding: Chunked")).body == Body(chunked=True)
    assert read_request(_get()).body == Body()


def test_framing_is_written_anew_whatever_the_program_wants_dropped() -> None:
    request = read_request(
        _get("Connection: Content-Length, Host", "Host: b.example", "Content-Length: 07")
    )
    assert write_request(request, "a.example") == _head(
        "GET / HTTP/1.1", "Host: a.example", "Content-Length: 7", "Connection: close"
    )
    chunked = read_request(_get("Connection: transfer-encoding", "Transfer-Encoding: chunked"))
    assert b"Transfer-Encoding: chunked\r\n" in write_request(chunked, "::1")
    assert b"Host: [::1]\r\n" in write_request(chunked, "::1")


def test_an_answer_is_told_that_it_is_the_last_one() -> None:
    answer = read_answer(
        _head(
            "HTTP/1.1 404 Gone \xe9", "Connection: keep-alive, X", "X: 1", "Keep-Alive: 9", "Y: 2"
        )
    )
    assert answer.status == 404
    assert write_answer(answer) == _head("HTTP/1.1 404 Gone \xe9", "Y: 2", "Connection: close")
    early = read_answer(_head("HTTP/1.1 103", "Link: x"))
    assert write_answer(early) == _head("HTTP/1.1 103", "Link: x")


@pytest.mark.parametrize(
    "head",
    [
        _head("HTTP/2 200"),
        _head("HTTP/1.1 600 x"),
        _head("HTTP/1.1  200"),
        _head("220 mail.example ESMTP"),
        _head("HTTP/1.1 200 OK", " folded"),
    ],
)
def test_an_answer_that_is_none_is_a_bad_gateway(head: bytes) -> None:
    with pytest.raises(Unfit) as refused:
        read_answer(head)
    assert refused.value.status == 502


@pytest.mark.parametrize(
    ("line", "size"),
    [(b"0\r\n", 0), (b"fF\r\n", 255), (b"1;a=b\r\n", 1), (b"1 ; a\r\n", 1), (b"00001\r\n", 1)],
)
def test_the_size_of_a_chunk_is_read(line: bytes, size: int) -> None:
    assert read_chunk_size(line) == size


@pytest.mark.parametrize(
    "line",
    [
        *(b"\r\n", b" 1\r\n", b"-1\r\n", b"+1\r\n", b"0x1\r\n", b"1\n", b"1\n\r\n", b"1;\n\r\n"),
        *(b"1_0\r\n", b"1 \r\n", b"f" * 16 + b"\r\n", b"1;\r\r\n"),
    ],
)
def test_a_size_that_is_none_is_refused(line: bytes) -> None:
    with pytest.raises(Unfit):
        read_chunk_size(line)


def test_a_failure_is_a_whole_answer() -> None:
    head, _, body = write_failure(403, "no \ud800").partition(b"\r\n\r\n")
    assert head.splitlines()[0] == b"HTTP/1.1 403 Forbidden"
    assert body == b"holdfast: no ?\n"
    assert f"Content-Length: {len(body)}".encode() in head


_TEXT = st.text(st.characters(max_codepoint=255), max_size=30)
_PIECES = st.sampled_from(
    [
        *("GET", "CONNECT", " ", "http://", "a.example", ":", "443", "/", "HTTP/1.1", "\r\n", "\n"),
        *("Content-Length: 1", "Transfer-Encoding: chunked", "\0", "@", "[::1]", "#", "%", "\t"),
    ]
)


@given(st.lists(_PIECES | _TEXT, max_size=14).map("".join))
@example("GET http://a.example/ HTTP/1.1\r\nX: \xff")
def test_whatever_is_said_is_read_or_refused_and_what_is_written_reads_the_same(text: str) -> None:
    head = text.replace("\r\n\r\n", "").encode("latin-1") + b"\r\n\r\n"
    try:
        request = read_request(head)
    except Unfit:
        return
    assert 0 < request.place.port < 65536
    assert not set(request.place.host) & set("@/\\?#%\r\n\0 ")
    if request.kind == "connect":
        return
    written = write_request(request, "judged.example")
    lines = written.split(b"\r\n")
    assert lines[-2:] == [b"", b""]
    assert not any(set(line) & set(b"\r\n\0") for line in lines)
    named = [line.split(b":")[0].lower() for line in lines[1:-2]]
    assert [named.count(name) for name in (b"host", b"connection")] == [1, 1]
    assert named.count(b"content-length") + named.count(b"transfer-encoding") <= 1
    again = f"{request.method} http://judged.example{request.target} HTTP/1.{request.version}"
    read = read_request(again.encode() + b"\r\n" + b"\r\n".join(lines[1:]))
    assert (read.body, read.target, read.method) == (request.body, request.target, request.method)


@given(st.binary(max_size=60))
def test_an_answer_is_read_or_refused(words: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\n" + words.replace(b"\r\n\r\n", b"") + b"\r\n\r\n"
    try:
        answer = read_answer(head)
    except Unfit:
        return
    kept = read_answer(write_answer(answer)).fields
    assert kept[-1] == ("Connection", "close")
    assert set(kept[:-1]) <= set(answer.fields)
    assert "connection" not in {name.lower() for name, _ in kept[:-1]}


@given(st.binary(max_size=20))
def test_the_size_of_a_chunk_is_a_number_or_refused(words: bytes) -> None:
    try:
        assert read_chunk_size(words) >= 0
    except Unfit:
        assert not re.fullmatch(rb"[0-9a-fA-F]{1,15}\r\n", words)


@given(st.text(max_size=12), st.integers(-1, 70_000))
def test_a_place_is_plain_or_refused(host: str, port: int) -> None:
    try:
        place = read_place(host, port)
    except Unfit:
        return
    assert place == Place(host, port)
    assert host.isascii()
    assert not set(host) & set("@ \r\n\0")


def test_a_request_begins_with_a_letter_or_its_like() -> None:
    begins = {bytes((number,)) for number in range(256) if begins_request(bytes((number,)))}
    assert b"G" in begins
    assert not begins & {b"\x05", b"\x04", b"\x16", b" ", b"\r", b"\n", b"\0", b"\x80", b"/"}
