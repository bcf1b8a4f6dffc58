"""Requests to a proxy and answers of hosts, read and written as text of HTTP/1.

Pure. Where two programs might read a message differently it is refused: whoever sends such a one
counts on that. Only what was read is written again; nothing is passed on that was not understood.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from holdfast.contract.late_pattern import late_pattern
from holdfast.execution.network.admission import bracketed

Fields = tuple[tuple[str, str], ...]

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_NAME = late_pattern(_TOKEN)
_VALUE = late_pattern(r"[\t\x20-\x7e\x80-\xff]*")
_REQUEST = late_pattern(rf"({_TOKEN}) ([\x21-\x7e]+) HTTP/1\.([01])")
_STATUS = late_pattern(r"HTTP/1\.[01] ([1-5][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?")
_AUTHORITY = late_pattern(
    r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([^\x00-\x20\x7f-\U0010ffff\[\]:@/?#%\\]{1,254}))"
    r"(?::([0-9]{1,5}))?"
)
_ABSOLUTE = late_pattern(r"(?i:http)://([^/?#\\]*)([/?][^#\\]*)?")
_LENGTH = late_pattern(r"[0-9]{1,18}")
_CHUNK = late_pattern(rb"([0-9A-Fa-f]{1,15})(?:[ \t]*;[\t\x20-\x7e]*)?\r\n")
_HTTP_PORT = 80

_OF_THIS_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-connection", "proxy-authorization", "upgrade"),
        *("proxy-authenticate", "te", "trailer", "transfer-encoding", "content-length", "host"),
    }
)
_OF_AN_ANSWERS_HOP = frozenset({"connection", "keep-alive", "proxy-connection", "upgrade"})


class Unfit(Exception):
    """A message that is not passed on; the status answers it."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Body(NamedTuple):
    """How the end of a body is found."""

    length: int = 0
    chunked: bool = False


class Place(NamedTuple):
    """A host and a port, as they were written."""

    host: str
    port: int


class Request(NamedTuple):
    """What a program asked its proxy for."""

    kind: Literal["connect", "http"]
    place: Place
    method: str = "CONNECT"
    target: str = ""
    """Path and query."""
    version: str = "1"
    """The part after the point."""
    fields: Fields = ()
    body: Body = Body()


class Answer(NamedTuple):
    """The beginning of what a host answered."""

    line: str
    status: int
    fields: Fields


def read_request(head: bytes) -> Request:
    """Read a request up to the empty line after it; raises Unfit."""
    first, fields = _taken_apart(head)
    parts = _REQUEST.fullmatch(first)
    if parts is None:
        raise Unfit(400, "the first line is no request of HTTP/1")
    method, target, version = parts.groups()
    if method == "CONNECT":
        return Request("connect", _place(target, None))
    absolute = _ABSOLUTE.fullmatch(target)
    if absolute is None:
        raise Unfit(400, "a proxy is asked for http:// URLs, and by CONNECT for everything else")
    path = absolute[2] or "/"
    return Request(
        "http",
        _place(absolute[1], _HTTP_PORT),
        method,
        path if path.startswith("/") else f"/{path}",
        version,
        fields,
        _body(fields, version),
    )


def read_answer(head: bytes) -> Answer:
    """Read the beginning of an answer; raises Unfit."""
    try:
        first, fields = _taken_apart(head)
    except Unfit as problem:
        raise Unfit(502, f"the host's answer is malformed: {problem.reason}") from None
    parts = _STATUS.fullmatch(first)
    if parts is None:
        raise Unfit(502, "the host does not answer with HTTP/1")
    return Answer(first, int(parts[1]), fields)


def write_request(request: Request, name: str) -> bytes:
    """The request as the host gets it; ``name`` is the host as it was judged.

    What the program said about the host is not repeated: it would choose another one behind the
    same address.
    """
    host = bracketed(name)
    if request.place.port != _HTTP_PORT:
        host = f"{host}:{request.place.port}"
    lines = [f"{request.method} {request.target} HTTP/1.{request.version}", f"Host: {host}"]
    lines += _written(_kept(request.fields, _OF_THIS_HOP))
    if request.body.chunked:
        lines.append("Transfer-Encoding: chunked")
    elif any(name.lower() == "content-length" for name, _ in request.fields):
        lines.append(f"Content-Length: {request.body.length}")
    return _joined([*lines, "Connection: close"])


def write_answer(answer: Answer) -> bytes:
    """The beginning of an answer as the program gets it: one request for each connection."""
    kept = _kept(answer.fields, _OF_AN_ANSWERS_HOP)
    closing = [] if answer.status < 200 else ["Connection: close"]
    return _joined([answer.line, *_written(kept), *closing])


def write_failure(status: int, words: str) -> bytes:
    """A short answer of the proxy's own."""
    body = f"holdfast: {words}\n".encode("utf-8", "replace")
    lines = [
        f"HTTP/1.1 {status} {_WORDS[status]}",
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    return _joined(lines) + body


def read_chunk_size(line: bytes) -> int:
    """The size in the line before a chunk; raises Unfit. What else the line says is dropped."""
    parts = _CHUNK.fullmatch(line)
    if parts is None:
        raise Unfit(400, "the body's chunks are malformed")
    return int(parts[1], 16)


def read_place(host: str, port: int) -> Place:
    """A host and a port that came apart; raises Unfit."""
    return _place(f"{bracketed(host)}:{port}", None)


def begins_request(first: bytes) -> bool:
    """Whether a request of HTTP can begin with this byte."""
    return _NAME.fullmatch(first.decode("latin-1")) is not None


_WORDS = {
    400: "Bad Request",
    403: "Forbidden",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    501: "Not Implemented",
    502: "Bad Gateway",
    504: "Gateway Timeout",
}


def _taken_apart(head: bytes) -> tuple[str, Fields]:
    first, *lines = head.removesuffix(b"\r\n\r\n").decode("latin-1").split("\r\n")
    return first, tuple(_field(line) for line in lines)


def _field(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    # A line that begins with a space would belong to the one before it, for some.
    if not colon or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        raise Unfit(400, "a header field is malformed")
    return name, value.strip(" \t")


def _body(fields: Fields, version: str) -> Body:
    lengths = [value for name, value in fields if name.lower() == "content-length"]
    codings = [value for name, value in fields if name.lower() == "transfer-encoding"]
    if len(lengths) + len(codings) > 1:
        raise Unfit(400, "it is not clear where the body ends")
    if codings:
        if codings[0].lower() != "chunked" or version == "0":
            raise Unfit(501, "this transfer coding is not known")
        return Body(chunked=True)
    if not lengths:
        return Body()
    if not _LENGTH.fullmatch(lengths[0]):
        raise Unfit(400, "the length of the body is no number")
    return Body(int(lengths[0]))


def _place(authority: str, default_port: int | None) -> Place:
    if "@" in authority:
        raise Unfit(400, "a host has no user")
    parts = _AUTHORITY.fullmatch(authority)
    port = int(parts[3]) if parts is not None and parts[3] else default_port
    if parts is None or port is None or not 0 < port < 1 << 16:
        raise Unfit(400, "this is no host with a port")
    return Place(parts[1] or parts[2], port)


def _kept(fields: Fields, dropped: frozenset[str]) -> Iterator[tuple[str, str]]:
    named = {
        name.strip(" \t").lower()
        for field, value in fields
        if field.lower() == "connection"
        for name in value.split(",")
    }
    return ((name, value) for name, value in fields if name.lower() not in named | dropped)


def _written(fields: Iterator[tuple[str, str]]) -> list[str]:
    return [f"{name}: {value}" for name, value in fields]


def _joined(lines: list[str]) -> bytes:
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1")
